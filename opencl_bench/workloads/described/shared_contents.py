"""Contents that several buffers share: `matrix = "sparse(…)"`, and of a buffer `values = "matrix.row_starts"`.

    [contents]
    matrix = "sparse(rows, columns, entries, lengths, length_per_mille, placement, placement_per_mille)"

gives `matrix.row_starts`, `matrix.column_indices` and `matrix.values`. The settings are numbers of
`workloads/contents`: kinds as its enumerations count them, shares per mille.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coarsen.dispatch.expressions import Expression, checked_expression, parsed
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import Array
from coarsen.opencl_bench.workloads.contents.lengths import Lengths
from coarsen.opencl_bench.workloads.contents.sparse import Columns, SparseShape, make_sparse
from coarsen.opencl_bench.workloads.described.element_types import ElementType
from coarsen.opencl_bench.workloads.described.shaped_values import kind_of
from coarsen.opencl_bench.workloads.described.table import Table

KEY = "contents"
FIELDS = ("row_starts", "column_indices", "values")
_MAKER = "sparse"
_PARAMETERS = ("rows", "columns", "entries", "lengths", "length_per_mille", "placement", "placement_per_mille")
_FORM = f"{_MAKER}({', '.join(_PARAMETERS)})"


@dataclass(frozen=True, slots=True)
class SharedContents:
    """A sparse matrix in compressed rows, made once for a workload; `parameters` are expressions of the sizes."""

    name: str
    text: str
    parameters: tuple[Expression, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that its parameters need."""
        return frozenset().union(*(entry.names for entry in self.parameters))

    def make(self, generator: np.random.Generator, values: Mapping[str, int]) -> dict[str, Array]:
        """Return the arrays, by the names of the fields. Raises InvalidInputError for settings that are none."""
        rows, columns, entries, lengths, length_per_mille, placement, placement_per_mille = (
            entry.evaluate(values) for entry in self.parameters
        )
        made = make_sparse(
            SparseShape(
                rows,
                columns,
                entries,
                kind_of(Lengths, lengths),
                length_per_mille,
                kind_of(Columns, placement),
                placement_per_mille,
            ),
            generator,
        )
        return {field: getattr(made, field) for field in FIELDS}


@dataclass(frozen=True, slots=True)
class SharedValues:
    """A buffer's part of shared contents, `matrix.row_starts`."""

    text: str
    name: str
    field: str

    @property
    def names(self) -> frozenset[str]:
        """The names that it needs: none."""
        return frozenset()

    @property
    def content(self) -> str:
        """Return what tells it from other values."""
        return self.text

    def numbers(self, _values: Mapping[str, int], kind: ElementType) -> tuple[int | float, ...]:
        """Check the buffer's type. Raises InvalidInputError; returns none."""
        wanted = ("float", "double") if self.field == "values" else ("int", "uint", "long", "ulong")
        if kind.name not in wanted:
            raise InvalidInputError(f"'{self.text}' is for {', '.join(wanted)}, not for {kind.name}")
        return ()

    def check_count(self, kind: ElementType, elements: int) -> None:
        """Do nothing: how many there are is known when they are made."""

    def part(self, made: Mapping[str, Mapping[str, Array]], kind: ElementType, elements: int) -> Array:
        """Return the buffer's array.

        Args:
            made: the arrays of all shared contents.
            kind: the buffer's type.
            elements: how many it has.

        Raises:
            InvalidInputError: the contents have more or fewer.
        """
        found = made[self.name][self.field]
        if math.prod(found.shape) != elements:
            raise InvalidInputError(f"'{self.text}' has {found.size} elements, and the buffer {elements}")
        self.numbers({}, kind)
        return found.astype(kind.scalar)


def read_shared_contents(top: Table) -> tuple[SharedContents, ...]:
    """Read the table `contents`. Raises InvalidInputError for a mistake in it."""
    table = top.table(KEY)
    return tuple(_read(table, name) for name in table.values)


def parse_shared_values(text: str) -> SharedValues | None:
    """Read `NAME.FIELD`; None for a text that isn't of this form. Raises InvalidInputError for another field."""
    tree = parsed(text)
    if not isinstance(tree, ast.Attribute) or not isinstance(tree.value, ast.Name):
        return None
    if tree.attr not in FIELDS:
        raise InvalidInputError(f"'{text}': contents have {', '.join(FIELDS)}")
    return SharedValues(text.strip(), tree.value.id, tree.attr)


def _read(table: Table, name: str) -> SharedContents:
    if not name.isidentifier():
        raise table.error(name, "a name has letters, digits and _ only")
    text = table.text(name)
    return SharedContents(name, text, tuple(table.parse_text(name, lambda t: tuple(_parameters(t)), text)))


def _parameters(text: str) -> Iterator[Expression]:
    match parsed(text):
        case ast.Call(func=ast.Name(id=name), args=[*arguments], keywords=[]) if name == _MAKER:
            if len(arguments) == len(_PARAMETERS):
                return (checked_expression(argument, text) for argument in arguments)
    raise InvalidInputError(f"'{text}' must have the form {_FORM}")
