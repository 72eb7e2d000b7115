"""The coarsening of a kernel: a factor along one dimension with a stride, and several of them together."""

from __future__ import annotations

import contextlib
import enum
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

from coarsen.errors import InvalidInputError

DIMENSIONS = 3
# More than any work-group holds; a kernel of a million copies, asked for by mistake, would take hours.
MOST_MERGED = 4096
# Ids have 64 bits, and those of merged work-items are strides times factors.
_LARGEST_STRIDE = 2**32


class Level(enum.StrEnum):
    """The level of merging: work-items of one work-group, or whole work-groups."""

    ITEM = "item"
    GROUP = "group"


@dataclass(frozen=True, slots=True, order=True)
class Coarsening:
    """Merge `factor` work-items along `dimension`; the merged ones stand `stride` local ids apart.

    At the level of work-groups, `factor` neighbouring work-groups become one of the same local size.

    Args:
        factor: how many become one, at least 1.
        dimension: of the NDRange, 0, 1 or 2.
        stride: in local ids; 1 between work-groups.
        level: what is merged, work-items or whole work-groups.

    Raises:
        InvalidInputError: a factor or stride below 1 or far too large, a dimension other than 0, 1 and 2, a stride
            between work-groups, or something of the wrong type.
    """

    factor: int = field(metadata={"help": "How many work-items, or work-groups, become one."})
    dimension: int = field(
        default=0, metadata={"option": "dim", "help": "The dimension of the NDRange: 0, 1 or 2."}
    )
    stride: int = field(default=1, metadata={"help": "How far apart the merged work-items stand."})
    level: Level = field(default=Level.ITEM, metadata={"help": "Merge work-items, or whole work-groups."})

    def __post_init__(self) -> None:
        # Whole numbers of other types, NumPy's for example, become Python's; a level may be given by its name.
        for name in ("factor", "dimension", "stride"):
            object.__setattr__(self, name, _whole_number(name, getattr(self, name)))
        object.__setattr__(self, "level", _level(self.level))
        self._check_ranges()

    def _check_ranges(self) -> None:
        if self.factor < 1:
            raise InvalidInputError(f"the factor must be at least 1, not {self.factor}")
        if self.factor > MOST_MERGED:
            raise InvalidInputError(f"the factor must be at most {MOST_MERGED}, not {self.factor}")
        if not 0 <= self.dimension < DIMENSIONS:
            raise InvalidInputError(f"the dimension must be 0, 1 or 2, not {self.dimension}")
        if self.stride < 1:
            raise InvalidInputError(f"the stride must be at least 1, not {self.stride}")
        if self.stride > _LARGEST_STRIDE:
            raise InvalidInputError(f"the stride must be at most {_LARGEST_STRIDE}, not {self.stride}")
        if self.level is Level.GROUP and self.stride > 1:
            raise InvalidInputError("a stride needs the level of work-items: --stride goes with --level item")

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
        InvalidInputError: two coarsenings along one dimension at one level; more than `MOST_MERGED` become one.
    """
    chosen = sorted(coarsenings, key=lambda coarsening: (coarsening.level is Level.ITEM, coarsening.dimension))
    places = [(coarsening.level, coarsening.dimension) for coarsening in chosen]
    if len(set(places)) < len(places):
        raise InvalidInputError("a dimension can be coarsened only once")
    merged = math.prod(coarsening.factor for coarsening in chosen)
    if merged > MOST_MERGED:
        raise InvalidInputError(f"the product of all factors must be at most {MOST_MERGED}, not {merged}")
    return tuple(coarsening for coarsening in chosen if coarsening.factor > 1)


def configuration_of(
    factor: int | Sequence[int],
    dim: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
    level: str | Sequence[str] = Level.ITEM,
) -> Configuration:
    """Return what `factor`, `dim`, `stride` and `level` mean: each one value, or one per coarsening.

    Raises:
        InvalidInputError: a factor or stride below 1, a product of factors that is far too large, a dimension that
            isn't 0, 1 or 2 or comes twice at a level, a level other than "item" and "group", something other than
            whole numbers, sequences of different lengths.
    """
    factors, dimensions, strides = _numbers("factor", factor), _numbers("dim", dim), _numbers("stride", stride)
    count = len(dimensions)
    if count == 1 and len(factors) > 1:
        raise InvalidInputError("several factors need as many dimensions")
    if len(factors) not in (1, count) or len(strides) not in (1, count):
        raise InvalidInputError("factor and stride must have one value, or one for each value of dim")
    levels = tuple(map(_level, _each(level)))
    if len(levels) not in (1, count):
        raise InvalidInputError("level must have one value, or one for each value of dim")
    factors, strides = factors * (count // len(factors)), strides * (count // len(strides))
    levels = levels * (count // len(levels))
    return configuration(Coarsening(*entry) for entry in zip(factors, dimensions, strides, levels, strict=True))


def _each(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _level(name: object) -> Level:
    if type(name) is Level:  # nearly always
        return name
    if not isinstance(name, str) or name not in tuple(Level):
        raise InvalidInputError(f"the level must be 'item' or 'group', not {name!r}")
    return Level(name)


def _numbers(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    numbers = _each(value)
    if not numbers:
        raise InvalidInputError(f"{name} has no value")
    return tuple(_whole_number(name, number) for number in numbers)


def _whole_number(name: str, value: object) -> int:
    if type(value) is int:  # nearly always, and to ask a protocol takes much longer
        return value
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        with contextlib.suppress(TypeError):  # of a NumPy array, which has whole numbers but is none
            return operator.index(value)
    raise InvalidInputError(f"{name} must be a whole number, not {value!r}")
