"""A line of LLVM's text, read from left to right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from coarsen.errors import InternalError, RefusalError
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.operands import Callee, Constant, Named, Operand, ValueKind, Variable
from coarsen.ir.types import StructType, Type, parse_type, type_at

_WORD = re.compile(r"[a-zA-Z_.][-\w.]*")
_NUMBER = re.compile(r"-?\d+")
_PLAIN_TYPE = re.compile(
    r"(?:i\d+|float|double|half|void|ptr(?: addrspace\(\d+\))?"
    r"|<\d+ x (?:i\d+|float|double|half)>|\[\d+ x (?:i\d+|float|double|half)\])(?=[ ,)]|$)"
)
_TYPE_START = re.compile(
    r"(?:i\d+|half|bfloat|float|double|fp128|x86_\w+|ptr|void|target|label|token|metadata)\b|[<\[{%]"
)
_BRACKETS = re.compile(r'"[^"]*"|[(\[{<>}\])]')
_PROPERTY = re.compile(r'(?:[^",]|"[^"]*")+')
_QUOTED_ATTRIBUTE = re.compile(r'"[^"]*"(?:="[^"]*")?')
_OPENING = frozenset("([{<")


class Scanner:
    """A line and the position up to which it is read.

    Attributes:
        text: the line.
        position: of the next character.
        structures: the module's named structure types.
    """

    __slots__ = ("position", "structures", "text")

    def __init__(self, text: str, structures: Mapping[str, StructType]) -> None:
        self.text = text
        self.position = 0
        self.structures = structures

    @property
    def rest(self) -> str:
        """Return what is not read yet."""
        return self.text[self.position :]

    def take(self, expected: str) -> bool:
        """Read past a text if it comes next, and past the space after it."""
        text, position = self.text, self.position
        if not text.startswith(expected, position):
            return False
        position += len(expected)
        self.position = position + 1 if text[position : position + 1] == " " else position
        return True

    def expect(self, expected: str) -> None:
        """Read past a text. Raises RefusalError if something else comes next."""
        if not self.take(expected):
            raise self.unexpected()

    def peek_word(self) -> str:
        """Return the word that comes next, or nothing."""
        match = _WORD.match(self.text, self.position)
        return match.group() if match else ""

    def word(self) -> str:
        """Read a word. Raises RefusalError if none comes next."""
        return self.matched(_WORD)

    def words_of(self, known: frozenset[str]) -> tuple[str, ...]:
        """Read words for as long as they are among known ones."""
        found: list[str] = []
        while (word := self.peek_word()) in known:
            found.append(word)
            self._go_to(self.position + len(word))
        return tuple(found)

    def number(self) -> int:
        """Read a decimal number. Raises RefusalError if none comes next."""
        return int(self.matched(_NUMBER))

    def matched(self, pattern: re.Pattern[str]) -> str:
        """Read what a pattern matches. Raises RefusalError if it doesn't match here."""
        text = self.text
        match = pattern.match(text, self.position)
        if match is None:
            raise self.unexpected()
        end = match.end()
        self.position = end + 1 if text[end : end + 1] == " " else end
        return match.group()

    def type(self) -> Type:
        """Read a type. Raises RefusalError if none comes next."""
        match = _PLAIN_TYPE.match(self.text, self.position)
        if match is not None:
            self._go_to(match.end())
            return _plain_type(match.group())
        try:
            found, end = type_at(self.text, self.position, self.structures)
        except ValueError:
            raise self.unexpected() from None
        self._go_to(end)
        return found

    def comes_type(self) -> bool:
        """Return whether a type comes next."""
        return _TYPE_START.match(self.text, self.position) is not None

    def bracketed(self) -> str:
        """Read from an opening bracket to the one that closes it, and return both with what is between."""
        start, depth = self.position, 0
        for match in _BRACKETS.finditer(self.text, start):
            mark = match.group()
            if mark.startswith('"'):
                continue
            depth += 1 if mark in _OPENING else -1
            if depth == 0:
                self._go_to(match.end())
                return self.text[start : match.end()]
        raise self.unexpected()

    def attributes(self, ends: frozenset[str] = frozenset()) -> str:
        """Read the attributes before a type or a value, such as `noundef align 4 "key"="value"`.

        Args:
            ends: the words that are no attributes.
        """
        start = self.position
        while self._take_attribute(ends):
            pass
        return self.text[start : self.position].strip()

    def _take_attribute(self, ends: frozenset[str]) -> bool:
        if self.text.startswith('"', self.position):
            self.matched(_QUOTED_ATTRIBUTE)
            return True
        word = self.peek_word()
        if not word or word in ends or self.comes_type():
            return False
        end = self.position + len(word)
        self.position = end
        if self.text.startswith("(", end):
            self.bracketed()
        else:
            self._go_to(end)
            if word in ("align", "cc"):
                self.number()
        return True

    def property(self) -> str:
        """Read up to the next comma that stands in no string."""
        return self.matched(_PROPERTY)

    def up_to(self, end: str) -> str:
        """Read up to a text that is left unread, or to the end of the line."""
        start, found = self.position, self.text.find(end, self.position)
        self.position = found if found >= 0 else len(self.text)
        return self.text[start : self.position]

    def unexpected(self) -> RefusalError:
        """Return the error that says where reading ended."""
        return self.refused(f"LLVM IR that is not supported, at '{self.rest}'")

    def refused(self, reason: str) -> RefusalError:
        """Return the error that gives a reason and the line."""
        return RefusalError("unsupported-instruction", f"{reason} of '{self.text}'")

    def _go_to(self, position: int) -> None:
        self.position = position + 1 if self.text.startswith(" ", position) else position


@lru_cache(maxsize=1024)
def _plain_type(text: str) -> Type:
    return parse_type(text)


# Operands in LLVM's text: values by name, also before they are defined, and constants of any kind.

_LOCAL = re.compile(r"%[-a-zA-Z$._0-9]+")
_GLOBAL = re.compile(r'@(?:[-a-zA-Z$._0-9]+|"[^"]*")')
_LITERAL = re.compile(r"[-+]?[\w.+-]+")
_STRING = re.compile(r'c"[^"]*"')
# A string may hold what looks like a variable.
_STRING_OR_GLOBAL = re.compile(rf"{_STRING.pattern}|(?P<global>{_GLOBAL.pattern})")
_METADATA = re.compile(r'!(?:\d+|"[^"]*")')
_ASSEMBLER = re.compile(r'asm (?:\w+ )*"[^"]*", "[^"]*"')
_OPERATIONS = (
    *("getelementptr", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast", "trunc", "splat"),
    *("add", "sub", "mul", "xor", "shl", "extractelement", "insertelement", "shufflevector"),
)
_EXPRESSION = re.compile(rf"(?:{'|'.join(_OPERATIONS)})(?: \w+(?:\([^)]*\))?)* (?=\()")
WORDS_OF_CONSTANTS = frozenset(
    {*_OPERATIONS, "true", "false", "null", "undef", "poison", "zeroinitializer", "none", "c", "asm"}
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
