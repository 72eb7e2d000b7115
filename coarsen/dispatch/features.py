"""Features of a launch: numbers by which a version is chosen.

They are computed from what the launch passes: scalar arguments by their names, `bytes_NAME` of buffers,
`global_size_0` to `global_size_2`, `local_size_0` to `local_size_2`. Nothing reads the contents of buffers.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.base.names import did_you_mean
from coarsen.dispatch.expressions import Expression, parse_formula
from coarsen.dispatch.steps import Kind, Steps, steps_of
from coarsen.errors import InvalidInputError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# Before a buffer's name: its size in bytes.
BYTES = "bytes_"
# Where a launch has fewer dimensions, a size is 1; a local size that is left to the driver is 0.
SIZE_NAMES = tuple(f"{size}_size_{dimension}" for size in ("global", "local") for dimension in range(3))


class ArgumentKind(enum.StrEnum):
    """The kind of a kernel's argument: a whole number, a real one, a buffer, local memory, or another."""

    WHOLE = "whole"
    REAL = "real"
    BUFFER = "buffer"
    LOCAL = "local"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """An argument of a kernel, as its source names it.

    Raises:
        InvalidInputError: a name that is none in C, or one that a size has.
    """

    name: str
    kind: ArgumentKind

    def __post_init__(self) -> None:
        check_name("an argument", self.name)
        if self.name in SIZE_NAMES:
            raise InvalidInputError(f"an argument can't be called {self.name}, which is a size of the launch")


@dataclass(frozen=True, slots=True)
class Feature:
    """A number of a launch.

    Args:
        name: of the feature, as in C.
        expression: a formula over what the launch passes.

    Raises:
        InvalidInputError: a name that is none, an expression that is none.
    """

    name: str
    expression: str

    def __post_init__(self) -> None:
        check_name("a feature", self.name)
        self.formula()

    @property
    def names(self) -> frozenset[str]:
        """Return the names of what a launch passes that it is computed from."""
        return frozenset(self.formula().names)

    def formula(self) -> Expression:
        """Return its expression, read."""
        if not isinstance(self.expression, str):
            raise InvalidInputError(f"the feature {self.name} has no text as its expression")
        return parse_formula(self.expression)


def check_name(what: str, name: object) -> None:
    """Raise InvalidInputError unless a name is one in C, of at most 100 letters."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = ascii(name)
        raise InvalidInputError(f"{what} can't be called {shown if len(shown) <= 60 else f'{shown[:57]}...'}")


def input_kinds(arguments: Iterable[KernelArgument]) -> Mapping[str, Kind]:
    """Return the names that features may have, each with the kind of its number."""
    kinds: dict[str, Kind] = {}
    for argument in arguments:
        if argument.kind is ArgumentKind.BUFFER:
            kinds[BYTES + argument.name] = Kind.WHOLE
        elif argument.kind in (ArgumentKind.WHOLE, ArgumentKind.REAL):
            kinds[argument.name] = Kind(argument.kind.value)
    return MappingProxyType({**kinds, **dict.fromkeys(SIZE_NAMES, Kind.WHOLE)})


def needed_kinds(
    features: Collection[Feature], kinds: Mapping[str, Kind], besides: Iterable[str] = ()
) -> dict[str, Kind]:
    """Return the numbers that features are computed from, each with its kind.

    Args:
        features: of a kernel's launches.
        kinds: what launches pass.
        besides: names of what is needed anyway.
    """
    needed = frozenset(besides).union(*(feature.names for feature in features))
    return {name: kind for name, kind in kinds.items() if name in needed}


def feature_steps(feature: Feature, kinds: Mapping[str, Kind]) -> Steps:
    """Return how a feature is computed; raises InvalidInputError where it can't be."""
    formula = feature.formula()
    unknown = sorted(formula.names - set(kinds))
    if unknown:
        hint = did_you_mean(unknown[0], kinds)
        raise InvalidInputError(f"the feature {feature.name} needs '{unknown[0]}', which no launch passes{hint}")
    return steps_of(formula, kinds)
