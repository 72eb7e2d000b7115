"""Functions of one block, built for tests of value numbering."""

from __future__ import annotations

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument
from coarsen.ir.graph.origin import UNKNOWN
from coarsen.ir.types import IntegerType, PointerType, Type
from coarsen.transform.value_numbering.shared_values import share_values
from tests.ir.graph.check import check_function

NARROW, WIDE = IntegerType(32), IntegerType(64)
ARGUMENTS: dict[str, Type] = {"a": NARROW, "b": NARROW, "c": NARROW, "n": WIDE, "m": WIDE, "p": PointerType(1)}


class StraightLine:
    """A function with the arguments above and one block, to which `build` appends."""

    def __init__(self) -> None:
        self.function = Function("k")
        self.function.arguments += [Argument(type_, name) for name, type_ in ARGUMENTS.items()]
        self.block = self.function.append(Block("entry"))
        self.build = Builder(self.block, UNKNOWN)

    def argument(self, name: str) -> Argument:
        """Return an argument by its name."""
        return self.function.arguments[list(ARGUMENTS).index(name)]

    def number_values(self, declarations: str = "") -> None:
        """End the block, check the links before and after, and share values.

        Args:
            declarations: LLVM's `declare` lines of what is called.
        """
        self.build.return_nothing()
        make_names_unique(self.function)
        check_function(self.function)
        module = parse_module(declarations)
        module.functions["k"] = self.function
        share_values(module, "k")
        check_function(self.function)
