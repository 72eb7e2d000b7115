"""Plans of arrays as JSON, and back: of each what changes something.

ArrayPlan("image", soa, order 1,0, shape 48 x 64)   ⇄   {"layout": "soa", "order": [1, 0], "shape": [48, 64]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coarsen.variant.data_layout import AOS, ArrayLayout, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.padding import NO_PAD, Pad
from coarsen.variant.placement import GLOBAL, parse_place

_KEYS = frozenset({"layout", "order", "shape", "place", "pad"})


def array_to_json(plan: ArrayPlan) -> dict[str, Any]:
    """Write a plan as JSON takes it, without its argument; `array_from_json` reads it back.

    Args:
        plan: as a variant has it (`ArrayPlan.choice`).
    """
    value: dict[str, Any] = {}
    if plan.layout != AOS:
        value["layout"] = str(plan.layout)
    if plan.order is not None:
        value["order"] = list(plan.order.permutation)
    if plan.shape is not None:
        value["shape"] = list(plan.shape)
    if plan.place is not GLOBAL:
        value["place"] = str(plan.place)
    if plan.pad != NO_PAD:
        value["pad"] = str(plan.pad)
    return value


def array_from_json(argument: str, value: object) -> ArrayPlan:
    """Read the plan for an argument that `array_to_json` wrote.

    Raises:
        InvalidInputError: a layout, an order, a shape, a place or a pad that can't be.
        TypeError, ValueError: it is none.
    """
    if not isinstance(value, Mapping) or not set(value) <= _KEYS:
        raise ValueError(value)
    layout = _text(value, "layout", AOS)
    order = Order(_whole_numbers(value["order"])) if "order" in value else None
    shape = _whole_numbers(value["shape"]) if "shape" in value else None
    place, pad = parse_place(_text(value, "place", GLOBAL)), Pad.parse(_text(value, "pad", NO_PAD))
    return ArrayPlan(argument, ArrayLayout.parse(layout), order, shape, place=place, pad=pad)


def _text(value: Mapping[str, object], key: str, default: object) -> str:
    found = value.get(key, str(default))
    if not isinstance(found, str):
        raise TypeError(found)
    return found


def _whole_numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or any(type(entry) is not int or entry < 0 for entry in value):
        raise TypeError(value)
    return tuple(value)
