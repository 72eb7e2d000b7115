"""The text of calls that ask for ids and sizes; `queries.py` builds such calls into the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.names import mangled_name
from coarsen.ir.opencl.queries import Query

ATTRIBUTES = "nounwind willreturn memory(none)"


def size_type(kernel: Kernel) -> str:
    """The type of `size_t` as an id is returned: 64 bits unless the module is for 32-bit SPIR."""
    return "i32" if 'target triple = "spir-' in kernel.before else "i64"


def call_of(query: Query, dimension: str, integer: str) -> str:
    """The call of a query for a dimension, as spelled; `integer` is the type of `size_t`."""
    return f"call spir_func {integer} @{_callee(query)}(i32 {dimension}) {ATTRIBUTES}"


def declarations(kernel: Kernel, called: Iterable[Query], integer: str) -> Iterator[str]:
    """The `declare` lines for queries of one dimension that a kernel did not call before."""
    known = kernel.before + kernel.after
    for query in sorted(called, key=lambda query: query.value):
        if f"@{_callee(query)}(" not in known:
            yield declaration(query, integer)


def declaration(query: Query, integer: str) -> str:
    """Return the `declare` line of a query of one dimension; `integer` is the type of `size_t`."""
    return f"declare spir_func {integer} @{_callee(query)}(i32) {ATTRIBUTES}"


def _callee(query: Query) -> str:
    return mangled_name(query.value, "j")
