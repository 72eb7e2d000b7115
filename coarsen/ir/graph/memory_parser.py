"""Lines of instructions that reserve, address, read or write memory."""

from __future__ import annotations

import re

from coarsen.ir.graph.details import Access, Allocation, AtomicUpdate, ElementAddress
from coarsen.ir.graph.parsed_parts import FLAGS, Parts, typed_operands
from coarsen.ir.graph.result_types import pointer_like
from coarsen.ir.graph.scanner import Scanner
from coarsen.ir.graph.value_parser import ValueParser
from coarsen.ir.types import IntegerType, PointerType, StructType

_ORDERINGS = frozenset({"unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"})
_SCOPE = re.compile(r'syncscope\("[^"]*"\)')


def element_address(line: Scanner, values: ValueParser, parts: Parts) -> None:
    """Read a `getelementptr`."""
    parts.flags = line.words_of(FLAGS)
    parts.detail = ElementAddress(line.type())
    line.expect(",")
    parts.operands = typed_operands(line, values)
    parts.type = pointer_like(operand.type for operand in parts.operands)


def allocation(line: Scanner, values: ValueParser, parts: Parts) -> None:
    """Read an `alloca`."""
    type_, alignment, space = line.type(), 0, 0
    while line.take(","):
        if line.take("align "):
            alignment = line.number()
        elif line.take("addrspace("):
            space = line.number()
            line.expect(")")
        else:
            parts.operands.append(values.typed(line))
    parts.detail = Allocation(type_, alignment)
    parts.type = PointerType(space)


def load(line: Scanner, values: ValueParser, parts: Parts) -> None:
    """Read a `load`."""
    is_volatile = _is_volatile(line)
    parts.type = line.type()
    line.expect(",")
    parts.operands = [values.typed(line)]
    parts.detail = _access(line, is_volatile)


def store(line: Scanner, values: ValueParser, parts: Parts) -> None:
    """Read a `store`."""
    is_volatile = _is_volatile(line)
    stored = values.typed(line)
    line.expect(",")
    parts.operands = [stored, values.typed(line)]
    parts.detail = _access(line, is_volatile)


def _is_volatile(line: Scanner) -> bool:
    line.take("atomic ")
    return line.take("volatile ")


def _access(line: Scanner, is_volatile: bool) -> Access:
    scope = line.matched(_SCOPE)[len('syncscope("') : -2] if line.peek_word() == "syncscope" else ""
    ordering = line.word() if line.peek_word() in _ORDERINGS else ""
    return Access(_alignment(line), is_volatile, ordering, scope)


def _alignment(line: Scanner) -> int:
    return line.number() if line.take(", align ") else 0


def update(line: Scanner, values: ValueParser, parts: Parts) -> None:
    """Read an `atomicrmw`."""
    is_volatile = line.take("volatile ")
    operation = line.word()
    parts.operands = typed_operands(line, values)
    parts.type = parts.operands[1].type
    parts.detail = AtomicUpdate(_access(line, is_volatile), operation)


def exchange(line: Scanner, values: ValueParser, parts: Parts) -> None:
    """Read a `cmpxchg`."""
    is_weak, is_volatile = line.take("weak "), line.take("volatile ")
    parts.operands = typed_operands(line, values)
    parts.type = StructType("", (parts.operands[1].type, IntegerType(1)))
    scope = line.matched(_SCOPE)[len('syncscope("') : -2] if line.peek_word() == "syncscope" else ""
    success, failure = line.word(), line.word()
    access = Access(_alignment(line), is_volatile, success, scope)
    parts.detail = AtomicUpdate(access, failure=failure, is_weak=is_weak)


def fence(line: Scanner, _values: ValueParser, parts: Parts) -> None:
    """Read a `fence`."""
    parts.detail = _access(line, is_volatile=False)
