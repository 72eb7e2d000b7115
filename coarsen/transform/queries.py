"""Calls that ask the launch for ids and sizes, and arithmetic on the answers, built into a function."""

from __future__ import annotations

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.display_name import NewName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Callee, Operand
from coarsen.ir.opencl.names import mangled_name
from coarsen.ir.opencl.queries import Query
from coarsen.ir.types import IntegerType
from coarsen.transform.names import TEMPORARY, own

_ATTRIBUTES = "nounwind willreturn memory(none)"
_DIMENSION = IntegerType(32)


class Queries:
    """Builds queries into one module, all of `size_t`; names that are given are wishes.

    Attributes:
        integer: the type of `size_t`.
    """

    def __init__(self, module: Module) -> None:
        self.integer = module.size_type
        self._module = module
        self._called: dict[Query, Callee] = {}

    def ask(self, build: Builder, query: Query, dimension: int, name: NewName = TEMPORARY) -> Instruction:
        """Ask what the launch says along a dimension."""
        return self.ask_along(build, query, number(_DIMENSION, dimension), name)

    def ask_along(self, build: Builder, query: Query, dimension: Operand, name: NewName) -> Instruction:
        """Ask what the launch says along a dimension that may be known only at run time."""
        return build.call(self._callee(query), self.integer, [dimension], name, _ATTRIBUTES)

    def position(self, build: Builder, dimension: int) -> Instruction:
        """Compute the global id without its offset."""
        place = self.ask(build, Query.GLOBAL_ID, dimension)
        return build.binary(Opcode.SUB, place, self.ask(build, Query.GLOBAL_OFFSET, dimension), own("position"))

    def constant(self, value: int) -> Operand:
        """Return a number of the type of `size_t`."""
        return number(self.integer, value)

    def declare(self) -> None:
        """Declare what was called and the module had not declared; to be done at the end."""
        self._module.declare(self._called[query] for query in sorted(self._called, key=lambda query: query.value))

    def _callee(self, query: Query) -> Callee:
        name = mangled_name(query.value, "j")
        known = self._module.callees.get(name) or self._called.get(query)
        if known is None:
            declaration = f"declare spir_func {self.integer} @{name}(i32) {_ATTRIBUTES}"
            known = self._called[query] = Callee(name, declaration)
        return known
