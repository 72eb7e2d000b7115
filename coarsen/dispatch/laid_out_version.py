"""A version of a tuned file whose arrays lie otherwise than in the source: for programs that convert them.

    {"variant": {…, "arrays": {"bodies": {"layout": "soa"}}}, "speedup": 1.8,
     "conversion_seconds": 0.004, "runs_until_it_pays": 12}

No tree chooses it: where the data lie is for the program to say (`coarsen.Program(arrays=…)`). A program that says
nothing has the other versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.errors import InvalidInputError
from coarsen.variant.data_plan import ArrayPlan, chosen_plans
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

MOST_LAID_OUT = 64
_FIELDS = frozenset({"variant", "speedup", "conversion_seconds", "runs_until_it_pays"})


@dataclass(frozen=True, slots=True)
class LaidOutVersion:
    """A version of a kernel whose arrays lie otherwise, and what is gained by it.

    Args:
        variant: its configuration; the shapes of its arrays come with each launch.
        speedup: over the default version, without the conversion.
        conversion_seconds: that the host took to pack its arrays and to unpack what it writes.
        runs_until_it_pays: on the same data, beside the best version without; None where it never does.
    """

    variant: Variant
    speedup: float
    conversion_seconds: float
    runs_until_it_pays: int | None = None

    def is_for(self, plans: Iterable[ArrayPlan]) -> bool:
        """Return True if it is the version for arrays that lie so.

        Args:
            plans: of all arrays of the kernel's arguments that lie otherwise.
        """
        return _places(self.variant.arrays) == _places(chosen_plans(plans))


def _places(plans: Iterable[ArrayPlan]) -> list[tuple[str, str, str]]:
    return [(plan.argument, str(plan.layout), str(plan.order)) for plan in plans]


def check_laid_out(versions: Sequence[LaidOutVersion], arguments: Sequence[KernelArgument]) -> None:
    """Raise InvalidInputError unless versions make sense for a kernel with some arguments."""
    if len(versions) > MOST_LAID_OUT:
        raise InvalidInputError(
            f"a tuned file has {len(versions)} versions of layouts, not at most {MOST_LAID_OUT}"
        )
    buffers = {argument.name for argument in arguments if argument.kind is ArgumentKind.BUFFER}
    for version in versions:
        plans = version.variant.arrays
        if not plans or not all(plan.moves_fields and plan.shape is None for plan in plans):
            raise InvalidInputError(
                "a version of a layout has no array that lies otherwise, or one of a fixed shape"
            )
        if unknown := [plan.argument for plan in plans if plan.argument not in buffers]:
            raise InvalidInputError(
                f"a version of a layout names {unknown[0]!a}, which is no argument with a buffer"
            )
        if version.variant.definitions:
            raise InvalidInputError("a version of a layout defines macros: these are build options")
        _check_numbers(version)
    places = [tuple(_places(version.variant.arrays)) for version in versions]
    if len(set(places)) < len(places):
        raise InvalidInputError("a tuned file has two versions for arrays that lie alike")


def _check_numbers(version: LaidOutVersion) -> None:
    numbers = (version.speedup, version.conversion_seconds)
    if not all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers):
        raise InvalidInputError("a version of a layout has a gain or a time that is none")
    runs = version.runs_until_it_pays
    if runs is not None and (type(runs) is not int or runs < 1):
        raise InvalidInputError("a version of a layout pays after a number of runs, or never (null)")


def laid_out_to_json(version: LaidOutVersion) -> dict[str, Any]:
    """Write a version as JSON takes it."""
    return {
        "variant": variant_to_json(version.variant),
        "speedup": version.speedup,
        "conversion_seconds": version.conversion_seconds,
        "runs_until_it_pays": version.runs_until_it_pays,
    }


def laid_out_from_json(value: object) -> LaidOutVersion:
    """Read the version that `laid_out_to_json` wrote; `check_laid_out` says whether it makes sense.

    Raises:
        InvalidInputError: it isn't in that form.
    """
    if not isinstance(value, Mapping) or set(value) != _FIELDS:
        raise InvalidInputError(f"a version of a layout is an object with {', '.join(sorted(_FIELDS))}")
    return LaidOutVersion(
        variant_from_json(value["variant"]),
        value["speedup"],
        value["conversion_seconds"],
        value["runs_until_it_pays"],
    )
