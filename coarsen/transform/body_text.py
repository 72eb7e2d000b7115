"""A kernel's body as LLVM prints it, cut into blocks and lines.

What only looks for equal texts needs no more than this, and it is a tenth of the work of reading an `ir.Kernel`.
The module is expected in normal form: every value and block has a name, and no name needs quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow
from coarsen.errors import InternalError
from coarsen.ir.kernel import Block, Instruction, Kernel
from coarsen.ir.types import VoidType

_NAME = re.compile(r"%([-a-zA-Z$._0-9]+)")
_BEFORE_CALL = ("tail", "musttail", "notail")
_TARGET = re.compile(r"label %([-a-zA-Z$._0-9]+)")
_VOID = VoidType()


@dataclass(frozen=True, slots=True)
class Line:
    """One instruction.

    Attributes:
        name: of its result; empty if it has none.
        opcode: `call` whatever stands before it.
        text: what stands behind the `=`.
        operands: the names of values, blocks and structures in the text.
    """

    name: str
    opcode: str
    text: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"%{self.name} = {self.text}" if self.name else self.text


def read_line(name: str, text: str) -> Line:
    """A line by the name of its result and the text behind the `=`."""
    opcode, _, rest = text.partition(" ")
    if opcode in _BEFORE_CALL:
        opcode = rest.partition(" ")[0]
    return Line(name, opcode, text, tuple(_NAME.findall(text)))


@dataclass(frozen=True)
class BodyText:
    """A module's text around a kernel's body, and the lines of each block, entry first."""

    before: str
    blocks: tuple[tuple[str, tuple[Line, ...]], ...]
    after: str

    @cached_property
    def control_flow(self) -> ControlFlow:
        """The control flow of the body."""
        blocks = tuple(Block(name, (_terminator(lines[-1]),)) for name, lines in self.blocks)
        return ControlFlow(Kernel("", (), blocks, "", {}, {}, "", ""))

    @cached_property
    def definition(self) -> dict[str, Line]:
        """The lines with a result, by its name."""
        return {line.name: line for line in self.lines() if line.name}

    @cached_property
    def use_count(self) -> dict[str, int]:
        """How often each name stands in the body as an operand."""
        counts: dict[str, int] = {}
        for line in self.lines():
            for name in line.operands:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def lines(self) -> Iterator[Line]:
        """All lines, block by block."""
        for _, lines in self.blocks:
            yield from lines

    def with_blocks(self, blocks: Iterable[tuple[str, Iterable[Line]]]) -> str:
        """The module's text with another body."""
        written = (f"{name}:\n" + "".join(f"  {line}\n" for line in lines) for name, lines in blocks)
        return f"{self.before}{''.join(written)}{self.after}"


def cut_body(assembly: str, kernel: str) -> BodyText:
    """Cut a module's text around a kernel's body. Raises InternalError if the kernel is not in it."""
    match = re.search(rf'^define [^\n]*@"?{re.escape(kernel)}"?\([^\n]*\{{\n', assembly, re.MULTILINE)
    if match is None:
        raise InternalError(f"kernel '{kernel}' is not in the printed module")
    end = assembly.index("\n}\n", match.end()) + 1
    return BodyText(assembly[: match.end()], tuple(_blocks(assembly[match.end() : end])), assembly[end:])


def _blocks(body: str) -> Iterator[tuple[str, tuple[Line, ...]]]:
    name, lines = "", list[Line]()
    for text in body.splitlines():
        stripped = text.strip()
        if text[:1] not in (" ", ""):
            if lines:
                yield name, tuple(lines)
            name, lines = stripped.partition(":")[0], []
        elif stripped and not stripped.startswith((";", "#dbg_")):
            lines.append(_line(stripped))
    yield name, tuple(lines)


def _line(text: str) -> Line:
    if not text.startswith("%"):
        return read_line("", text)
    name, _, rest = text.partition(" = ")
    return read_line(name[1:], rest)


def _terminator(line: Line) -> Instruction:
    return Instruction("", line.opcode, _VOID, (), line.text, targets=tuple(_TARGET.findall(line.text)))
