"""Operands in LLVM's text: values by name, also before they are defined, and constants of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from coarsen.errors import InternalError
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.operands import Callee, Constant, Named, Operand, ValueKind, Variable
from coarsen.ir.graph.scanner import Scanner
from coarsen.ir.types import Type

_LOCAL = re.compile(r"%[-a-zA-Z$._0-9]+")
_GLOBAL = re.compile(r'@(?:[-a-zA-Z$._0-9]+|"[^"]*")')
_LITERAL = re.compile(r"[-+]?[\w.+-]+")
_STRING = re.compile(r'c"[^"]*"')
# A string may hold what looks like a variable.
_STRING_OR_GLOBAL = re.compile(rf"{_STRING.pattern}|(?P<global>{_GLOBAL.pattern})")
_METADATA = re.compile(r'!(?:\d+|"[^"]*")')
_ASSEMBLER = re.compile(r'asm (?:\w+ )*"[^"]*", "[^"]*"')
_EXPRESSION = re.compile(
    r"(?:getelementptr|ptrtoint|ptrtoaddr|inttoptr|bitcast|addrspacecast|trunc|splat|add|sub|mul|xor|shl"
    r"|extractelement|insertelement|shufflevector)"
    r"(?: \w+(?:\([^)]*\))?)* (?=\()"
)
WORDS_OF_CONSTANTS = frozenset(
    {"true", "false", "null", "undef", "poison", "zeroinitializer", "none"}
    | {"getelementptr", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast", "trunc", "splat"}
    | {"add", "sub", "mul", "xor", "shl", "extractelement", "insertelement", "shufflevector"}
    | {"c", "asm"}
)


class _Later(Named):
    """A value that is used before the line that defines it."""

    __slots__ = ()
    kind = ValueKind.INSTRUCTION


class ValueParser:
    """Finds operands by their names in one function.

    Args:
        program_scope: the module's variables and functions, by name.
    """

    def __init__(self, program_scope: Mapping[str, Variable | Callee]) -> None:
        self._program_scope = program_scope
        self._local: dict[str, Named] = {}
        self._later: dict[str, _Later] = {}
        self._blocks: dict[str, Block] = {}
        self._constants: dict[tuple[Type, str], Constant] = {}

    def define(self, value: Named) -> None:
        """Take a value for what its name means, also where it was used before."""
        self._local[value.name] = value
        if value.name in self._later:
            for use in list(self._later.pop(value.name).uses):
                use.user.set_operand(use.slot, value)

    def add_block(self, block: Block) -> None:
        """Let a block be found."""
        self._blocks[block.name] = block

    def check_complete(self) -> None:
        """Raise InternalError if a value was used that no line defined."""
        if self._later:
            raise InternalError(f"the value '{next(iter(self._later))}' is used and not defined")

    def block(self, line: Scanner) -> Block:
        """Read a block's name."""
        name = line.matched(_LOCAL)[1:]
        if name not in self._blocks:
            raise line.unexpected()
        return self._blocks[name]

    def typed(self, line: Scanner) -> Operand:
        """Read a type and an operand."""
        return self.operand(line, line.type())

    def operand(self, line: Scanner, type_: Type) -> Operand:
        """Read an operand of a type that is known."""
        first = line.text[line.position : line.position + 1]
        if first == "%":
            return self._named(line.matched(_LOCAL)[1:], type_)
        if first == "@":
            return self._of_program(line, line.matched(_GLOBAL))
        return self._constant(line, type_, constant_text(line))

    def _named(self, name: str, type_: Type) -> Named:
        found = self._local.get(name)
        if found is None:
            found = self._later.setdefault(name, _Later(type_, name))
        return found

    def _of_program(self, line: Scanner, spelling: str) -> Named:
        name = spelling[1:].strip('"')
        if name not in self._program_scope:
            raise line.refused(f"'{spelling}' is neither a variable nor a function")
        return self._program_scope[name]

    def _constant(self, line: Scanner, type_: Type, text: str) -> Constant:
        known = self._constants.get((type_, text))
        if known is None:
            if "blockaddress" in text:
                raise line.refused("addresses of blocks are not supported")
            known = self._constants[type_, text] = Constant(type_, *self._parts(line, text))
        return known

    def _parts(self, line: Scanner, text: str) -> Iterator[str | Named]:
        """Cut a constant's text where it names variables or functions."""
        position = 0
        for match in _STRING_OR_GLOBAL.finditer(text) if "@" in text and not text.startswith("asm") else ():
            if match["global"]:
                yield text[position : match.start()]
                yield self._of_program(line, match["global"])
                position = match.end()
        yield text[position:]


def constant_text(line: Scanner) -> str:
    """Read a constant after its type, and return it as it is spelled. Raises RefusalError if none comes next."""
    start = line.position
    first = line.text[start : start + 1]
    if first == "-" or first.isdigit():
        return line.matched(_LITERAL)
    if first in ("<", "[", "{"):
        return line.bracketed()
    if first == "c" and line.text.startswith('c"', start):
        return line.matched(_STRING)
    if line.text.startswith("asm ", start):
        return line.matched(_ASSEMBLER)
    if first == "!":
        return line.matched(_METADATA)
    expression = _EXPRESSION.match(line.text, start)
    if expression is not None:
        line.position = expression.end()
        return expression.group() + line.bracketed()
    return line.matched(_LITERAL)
