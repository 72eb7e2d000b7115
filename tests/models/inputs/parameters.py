"""The parameters of versions, as Liu, Zhang and Shen have them: a version is a vector of one value for each.

Macros, local sizes, factors and strides are numbers as they stand. What is none, such as the name of a transform,
is numbered in alphabetical order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

Value = int | float | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that differs between versions.

    Attributes:
        name: such as `-D BLOCK`, `local size 0` or `factor 0`.
        values: of each version, as a number.
    """

    name: str
    values: tuple[float, ...]

    @property
    def legal(self) -> tuple[float, ...]:
        """Return the values that some version has, in ascending order."""
        return tuple(sorted(set(self.values)))


def parameters_of(versions: Sequence[Variant]) -> tuple[Parameter, ...]:
    """Return the parameters in which some versions differ, in alphabetical order."""
    vectors = [dict(_values(version)) for version in versions]
    names = sorted({name for vector in vectors for name in vector})
    columns = ((name, [vector.get(name, _missing(name)) for vector in vectors]) for name in names)
    return tuple(Parameter(name, _numbered(values)) for name, values in columns if len(set(values)) > 1)


def _values(version: Variant) -> Iterator[tuple[str, Value]]:
    for name, value in version.definitions:
        yield f"-D {name}", _as_number(value)
    for dimension, items in enumerate(version.local_size):
        yield f"local size {dimension}", items
    for coarsening in version.coarsenings:
        yield from _coarsening(coarsening)
    yield from _transforms(version.transforms)
    yield "any size", int(version.any_size)


def _coarsening(coarsening: Coarsening) -> Iterator[tuple[str, Value]]:
    where = f"{coarsening.level.value} {coarsening.dimension}"
    yield f"factor {where}", coarsening.factor
    yield f"stride {where}", coarsening.stride


def _transforms(transforms: Transforms) -> Iterator[tuple[str, Value]]:
    yield "fast path", str(transforms.fast_path)
    yield "lock-step", str(transforms.lock_step)
    yield "wide accesses", int(transforms.wide_accesses)
    yield "clean-up", int(transforms.clean_up)


def _missing(name: str) -> Value:
    """The value of a version that has none: a dimension that isn't merged has factor 1."""
    return 1 if name.startswith(("factor ", "stride ")) else 0


def _as_number(text: str) -> Value:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _numbered(values: Sequence[Value]) -> tuple[float, ...]:
    """The values as numbers; where one is a name, all of them in alphabetical order."""
    numbers = [float(value) for value in values if not isinstance(value, str)]
    if len(numbers) == len(values):
        return tuple(numbers)
    order = sorted(set(map(str, values)))
    return tuple(float(order.index(str(value))) for value in values)
