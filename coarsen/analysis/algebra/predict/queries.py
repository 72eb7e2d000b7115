"""What OpenCL's queries of the NDRange give, as polynomials over ids and sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.algebra.predict.symbols import global_id, local_id
from coarsen.ir.kernel import Instruction
from coarsen.ir.opencl.queries import LINEAR_PARTS, Query, linear_id, queried_dimension, query_of

_IDS: Mapping[Query, Callable[[int], str]] = {
    Query.GLOBAL_ID: global_id,
    Query.LOCAL_ID: local_id,
    Query.GROUP_ID: "group_id({})".format,
}
_DIMENSIONS = 3


def _symbol(query: Query, dimension: int) -> str:
    return _IDS.get(query, (query.value + "({})").format)(dimension)


_QUERIES: Mapping[str, tuple[Query, int]] = {
    _symbol(query, dimension): (query, dimension)
    for query in Query
    if query.has_dimension
    for dimension in range(_DIMENSIONS)
}


def query_form(call: Instruction) -> Polynomial | None:
    """Return the polynomial of a query; None for another call, and where the dimension is not known."""
    query = query_of(call)
    if query is None:
        return None
    if query.is_linear:
        return _linear(query)
    dimension = queried_dimension(call)
    return answer(query, dimension) if dimension is not None else None


def answer(query: Query, dimension: int) -> Polynomial:
    """Return what a query gives along a dimension (0, 1 or 2): an id, or a size by its function's name."""
    return Polynomial.symbol(_symbol(query, dimension))


def queried(symbol: str) -> tuple[Query, int] | None:
    """Return the query whose answer a symbol is, and its dimension; None for any other symbol."""
    return _QUERIES.get(symbol)


def _linear(query: Query) -> Polynomial:
    """Return a linear id; of global ids the launch's offset does not count."""
    identity, size = LINEAR_PARTS[query]

    def place(dimension: int) -> Polynomial:
        found = answer(identity, dimension)
        return found - answer(Query.GLOBAL_OFFSET, dimension) if identity is Query.GLOBAL_ID else found

    return linear_id(place, lambda dimension: answer(size, dimension), Polynomial.__mul__, Polynomial.__add__)
