"""A module that LLVM gives back: what is unchanged in it stays the object that it was.

    given              given back
    %i = load …        %i = load …             the same instruction, with its operands, in the new function
    %c = icmp …        %c = icmp … true        a new one, which takes over the uses of the old one
    br label %left                             forgotten

Most lines come back from the passes of the normal form as they were, and what they say is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coarsen.errors import InternalError
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Callee, Named, Variable
from coarsen.ir.types import VoidType

Lines = dict[str, Instruction]
"""A function's instructions by their text, without metadata."""


class FormerFunction:
    """A function before LLVM had it, which is taken apart: whoever owned it gives it away.

    Args:
        function: owned; None where nothing is known.
        lines: its instructions.

    Raises:
        InternalError: it was taken apart before.
    """

    def __init__(self, function: Function | None = None, lines: Lines | None = None) -> None:
        self._lines: Lines = lines or {}
        self._arguments = {argument.name: argument for argument in function.arguments} if function else {}
        self._blocks = {block.name: block for block in function.blocks} if function else {}
        self._instructions: list[Instruction] = []
        for block in self._blocks.values():
            if block.function is not function:
                raise InternalError(f"the block '{block.name}' stands in what LLVM has given back already")
            self._instructions += block.take_from(0)
            block.function = None

    def argument(self, argument: Argument) -> Argument:
        """Return what was an argument of this name and type, with the attributes that it has now."""
        known = self._arguments.get(argument.name)
        if known is None or known.type != argument.type:
            return argument
        known.attributes = argument.attributes
        return known

    def block(self, name: str) -> Block:
        """Return the block of a name, which holds nothing."""
        return self._blocks.get(name) or Block(name)

    def instruction(self, text: str) -> Instruction | None:
        """Return the instruction of a line, each once."""
        known = self._lines.pop(text, None)
        if known is not None and isinstance(known.type, VoidType):
            known.name = ""
        return known

    def forget(self, defined: Mapping[str, Named]) -> None:
        """Take out what is not there any more, once all that is stands in its place.

        Args:
            defined: the arguments and results that are there now, by name.
        """
        gone = [instruction for instruction in self._instructions if instruction.block is None]
        for instruction in gone:
            instruction.drop_references()
        self._replace(gone, defined)
        self._replace(self._arguments.values(), defined)

    @staticmethod
    def _replace(former: Iterable[Named], defined: Mapping[str, Named]) -> None:
        for named in former:
            now = defined.get(named.name)
            if named.uses and now is not named:
                if now is None:
                    raise InternalError(f"'{named.name}' is used and not there any more")
                named.replace_all_uses(now)


class FormerModule:
    """A module before LLVM had it, which is taken apart: whoever owned it gives it away.

    Args:
        module: owned; None where nothing is known.
        lines: of each of its functions.
    """

    def __init__(self, module: Module | None = None, lines: Mapping[str, Lines] | None = None) -> None:
        if module:
            module.check_owned()
        self._variables = module.variables if module else {}
        self._callees = module.callees if module else {}
        self._functions = module.functions if module else {}
        self._lines = lines or {}

    def function(self, name: str) -> FormerFunction:
        """Return a function, of which there may be nothing; to be asked for once."""
        return FormerFunction(self._functions.get(name), self._lines.get(name))

    def variable(self, name: str, address_space: int, definition: str) -> Variable:
        """Return a program-scope variable, as it is defined now."""
        known = self._variables.get(name)
        if known is None or known.address_space != address_space:
            return Variable(name, address_space, definition)
        known.definition = definition
        return known

    def callee(self, name: str, declaration: str) -> Callee:
        """Return a function to call, as it is declared now."""
        known = self._callees.get(name)
        if known is None:
            return Callee(name, declaration)
        known.declaration = declaration
        return known
