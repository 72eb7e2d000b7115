"""Variants, and the plans of their arrays, as JSON, and back.

    {"local_size": [16, 16], "coarsenings": [[4, 0, 1], [2, 1, 1, "group"]], "definitions": {"TILE": "8"},
     "transforms": {"fast_path": "auto", …}, "any_size": true, "arrays": {"bodies": {"layout": "soa"}}}

What a variant does not need is left out: the level of merged work-items, `any_size` and the transforms' `distinct`
where they are false, the `transforms` of a kernel as written, `arrays` where all lie as written and of each what
it leaves. Where a coarsened one has no `transforms`, its reader names those implied:
so it is in rows that were stored before these were part of a variant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from coarsen.base.codec import decoded
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import DIMENSIONS, Coarsening, Level, configuration
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan

_LATE = {each.name: each.default for each in fields(Transforms) if "is_late" in each.metadata}
# Far beyond any device, and what is computed of it stays within 64 bits.
MOST_WORK_ITEMS = 2**32


def variant_to_json(variant: Variant, implied: Transforms | None = None) -> dict[str, Any]:
    """Write a variant as JSON takes it; `variant_from_json` with the same `implied` reads it back.

    Args:
        variant: any.
        implied: transforms of coarsened variants that need no mention; None mentions those of each.
    """
    value: dict[str, Any] = {
        "local_size": list(variant.local_size),
        "coarsenings": [_coarsening_to_json(coarsening) for coarsening in variant.coarsenings],
        "definitions": dict(variant.definitions),
    }
    if variant.is_rewritten and variant.transforms != (implied if variant.is_coarsened else None):
        value["transforms"] = transforms_to_json(variant.transforms)
    if variant.any_size:
        value["any_size"] = True
    if variant.arrays:
        value["arrays"] = {plan.argument: array_to_json(plan) for plan in variant.arrays}
    return value


def variant_from_json(value: object, implied: Transforms = DEFAULT) -> Variant:
    """Read the variant that `variant_to_json` wrote.

    Args:
        value: what JSON was decoded to.
        implied: the transforms of a coarsened variant that names none.

    Raises:
        InvalidInputError: it is none, or not in the form that `variant_to_json` writes.
    """
    wrong = InvalidInputError(f"not a configuration: {shortened(value)}")
    if not isinstance(value, Mapping):
        raise wrong
    try:
        variant = Variant(
            _local_size(value["local_size"]),
            configuration(_coarsening(entry) for entry in value["coarsenings"]),
            tuple(sorted((_text(name), _text(text)) for name, text in value["definitions"].items())),
            decoded(Transforms, {**_LATE, **value["transforms"]}, "a configuration's record of transforms")
            if "transforms" in value
            else (implied if value["coarsenings"] else DEFAULT),
            value.get("any_size", False),
            tuple(array_from_json(_text(name), entry) for name, entry in value.get("arrays", {}).items()),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise wrong from error
    normal = variant_to_json(variant, None if "transforms" in value else variant.transforms)
    if normal != value:
        raise InvalidInputError(f"not a configuration in its normal form: {shortened(value)}")
    return variant


def transforms_to_json(transforms: Transforms) -> dict[str, Any]:
    """Write transforms as JSON takes them: late ones only where they are used, as rows of before have it."""
    late = {name: value for name, value in _LATE.items() if getattr(transforms, name) == value}
    return {name: value for name, value in asdict(transforms).items() if name not in late}


def shortened(value: object) -> str:
    """Write a value of a damaged file so that it fits a message."""
    text = ascii(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _coarsening_to_json(coarsening: Coarsening) -> list[int | str]:
    numbers: list[int | str] = [coarsening.factor, coarsening.dimension, coarsening.stride]
    return numbers if coarsening.level is Level.ITEM else [*numbers, coarsening.level.value]


def _coarsening(entry: Sequence[Any]) -> Coarsening:
    if not isinstance(entry, list | tuple) or not 3 <= len(entry) <= 4:
        raise ValueError(entry)
    return Coarsening(*entry)


def _local_size(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(value)
    if any(isinstance(extent, bool) or not isinstance(extent, int) for extent in value):
        raise TypeError(value)
    if len(value) > DIMENSIONS or not all(extent > 0 for extent in value) or math.prod(value) > MOST_WORK_ITEMS:
        raise InvalidInputError(f"not the local size of a work-group: {shortened(value)}")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


# Plans of arrays: of each what changes something.
#
# ArrayPlan("image", soa, order 1,0, shape 48 x 64)   ⇄   {"layout": "soa", "order": [1, 0], "shape": [48, 64]}


def array_to_json(plan: ArrayPlan) -> dict[str, Any]:
    """Write a plan as JSON takes it, without its argument; `array_from_json` reads it back.

    Args:
        plan: as a variant has it (`ArrayPlan.choice`).
    """
    # Imported late, here and below: hardly any program has such variants.
    from coarsen.variant.data_plan import PLAN_OPTIONS

    chosen = {name: getattr(plan, name) for name in PLAN_OPTIONS}
    changed = {name: value for name, value in chosen.items() if value != PLAN_OPTIONS[name].default}
    if plan.order is not None:
        changed["order"] = plan.order.permutation
    return {name: list(v) if isinstance(v, tuple) else str(v) for name, v in changed.items()}


def array_from_json(argument: str, value: object) -> ArrayPlan:
    """Read the plan for an argument that `array_to_json` wrote.

    Raises:
        InvalidInputError: a layout, an order, a shape, a place or a pad that can't be.
        TypeError, ValueError: it is none.
    """
    from coarsen.variant.data_plan import PLAN_OPTIONS, plan_of

    if not isinstance(value, Mapping) or not set(value) <= PLAN_OPTIONS.keys():
        raise ValueError(value)
    lists = {name: _word_of(value[name]) for name in ("order", "shape") if name in value}
    return plan_of(argument, {name: _text(entry) for name, entry in {**value, **lists}.items()})


def _word_of(numbers: object) -> str:
    if not isinstance(numbers, list | tuple) or any(type(entry) is not int or entry < 0 for entry in numbers):
        raise TypeError(numbers)
    return ",".join(map(str, numbers))
