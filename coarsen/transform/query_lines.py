"""Instructions that ask for ids and sizes and compute with them, collected as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.names import mangled_name
from coarsen.ir.opencl.queries import Query
from coarsen.transform.names import NameSupply

_ATTRIBUTES = "nounwind willreturn memory(none)"


@dataclass
class QueryLines:
    """Collects instructions of one place in a kernel; each method gives its result's name, with `%`.

    Attributes:
        kernel: the kernel that they are for.
        names: free names in it.
        lines: what was written so far.
        called: the queries that were called so far; shared by all places of a kernel.
    """

    kernel: Kernel
    names: NameSupply
    lines: list[str] = field(default_factory=list)
    called: set[Query] = field(default_factory=set)

    def elsewhere(self) -> QueryLines:
        """Further instructions of the same kernel, at another place."""
        return QueryLines(self.kernel, self.names, called=self.called)

    @property
    def integer(self) -> str:
        """The type of `size_t`: 64 bits unless the module is for 32-bit SPIR."""
        return size_type(self.kernel)

    def query(self, query: Query, dimension: int) -> str:
        """What the launch says along a dimension."""
        self.called.add(query)
        return self.instruction(call_of(query, str(dimension), self.integer), "call")

    def position(self, dimension: int) -> str:
        """The global id without its offset."""
        place, offset = self.query(Query.GLOBAL_ID, dimension), self.query(Query.GLOBAL_OFFSET, dimension)
        return self.operation("sub", place, offset, "position")

    def operation(self, opcode: str, left: str, right: str, wanted: str) -> str:
        """An operation on two values of the type of `size_t`, or a comparison of them."""
        return self.instruction(f"{opcode} {self.integer} {left}, {right}", wanted)

    def instruction(self, text: str, wanted: str) -> str:
        """Any other instruction; its result gets the wanted name if that is free."""
        name = self.names.fresh(wanted)
        self.lines.append(f"%{name} = {text}")
        return f"%{name}"


def size_type(kernel: Kernel) -> str:
    """The type of `size_t` as an id is returned: 64 bits unless the module is for 32-bit SPIR."""
    return "i32" if 'target triple = "spir-' in kernel.before else "i64"


def call_of(query: Query, dimension: str, integer: str) -> str:
    """The call of a query for a dimension, as spelled; `integer` is the type of `size_t`."""
    return f"call spir_func {integer} @{_callee(query)}(i32 {dimension}) {_ATTRIBUTES}"


def declarations(kernel: Kernel, called: Iterable[Query], integer: str) -> Iterator[str]:
    """The `declare` lines for queries of one dimension that a kernel did not call before."""
    known = kernel.before + kernel.after
    for query in sorted(called, key=lambda query: query.value):
        if f"@{_callee(query)}(" not in known:
            yield f"declare spir_func {integer} @{_callee(query)}(i32) {_ATTRIBUTES}"


def _callee(query: Query) -> str:
    return mangled_name(query.value, "j")
