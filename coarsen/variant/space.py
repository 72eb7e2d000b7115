"""A kernel's configuration space: named finite dimensions, and what may not be combined.

    local_size × -D NAME … × (factor_D × stride_D, group_factor_D) for each dimension D of the NDRange
        × fast_path × lock_step × wide_accesses × clean_up × distinct × tile × long_indices × any_size
        × layout_NAME × order_NAME × memory_NAME for each argument NAME whose array may lie, or be read, otherwise
        × pad_NAME for each static local array NAME whose rows may be padded
        under constraints that are known before anything is compiled

A choice is one index for each dimension. Several choices may describe one variant (a stride has no effect at
factor 1): the one whose meaningless indices are all 0 stands for it, so each variant is there once. A space can be
enumerated, and sampled without being enumerated.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from coarsen.variant.coarsening import DIMENSIONS, MOST_MERGED, Coarsening, Level
from coarsen.variant.data_layout import AOS, ArrayLayout, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.options import TRANSFORM_OPTIONS
from coarsen.variant.pads import NO_PAD, Pad
from coarsen.variant.placement import GLOBAL, Place
from coarsen.variant.transforms import DEFAULT, UNMERGED, DeviceKind, Tile, Transforms, Use
from coarsen.variant.variant import Definitions, LocalSize, Variant

Choice = tuple[int, ...]
# Says in one sentence why a variant can't run; None where nothing is known against it.
Constraint = Callable[[Variant], str | None]
# Failed draws allowed for each requested variant before a sample ends smaller than requested.
_DRAWS_FOR_EACH = 200

MACRO = "-D "
LAYOUT, ORDER, MEMORY, PAD = "layout_", "order_", "memory_", "pad_"
_FACTORS = ("factor_", "group_factor_")


@dataclass(frozen=True, slots=True)
class PlaceChoice:
    """A place to choose for an argument's array.

    Attributes:
        place: where it is read.
        shape: its elements along each dimension, for a copy of the whole; None where it isn't known.
    """

    place: Place = GLOBAL
    shape: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return str(self.place) + ("" if self.shape is None else f":{','.join(map(str, self.shape))}")


AS_WRITTEN = PlaceChoice()


@dataclass(frozen=True, slots=True)
class Dimension:
    """A named dimension of a space and its values, the default first."""

    name: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class VariantSpace:
    """The variants that some choices make, each once.

    Args:
        dimensions: `local_size`, `-D NAME`, `factor_D`, `stride_D`, `group_factor_D`, `fast_path`, `lock_step`,
            `wide_accesses`, `clean_up`, `distinct`, `tile`, `long_indices`, `any_size`, `layout_NAME`,
            `order_NAME`, `memory_NAME`, `pad_NAME`; what is missing has its default value. A factor of 1 is no
            coarsening.
        most_coarsenings: how many coarsenings a variant may have at once, over all dimensions and levels.
        most_merged: how many work-items may become one, the product of the factors.
        device_kind: what coarsened kernels are made for.
        constraints: tried in this order.
        local_size_of: gives the local size of some macro values, where these decide about it; `local_size` is no
            dimension then.
    """

    dimensions: tuple[Dimension, ...]
    most_coarsenings: int = 2 * DIMENSIONS
    most_merged: int = MOST_MERGED
    device_kind: DeviceKind = DeviceKind.ANY
    constraints: tuple[Constraint, ...] = field(default=(), compare=False)
    local_size_of: Callable[[Definitions], LocalSize] | None = field(default=None, compare=False)

    @property
    def choices(self) -> int:
        """The number of choices; variants are at most as many."""
        return math.prod(len(dimension.values) for dimension in self.dimensions)

    def choice(self, index: int) -> Choice:
        """Return the choice of a number below `choices`: the index in mixed radix, the last dimension fastest."""
        digits = []
        for dimension in reversed(self.dimensions):
            index, digit = divmod(index, len(dimension.values))
            digits.append(digit)
        return tuple(reversed(digits))

    def variant(self, choice: Choice) -> Variant | None:
        """Return the variant of a choice; None where another choice stands for it, or it coarsens too much."""
        if self._merges_too_much(choice):
            return None
        values = {d.name: d.values[i] for d, i in zip(self.dimensions, choice, strict=True)}
        coarsenings = tuple(_coarsenings(values))
        meaningless = self._meaningless(coarsenings)
        if any(i for d, i in zip(self.dimensions, choice, strict=True) if d.name in meaningless):
            return None
        definitions = tuple((n.removeprefix(MACRO), value) for n, value in values.items() if n.startswith(MACRO))
        tied = self.local_size_of(definitions) if self.local_size_of is not None else ()
        return Variant(
            local_size=values.get("local_size", tied),
            coarsenings=coarsenings,
            definitions=definitions,
            transforms=self._transforms({name: each for name, each in values.items() if name not in meaningless}),
            any_size=values.get("any_size", False),
            arrays=_arrays(values),
        )

    def violation(self, variant: Variant) -> str | None:
        """Say in one sentence why a variant can't run; None where nothing is known against it."""
        return next(filter(None, (constraint(variant) for constraint in self.constraints)), None)

    def __iter__(self) -> Iterator[Variant]:
        """Enumerate the variants, also those that break a constraint; the last dimension changes fastest."""
        choices = itertools.product(*(range(len(dimension.values)) for dimension in self.dimensions))
        return (variant for variant in map(self.variant, choices) if variant is not None)

    def standing_choices(self, limit: int) -> list[Choice] | None:
        """Return the choices that stand for a variant, in ascending order; None where there are more than `limit`.

        Choices of which another one stands for the variant are not looked at, and these are most.
        """
        found: list[Choice] = []
        factors = [range(len(d.values)) if d.name.startswith(_FACTORS) else (0,) for d in self.dimensions]
        for start in itertools.product(*factors):
            if self._merges_too_much(start):
                continue
            values = {d.name: d.values[i] for d, i in zip(self.dimensions, start, strict=True)}
            fixed = self._meaningless(tuple(_coarsenings(values)))
            indices = [
                (i,) if d.name.startswith(_FACTORS) or d.name in fixed else range(len(d.values))
                for d, i in zip(self.dimensions, start, strict=True)
            ]
            if len(found) + math.prod(map(len, indices)) > limit:
                return None
            found += itertools.product(*indices)
        return sorted(found)

    def sample(self, count: int, seed: int, skip: Callable[[Variant], bool] = lambda _: False) -> list[Variant]:
        """Draw distinct variants that break no constraint, each with the same probability.

        The space is not enumerated: choices are drawn, and those that stand for no variant, or for one that can't
        run, are drawn again.

        Args:
            count: how many; fewer are returned where the space hardly has more.
            seed: the same seed draws the same variants.
            skip: tells variants that are not wanted.
        """
        draw = random.Random(seed)
        found: dict[Variant, None] = {}
        for _ in range(_DRAWS_FOR_EACH * count):
            if len(found) == count:
                break
            variant = self.variant(self.choice(draw.randrange(self.choices)))
            if variant is not None and not skip(variant) and self.violation(variant) is None:
                found[variant] = None
        return list(found)

    def choice_of(self, variant: Variant) -> Choice:
        """Return the choice that stands for a variant. Raises ValueError where it is not in the space."""
        values = _values_of(variant)
        chosen = ((d.values, values.get(d.name)) for d in self.dimensions)
        # Of what means nothing, and of what isn't there, the first value stands for all.
        choice = tuple(each.index(value) if value in each else 0 for each, value in chosen)
        if self.variant(choice) != variant:
            raise ValueError(f"not in the space: {variant}")
        return choice

    def standing(self, choice: Choice) -> Choice:
        """Return the choice that stands for the same variant: what means nothing is at index 0."""
        values = {d.name: d.values[i] for d, i in zip(self.dimensions, choice, strict=True)}
        meaningless = self._meaningless(tuple(_coarsenings(values)))
        return tuple(0 if d.name in meaningless else i for d, i in zip(self.dimensions, choice, strict=True))

    def _merges_too_much(self, choice: Choice) -> bool:
        chosen = (self.dimensions[place].values[choice[place]] for place in self._factors)
        factors = [factor for factor in chosen if factor > 1]
        return len(factors) > self.most_coarsenings or math.prod(factors) > self.most_merged

    def _meaningless(self, coarsenings: Sequence[Coarsening]) -> set[str]:
        """The names of the dimensions that have no effect beside some coarsenings."""
        strided = {f"stride_{c.dimension}" for c in coarsenings if c.level is Level.ITEM}
        return self._strides - strided if coarsenings else self._strides | _TRANSFORMS - self._of_uncoarsened

    @cached_property
    def _of_uncoarsened(self) -> set[str]:
        """The transforms where nothing is merged, but for those that each variant is to have."""
        return {d.name for d in self.dimensions if d.name in UNMERGED and getattr(DEFAULT, d.name) in d.values}

    @cached_property
    def _factors(self) -> tuple[int, ...]:
        """The places of the factors."""
        return tuple(place for place, d in enumerate(self.dimensions) if d.name.startswith(_FACTORS))

    @cached_property
    def _strides(self) -> set[str]:
        return {dimension.name for dimension in self.dimensions if dimension.name.startswith("stride_")}

    def _transforms(self, values: dict[str, Any]) -> Transforms:
        chosen = {name: values[name] for name in _TRANSFORMS - {"any_size"} if name in values}
        return Transforms(device_kind=self.device_kind, **chosen)


_TRANSFORMS = {*TRANSFORM_OPTIONS}
# Dimensions of those spaces alone that have several values of them.
_LATE = frozenset({"distinct", "tile", "long_indices"})


@dataclass(frozen=True, slots=True)
class TransformChoices:
    """The transforms that a space combines, each with its values, the default first."""

    fast_path: tuple[Use, ...] = (DEFAULT.fast_path,)
    lock_step: tuple[Use, ...] = (DEFAULT.lock_step,)
    wide_accesses: tuple[bool, ...] = (DEFAULT.wide_accesses,)
    clean_up: tuple[bool, ...] = (DEFAULT.clean_up,)
    any_size: tuple[bool, ...] = (False,)
    distinct: tuple[bool, ...] = (DEFAULT.distinct,)
    tile: tuple[Tile, ...] = (DEFAULT.tile,)
    long_indices: tuple[bool, ...] = (DEFAULT.long_indices,)

    @classmethod
    def of(cls, transforms: Transforms) -> TransformChoices:
        """Return the choice of these transforms alone."""
        chosen: dict[str, Any] = {each.name: (getattr(transforms, each.name, False),) for each in fields(cls)}
        return cls(**chosen)

    def dimensions(self) -> Iterator[Dimension]:
        """Enumerate them as dimensions of a space."""
        for each in fields(self):
            values: tuple[Any, ...] = getattr(self, each.name)
            if each.name not in _LATE or values != each.default:
                yield Dimension(each.name, tuple(dict.fromkeys(values)))


@dataclass(frozen=True, slots=True)
class ArrayChoices:
    """The ways in which an argument's array may lie, each once; as written, whether or not that is named.

    Args:
        argument: its name.
        layouts: of its fields.
        orders: of its dimensions; None leaves them.
        pads: of the rows of a static local array; none of them is chosen for a device.
        places: where it is read.
        shape: its elements along each dimension, for a copy of the whole in local memory; None if not known.
    """

    argument: str
    layouts: tuple[ArrayLayout, ...] = ()
    orders: tuple[Order | None, ...] = ()
    pads: tuple[Pad, ...] = ()
    places: tuple[Place, ...] = ()
    shape: tuple[int, ...] | None = None

    def dimensions(self) -> Iterator[Dimension]:
        """Enumerate them as dimensions of a space, as written first; of one value there is no dimension."""
        orders = (None if order is None or order.is_identity else order for order in self.orders)
        places = (PlaceChoice(each, self.shape if each is Place.LOCAL else None) for each in self.places)
        for name, values in (
            (LAYOUT, (AOS, *self.layouts)),
            (ORDER, (None, *orders)),
            (MEMORY, (AS_WRITTEN, *places)),
            (PAD, (NO_PAD, *self.pads)),
        ):
            distinct = tuple(dict.fromkeys(values))
            if len(distinct) > 1:
                yield Dimension(f"{name}{self.argument}", distinct)

    def changes(self) -> Iterator[ArrayPlan]:
        """Enumerate the plans that change the layout or the order of the array, and nothing else."""
        yield from (ArrayPlan(self.argument, layout) for layout in self.layouts)
        yield from (ArrayPlan(self.argument, order=order) for order in self.orders if order is not None)


def is_of_arrays(name: str) -> bool:
    """Return True for the name of a dimension that says how an array lies."""
    return name.startswith((LAYOUT, ORDER, MEMORY, PAD))


def coarsening_dimensions(
    level: Level, dimension: int, factors: Sequence[int], strides: Sequence[int]
) -> Iterator[Dimension]:
    """Enumerate the dimensions of a space for coarsening along one dimension of the NDRange at a level."""
    values = tuple(dict.fromkeys((1, *factors)))
    if level is Level.GROUP:
        yield Dimension(f"group_factor_{dimension}", values)
        return
    yield Dimension(f"factor_{dimension}", values)
    yield Dimension(f"stride_{dimension}", tuple(dict.fromkeys(strides)))


def _coarsenings(values: dict[str, Any]) -> Iterator[Coarsening]:
    for dimension in range(DIMENSIONS):
        if (factor := values.get(f"factor_{dimension}", 1)) > 1:
            yield Coarsening(factor, dimension, values.get(f"stride_{dimension}", 1))
        if (factor := values.get(f"group_factor_{dimension}", 1)) > 1:
            yield Coarsening(factor, dimension, level=Level.GROUP)


def _arrays(values: dict[str, Any]) -> tuple[ArrayPlan, ...]:
    names = dict.fromkeys(name.split("_", 1)[1] for name in values if is_of_arrays(name))
    return tuple(
        ArrayPlan(
            name,
            values.get(LAYOUT + name, AOS),
            values.get(ORDER + name),
            values.get(MEMORY + name, AS_WRITTEN).shape,
            place=values.get(MEMORY + name, AS_WRITTEN).place,
            pad=values.get(PAD + name, NO_PAD),
        )
        for name in names
    )


def _values_of(variant: Variant) -> dict[str, Any]:
    values: dict[str, Any] = {MACRO + name: value for name, value in variant.definitions}
    for plan in variant.arrays:
        values |= {LAYOUT + plan.argument: plan.layout, ORDER + plan.argument: plan.order}
        values[MEMORY + plan.argument] = PlaceChoice(plan.place, plan.shape)
        values[PAD + plan.argument] = plan.pad
    local_size: LocalSize = variant.local_size
    values["local_size"] = local_size
    for dimension in range(DIMENSIONS):
        values[f"factor_{dimension}"] = values[f"group_factor_{dimension}"] = 1
    for entry in variant.coarsenings:
        if entry.level is Level.GROUP:
            values[f"group_factor_{entry.dimension}"] = entry.factor
        else:
            values |= {f"factor_{entry.dimension}": entry.factor, f"stride_{entry.dimension}": entry.stride}
    if variant.is_coarsened:
        transforms = variant.transforms
        values |= {name: getattr(transforms, name) for name in _TRANSFORMS - {"any_size"}}
        values["any_size"] = variant.any_size
    else:
        values |= {name: getattr(variant.transforms, name) for name in UNMERGED}
    return values
