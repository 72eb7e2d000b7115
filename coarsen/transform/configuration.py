"""What to coarsen by: a factor along one dimension with a stride, and several of them together."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coarsen.errors import InvalidInputError

DIMENSIONS = 3


class Level(enum.StrEnum):
    """What is merged: work-items of one work-group, or whole work-groups."""

    ITEM = "item"
    GROUP = "group"


@dataclass(frozen=True, slots=True, order=True)
class Coarsening:
    """Merge `factor` work-items along `dimension`; the merged ones stand `stride` local ids apart.

    At the level of work-groups, `factor` neighbouring work-groups become one of the same local size.

    Raises:
        InvalidInputError: a factor or stride below 1, a dimension other than 0, 1 and 2, or a stride between
            work-groups.
    """

    factor: int
    dimension: int = 0
    stride: int = 1
    level: Level = Level.ITEM

    def __post_init__(self) -> None:
        if self.factor < 1:
            raise InvalidInputError(f"the factor must be at least 1, not {self.factor}")
        if not 0 <= self.dimension < DIMENSIONS:
            raise InvalidInputError(f"the dimension must be 0, 1 or 2, not {self.dimension}")
        if self.stride < 1:
            raise InvalidInputError(f"the stride must be at least 1, not {self.stride}")
        if self.level is Level.GROUP and self.stride > 1:
            raise InvalidInputError("merged work-groups stand side by side: a stride is for work-items")

    def __str__(self) -> str:
        stride = f" with stride {self.stride}" if self.stride > 1 else ""
        if self.level is Level.GROUP:
            return f"factor {self.factor} of work-groups along dimension {self.dimension}"
        return f"factor {self.factor} along dimension {self.dimension}{stride}"


Configuration = tuple[Coarsening, ...]


def configuration(coarsenings: Iterable[Coarsening]) -> Configuration:
    """Several coarsenings as one configuration, factors of 1 left out.

    They come in the order in which they are carried out: those of work-groups first, then by dimension.

    Raises:
        InvalidInputError: two coarsenings along one dimension at one level.
    """
    chosen = sorted(coarsenings, key=lambda coarsening: (coarsening.level is Level.ITEM, coarsening.dimension))
    places = [(coarsening.level, coarsening.dimension) for coarsening in chosen]
    if len(set(places)) < len(places):
        raise InvalidInputError("a dimension can be coarsened only once")
    return tuple(coarsening for coarsening in chosen if coarsening.factor > 1)


def configuration_of(
    factor: int | Sequence[int],
    dim: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
    level: str | Sequence[str] = Level.ITEM,
) -> Configuration:
    """The configuration that `factor`, `dim`, `stride` and `level` mean: each one value, or one per coarsening.

    Raises:
        InvalidInputError: a factor or stride below 1, a dimension that isn't 0, 1 or 2 or comes twice at a level,
            a level other than "item" and "group", something other than whole numbers, sequences of different
            lengths.
    """
    factors, dimensions, strides = _numbers("factor", factor), _numbers("dim", dim), _numbers("stride", stride)
    count = len(dimensions)
    if count == 1 and len(factors) > 1:
        raise InvalidInputError("several factors need as many dimensions")
    if len(factors) not in (1, count) or len(strides) not in (1, count):
        raise InvalidInputError("factor and stride must have one value, or one for each value of dim")
    levels = _levels(level)
    if len(levels) not in (1, count):
        raise InvalidInputError("level must have one value, or one for each value of dim")
    factors, strides = factors * (count // len(factors)), strides * (count // len(strides))
    levels = levels * (count // len(levels))
    return configuration(Coarsening(*entry) for entry in zip(factors, dimensions, strides, levels, strict=True))


def _levels(value: str | Sequence[str]) -> tuple[Level, ...]:
    names: tuple[Any, ...] = tuple(value) if isinstance(value, list | tuple) else (value,)
    for name in names:
        if name not in tuple(Level):
            raise InvalidInputError(f"the level must be 'item' or 'group', not {name!r}")
    return tuple(Level(name) for name in names)


def _numbers(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    numbers: tuple[Any, ...] = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not numbers:
        raise InvalidInputError(f"{name} has no value")
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int):
            raise InvalidInputError(f"{name} must be a whole number, not {number!r}")
    return numbers
