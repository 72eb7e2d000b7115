"""One point of a kernel's configuration space.

    coarsenings × transforms × any size × array plans × local size × macro definitions

What is asked for at the command line, what a program launches, what a search proposes and what a stored row is of
are all variants.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from coarsen.variant.coarsening import Configuration, Level, configuration
from coarsen.variant.transforms import DEFAULT, Transforms

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan

LocalSize = tuple[int, ...]
Definitions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """The coarsening of a kernel, its transforms, and the launch and the macros that this is for.

    Of a kernel that is not coarsened, tiles and long indices alone have an effect: all other transforms are the
    default ones.

    Args:
        local_size: that of the original launch, in work-items, one entry for each dimension; empty where it
            decides. The coarsened kernel runs with it divided by the factors of merged work-items; for any size
            with one that is no larger, and with a tile with this one.
        coarsenings: of work-items and of work-groups, along any dimensions.
        definitions: `-D` macros and their values, in the order of the names.
        transforms: what is used besides replication.
        any_size: whether the kernel is guarded, so that global sizes need not divide.
        arrays: how arguments' arrays lie, where otherwise than in the source; at most one plan for an argument.
            A plan with a shape is compiled for it; without one the launch says the extents.

    Raises:
        InvalidInputError: two coarsenings along one dimension at one level, two plans for one argument.
    """

    local_size: LocalSize = ()
    coarsenings: Configuration = ()
    definitions: Definitions = ()
    transforms: Transforms = DEFAULT
    any_size: bool = field(
        default=False,
        metadata={"help": "Take global sizes that the factor does not divide; the kernel gets an argument."},
    )
    arrays: tuple[ArrayPlan, ...] = ()

    def __post_init__(self) -> None:
        # Equal variants must be equal as values: in one order, and without what has no effect.
        object.__setattr__(self, "coarsenings", configuration(self.coarsenings))
        object.__setattr__(self, "definitions", tuple(sorted(self.definitions)))
        object.__setattr__(self, "arrays", _chosen_plans(self.arrays))
        if not self.coarsenings:
            object.__setattr__(self, "transforms", self.transforms.without_merging)
            object.__setattr__(self, "any_size", False)

    @property
    def factor(self) -> int:
        """Return the number of work-items that become one, over all dimensions and levels; 1 if uncoarsened."""
        return math.prod(coarsening.factor for coarsening in self.coarsenings)

    @property
    def is_coarsened(self) -> bool:
        """Return True if any work-items or work-groups are merged."""
        return bool(self.coarsenings)

    @property
    def is_rewritten(self) -> bool:
        """Return True if the kernel is not the one that was written, wherever arrays lie."""
        return bool(self.coarsenings) or self.transforms.without_merging != DEFAULT

    @property
    def is_original(self) -> bool:
        """Return True if it is as written, and no array lies otherwise."""
        return not self.is_rewritten and not self.arrays

    @property
    def merges_groups(self) -> bool:
        """Return True if work-groups are merged."""
        return any(coarsening.level is Level.GROUP for coarsening in self.coarsenings)

    @property
    def adds_barriers(self) -> bool:
        """Return True if barriers may stand where the kernel has none."""
        return self.merges_groups or self.transforms.is_tiled

    def uncoarsened(self) -> Variant:
        """Return the original kernel at the same local size and with the same macros, its arrays as written."""
        return Variant(self.local_size, (), self.definitions)

    def code_variant(self) -> Variant:
        """Return the variant whose code this one shares: the same at any local size, unless loops have tiles."""
        return self if self.transforms.is_tiled else replace(self, local_size=())

    def __str__(self) -> str:
        coarsenings = " and ".join(map(str, self.coarsenings)) or "uncoarsened"
        how = "".join(f", {word}" for word in self.transforms.words) + ", for any size" * self.any_size
        arrays = "".join(f", {plan}" for plan in self.arrays)
        local_size = f", local size {shape(self.local_size)}" if self.local_size else ""
        definitions = "".join(f", -D {name}={value}" for name, value in self.definitions)
        return f"{coarsenings}{how}{arrays}{local_size}{definitions}"


def _chosen_plans(arrays: tuple[ArrayPlan, ...]) -> tuple[ArrayPlan, ...]:
    if not arrays:
        return ()
    # Imported late: a program that launches what is remembered has none.
    from coarsen.variant.data_plan import chosen_plans

    return chosen_plans(arrays)


def variant_alike(variant: Variant) -> Variant:
    """Return what a further kernel is, whose launches beside those of a variant's kernel are coarsened alike.

    Its arrays lie as written, and its loops have no tiles: both are of one kernel's arguments and local size.
    """
    return replace(variant, arrays=(), transforms=variant.transforms.without({"tile"}))


def shape(local_size: LocalSize) -> str:
    """Write a local size for people: `16×16`."""
    return "×".join(map(str, local_size))


# What the launches of a version pass that takes several in the place of one.


class Source(enum.StrEnum):
    """The source of a launch's argument: the caller's argument, scratch, or a number that is computed."""

    CALLER = enum.auto()
    SCRATCH = enum.auto()
    NUMBER = enum.auto()


@dataclass(frozen=True, slots=True)
class PassedArgument:
    """An argument of one launch.

    Args:
        source: where it comes from.
        index: of the caller's argument, of the scratch buffer, or of the number among the launch's.
        type: of a number, `int`, `uint`, `long` or `ulong`.
    """

    source: Source
    index: int
    type: str = ""
