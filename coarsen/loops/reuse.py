"""Reuse: how often accesses of a nest come back to the same element: section 5.1 of the paper, condition (1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.loops.nest import Access, Nest, Statement


@dataclass(frozen=True)
class Reuse:
    """The reuse of an access.

    Attributes:
        rank: of the iterators' columns of its matrix; those of parameters don't count, since they stay the same.
        depth: the number of iterators.
        redundant: the iterators that don't occur in it.
        neighbours: the number of accesses of the array in the statement, itself among them, that differ from it by
            numbers alone: constant reuse, as stencils have it.
    """

    rank: int
    depth: int
    redundant: tuple[str, ...]
    neighbours: int

    @property
    def is_higher_order(self) -> bool:
        """Return True if an element is accessed again along a whole loop, or a combination of loops."""
        return self.rank < self.depth


def reuse_of(access: Access, statement: Statement, fixed: Collection[str] = ()) -> Reuse:
    """Return the reuse of an access of a statement, in one iteration of the loops over the `fixed` iterators."""
    iterators = tuple(name for name in statement.iterators if name not in fixed)
    linear = iterator_columns(access, iterators)
    rank = int(np.linalg.matrix_rank(np.array(linear))) if linear and iterators else 0
    redundant = tuple(name for column, name in enumerate(iterators) if not any(row[column] for row in linear))
    alike = [
        other
        for other in statement.accesses
        if other.array == access.array
        and all((one - two).is_constant for one, two in zip(access.subscripts, other.subscripts, strict=True))
    ]
    shifts = {tuple(form.constant_part for form in other.subscripts) for other in alike}
    return Reuse(rank, len(iterators), redundant, len(shifts))


def iterator_columns(access: Access, iterators: Sequence[str]) -> list[list[int]]:
    """Return the columns of an access matrix that belong to iterators, a row for each subscript."""
    return [[form.terms.get((name,), 0) for name in iterators] for form in access.subscripts]


def domain_matrix(nest: Nest, statement: Statement) -> tuple[tuple[int, ...], ...]:
    """Return the matrix D of a domain: each row times (iterators, parameters, 1) is at least 0.

    Rows are in isl's order. A domain that is no single polytope without quotients has none: the result is empty.
    """
    # Imported late: ranks alone do without.
    import islpy as isl

    columns = (*statement.iterators, *nest.parameters)
    parts = isl.Set(nest.domain(statement)).coalesce().get_basic_sets()
    if len(parts) != 1 or parts[0].dim(isl.dim_type.div):
        return ()
    rows: list[tuple[int, ...]] = []
    for constraint in parts[0].get_constraints():
        named = constraint.get_coefficients_by_name()
        row = tuple(int(named.get(name, isl.Val(0)).to_python()) for name in columns)
        whole = (*row, int(named.get(1, isl.Val(0)).to_python()))
        rows += [whole, tuple(-number for number in whole)] if constraint.is_equality() else [whole]
    return tuple(rows)
