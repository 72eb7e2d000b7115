"""Plans of arrays as JSON, and back: of each what changes something.

ArrayPlan("image", soa, order 1,0, shape 48 x 64)   ⇄   {"layout": "soa", "order": [1, 0], "shape": [48, 64]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coarsen.variant.data_layout import AOS, ArrayLayout, Order
from coarsen.variant.data_plan import ArrayPlan

_KEYS = frozenset({"layout", "order", "shape"})


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
    return value


def array_from_json(argument: str, value: object) -> ArrayPlan:
    """Read the plan for an argument that `array_to_json` wrote.

    Raises:
        InvalidInputError: a layout, an order or a shape that can't be.
        TypeError, ValueError: it is none.
    """
    if not isinstance(value, Mapping) or not set(value) <= _KEYS:
        raise ValueError(value)
    layout = value.get("layout", str(AOS))
    if not isinstance(layout, str):
        raise TypeError(layout)
    order = Order(_whole_numbers(value["order"])) if "order" in value else None
    shape = _whole_numbers(value["shape"]) if "shape" in value else None
    return ArrayPlan(argument, ArrayLayout.parse(layout), order, shape)


def _whole_numbers(value: object) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or any(type(entry) is not int or entry < 0 for entry in value):
        raise TypeError(value)
    return tuple(value)
