"""What is chosen for an array: its layout, its order, shape where known, place, and pad of rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

from coarsen.errors import InvalidInputError
from coarsen.variant.data_layout import AOS, ArrayLayout, Order, RecordType, parse_shape
from coarsen.variant.pads import NO_PAD, Pad
from coarsen.variant.placement import GLOBAL, Place, parse_place


@dataclass(frozen=True)
class ArrayPlan:
    """How the array that an argument points to, or a static local one, is to lie.

    Attributes:
        argument: its name; for a pad that of the local array.
        layout: where fields lie.
        order: of the dimensions; None leaves them.
        shape: elements along each dimension, the slowest first; None where it isn't known.
        record: the elements as the host packs them; None where any will do.
    """

    argument: str
    layout: ArrayLayout = field(
        default=AOS,
        metadata={
            "read": ArrayLayout.parse,
            "metavar": "ARG=LAYOUT",
            "help": "Give an argument's array the layout aos, soa, aosoa:WIDTH, deep-soa or deep-aosoa:WIDTH.",
        },
    )
    order: Order | None = field(
        default=None,
        metadata={
            "read": Order.parse,
            "metavar": "ARG=ORDER",
            "help": "Order its dimensions otherwise: 1,0 for a transposed matrix.",
        },
    )
    shape: tuple[int, ...] | None = field(
        default=None,
        metadata={
            "read": parse_shape,
            "metavar": "ARG=SHAPE",
            "help": "How many elements it has: 1000, or 48,64 for 48 rows of 64.",
        },
    )
    record: RecordType | None = None
    place: Place = field(
        default=GLOBAL,
        metadata={
            "read": parse_place,
            "metavar": "ARG=PLACE",
            "help": "Read it from constant, noncoherent, local or global memory.",
        },
    )
    pad: Pad = field(
        default=NO_PAD,
        metadata={
            "read": Pad.parse,
            "metavar": "ARRAY=PAD",
            "help": "Pad the rows of a static local array: by a number of elements, auto or xor.",
        },
    )

    @property
    def moves_fields(self) -> bool:
        """Return True for the plan of a layout or an order, and for one that asks for nothing."""
        return self.layout != AOS or self.order is not None or (self.place is GLOBAL and self.pad == NO_PAD)

    @property
    def is_as_written(self) -> bool:
        """Return True if the array is to lie as the source has it."""
        chosen = self.choice
        return chosen == ArrayPlan(self.argument, shape=self.shape)

    @property
    def choice(self) -> ArrayPlan:
        """The plan without what is no choice: the record that the host packs, an order that changes nothing."""
        order = None if self.order is None or self.order.is_identity else self.order
        return replace(self, order=order, record=None)

    def __str__(self) -> str:
        words = [str(self.layout)] if self.layout != AOS else []
        words += [f"order {self.order}"] if self.order is not None and not self.order.is_identity else []
        words += [f"of {' x '.join(map(str, self.shape))}"] if self.shape is not None else []
        words += [f"in {self.place} memory" if self.place is not Place.NONCOHERENT else str(self.place)] * (
            self.place is not GLOBAL
        )
        words += [f"with pad {self.pad}"] if self.pad != NO_PAD else []
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


def checked_plans(plans: object) -> tuple[ArrayPlan, ...]:
    """Return plans as a tuple; raises InvalidInputError for what isn't plans."""
    given = tuple(plans) if isinstance(plans, Iterable) else (plans,)
    for plan in given:
        if not isinstance(plan, ArrayPlan):
            raise InvalidInputError(f"arrays are given as a sequence of coarsen.array_plan(…), not {plans!r}")
    return given


PLAN_OPTIONS: Mapping[str, Field[Any]] = {each.name: each for each in fields(ArrayPlan) if each.metadata}
"""What may be chosen for an array, by name: fields whose metadata say how a value is read from a text."""


_NOTHING: Mapping[str, str] = {}


def array_plans(*texts: Iterable[str]) -> tuple[ArrayPlan, ...]:
    """Return the plans that texts such as `bodies=soa`, `image=1,0` and `image=48,64` ask for, by argument.

    Args:
        texts: of each of the options, in the order of `PLAN_OPTIONS`; what is left out has none.

    Raises:
        InvalidInputError: a text that can't be read, an argument named twice, a shape alone.
    """
    given = dict.fromkeys(PLAN_OPTIONS, _NOTHING)
    given |= {name: _by_argument(f"--{name}", each) for name, each in zip(PLAN_OPTIONS, texts, strict=False)}
    shapes = given.pop("shape")
    names = tuple(dict.fromkeys(name for of_option in given.values() for name in of_option))
    for name in shapes:
        if name not in names:
            raise InvalidInputError(f"--shape {name}=… goes with {' or '.join(f'--{o} {name}=…' for o in given)}")
    given["shape"] = shapes
    plans = (plan_of(name, {o: found[name] for o, found in given.items() if name in found}) for name in names)
    return tuple(p for p in plans if p.argument in {*given["layout"], *given["order"]} or not p.moves_fields)


def plan_of(argument: str, words: Mapping[str, str]) -> ArrayPlan:
    """Return the plan that words for options ask for. Raises InvalidInputError for one that can't be read."""
    return ArrayPlan(argument, **{name: PLAN_OPTIONS[name].metadata["read"](word) for name, word in words.items()})


def array_plan(
    name: str,
    *,
    layout: str = "aos",
    order: str | None = None,
    shape: Sequence[int] | None = None,
    place: str = "global",
    pad: int | str = 0,
) -> ArrayPlan:
    """Return the plan for an array, of an argument or a static local one, that `coarsen.coarsen(arrays=…)` takes.

    Args:
        name: of the argument, or of the local array.
        layout: of an argument's fields: "aos", "soa" or "aosoa:WIDTH"; "deep-soa" or "deep-aosoa:WIDTH" takes
            arrays inside of records apart, too.
        order: of an argument's dimensions, such as "1,0"; None leaves them.
        shape: elements along each dimension, the slowest first; None where that isn't known, or is declared.
        place: where an argument's array is read: "global", "constant", "noncoherent" or "local".
        pad: of a local array's rows: elements more in each, "xor" or "auto".

    Raises:
        InvalidInputError: a layout, order, shape, place or pad that can't be.
    """
    words = {"layout": layout, "place": place, "pad": str(pad)} | ({} if order is None else {"order": order})
    if shape is not None:
        words["shape"] = shape if isinstance(shape, str) else ",".join(map(str, shape))
    for option, word in (("name", name), *words.items()):
        if not isinstance(word, str):
            raise InvalidInputError(
                f"the {option} of a plan is a text, as after `coarsen apply --{option}`, not {word!r}"
            )
    return plan_of(name, words)


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
