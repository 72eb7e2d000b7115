"""What is chosen for an argument's array: its layout, its order, and its shape where that is known."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from coarsen.errors import InvalidInputError
from coarsen.variant.data_layout import AOS, ArrayLayout, Order, parse_shape
from coarsen.variant.records import RecordType


@dataclass(frozen=True)
class ArrayPlan:
    """How the array that an argument points to is to lie.

    Attributes:
        argument: its name.
        layout: where fields lie.
        order: of the dimensions; None leaves them.
        shape: elements along each dimension, the slowest first; None where it isn't known.
        record: the elements as the host packs them; None where any will do.
    """

    argument: str
    layout: ArrayLayout = AOS
    order: Order | None = None
    shape: tuple[int, ...] | None = None
    record: RecordType | None = None

    @property
    def is_as_written(self) -> bool:
        """Return True if the array is to lie as the source has it."""
        return self.layout == AOS and (self.order is None or self.order.is_identity)

    @property
    def choice(self) -> ArrayPlan:
        """The plan without what is no choice: the record that the host packs, an order that changes nothing."""
        order = None if self.order is None or self.order.is_identity else self.order
        return replace(self, order=order, record=None)

    def __str__(self) -> str:
        words = [str(self.layout)] if self.layout != AOS else []
        words += [f"order {self.order}"] if self.order is not None and not self.order.is_identity else []
        words += [f"of {' x '.join(map(str, self.shape))}"] if self.shape is not None else []
        return f"{self.argument} as {' '.join(words) or AOS}"


def chosen_plans(plans: Iterable[ArrayPlan]) -> tuple[ArrayPlan, ...]:
    """Return the plans that change anything, by the names of their arguments, each without what is no choice.

    Raises:
        InvalidInputError: two plans for one argument.
    """
    ordered = sorted((plan.choice for plan in plans), key=lambda plan: plan.argument)
    for one, other in itertools.pairwise(ordered):
        if one.argument == other.argument:
            raise InvalidInputError(f"the argument {one.argument} is laid out twice")
    return tuple(plan for plan in ordered if not plan.is_as_written)


def array_plans(layouts: Iterable[str], orders: Iterable[str], shapes: Iterable[str]) -> tuple[ArrayPlan, ...]:
    """Return the plans that texts such as `bodies=soa`, `image=1,0` and `image=48,64` ask for, by argument.

    Raises:
        InvalidInputError: a text that can't be read, an argument named twice, a shape alone.
    """
    layout_of = _by_argument("--layout", layouts)
    order_of = _by_argument("--order", orders)
    shape_of = _by_argument("--shape", shapes)
    names = tuple(dict.fromkeys((*layout_of, *order_of)))
    for name in shape_of:
        if name not in names:
            raise InvalidInputError(f"--shape {name}=… goes with --layout {name}=… or --order {name}=…")
    return tuple(
        ArrayPlan(
            name,
            ArrayLayout.parse(layout_of.get(name, str(AOS))),
            Order.parse(order_of[name]) if name in order_of else None,
            parse_shape(shape_of[name]) if name in shape_of else None,
        )
        for name in names
    )


def _by_argument(option: str, texts: Iterable[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InvalidInputError(f"{option} is written as ARGUMENT=VALUE, not '{text}'")
        if name in found:
            raise InvalidInputError(f"{option} names the argument {name} twice")
        found[name] = value
    return found
