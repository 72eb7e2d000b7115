"""One instruction's line to the graph, its metadata apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from coarsen.ir.graph.builder import compared, element_of, pointer_like, shuffled, within
from coarsen.ir.graph.details import (
    BINARY,
    CASTS,
    COMPARISONS,
    Access,
    Allocation,
    AtomicUpdate,
    CallSite,
    Comparison,
    Detail,
    ElementAddress,
    Indices,
    Opcode,
)
from coarsen.ir.graph.instruction import Attachment, Block, Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.graph.scanner import WORDS_OF_CONSTANTS, Scanner, ValueParser
from coarsen.ir.types import IntegerType, PointerType, StructType, Type, VoidType

_TAILS = frozenset({"tail", "musttail", "notail"})
_CONVENTIONS = frozenset({"spir_func", "spir_kernel", "fastcc", "coldcc"})


# What a line says is collected from left to right.

FAST_MATH = frozenset({"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"})
FLAGS = FAST_MATH | {"nsw", "nuw", "exact", "inbounds", "disjoint", "nneg", "samesign", "nusw"}
_VOID = VoidType()


@dataclass
class Parts:
    """The parts of an instruction, its name and attachments apart."""

    type: Type = _VOID
    operands: list[Operand] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    flags: tuple[str, ...] = ()
    detail: Detail = None


_Reader = Callable[[Scanner, ValueParser, Parts], None]


def parse_instruction(text: str, values: ValueParser, structures: dict[str, StructType]) -> Instruction:
    """Parse a line as LLVM prints it.

    Args:
        text: without indentation and metadata.
        values: of the function; it is told of the instruction's result.
        structures: the module's named types.

    Raises:
        RefusalError: `unsupported-instruction`.
    """
    name, equals, line = text.partition(" = ") if text.startswith("%") else ("", "", text)
    scanner = Scanner(line, structures)
    word, tail = scanner.word(), ""
    if word in _TAILS:
        word, tail = scanner.word(), word
    opcode = _OPCODES.get(word)
    if opcode is None:
        raise scanner.unexpected()
    parts = Parts() if opcode is not Opcode.CALL else Parts(detail=CallSite(tail=tail))
    _READERS[opcode](scanner, values, parts)
    if scanner.position < len(line):
        raise scanner.unexpected()
    instruction = Instruction(
        opcode, parts.type, parts.operands, name[1:], blocks=parts.blocks, flags=parts.flags, detail=parts.detail
    )
    if equals:
        values.define(instruction)
    return instruction


_ATTACHMENTS = re.compile(r"(?:, ![\w.]+ !\d+)+$")
_ATTACHMENT = re.compile(r"!([\w.]+) (!\d+)")
_TAG = re.compile(r'"[^"]*"')


def split_attachments(line: str) -> tuple[str, list[Attachment]]:
    """Return a line, of an instruction or a variable, without the metadata at its end, and that."""
    first = line.find(", !")
    if first < 0:
        return line, []
    # Mostly all begins with what looks like metadata first: no operand does.
    end = _ATTACHMENTS.match(line, first) or _ATTACHMENTS.search(line, first)
    return (line[: end.start()], _ATTACHMENT.findall(end.group())) if end else (line, [])


def split_location(line: str) -> tuple[str, str, tuple[Attachment, ...]]:
    """Return an instruction's line without the metadata at its end, its debug location's number, and the rest.

    The number is empty where there is no location.
    """
    text, location, number = line.partition(", !dbg !")
    if location and number.isdecimal():  # as most have: it comes first, and mostly alone
        return text, number, ()
    text, attached = split_attachments(line)
    number = next((node[1:] for kind, node in attached if kind == "dbg"), "")
    return text, number, tuple([each for each in attached if each[0] != "dbg"])


def typed_operands(line: Scanner, values: ValueParser) -> list[Operand]:
    """Read operands, each after its type."""
    operands = [values.typed(line)]
    while line.take(","):
        operands.append(values.typed(line))
    return operands


def _same_type(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FLAGS)
    parts.type = line.type()
    parts.operands = [values.operand(line, parts.type)]
    while line.take(","):
        parts.operands.append(values.operand(line, parts.type))


def _comparison(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FLAGS)
    parts.detail = Comparison(line.word())
    type_ = line.type()
    first = values.operand(line, type_)
    line.expect(",")
    parts.operands = [first, values.operand(line, type_)]
    parts.type = compared(type_)


def _cast(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FLAGS)
    parts.operands = [values.typed(line)]
    line.expect("to")
    parts.type = line.type()


def _select(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FLAGS)
    parts.operands = typed_operands(line, values)
    parts.type = parts.operands[-1].type


def _typed_by_first(type_of: Callable[[Type], Type]) -> _Reader:
    def read(line: Scanner, values: ValueParser, parts: Parts) -> None:
        parts.operands = typed_operands(line, values)
        parts.type = type_of(parts.operands[0].type)

    return read


def _phi(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FAST_MATH)
    parts.type = line.type()
    while True:
        line.expect("[")
        parts.operands.append(values.operand(line, parts.type))
        line.expect(",")
        parts.blocks.append(values.block(line))
        line.expect("]")
        if not line.take(","):
            return


_ORDERINGS = frozenset({"unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"})
_SCOPE = re.compile(r'syncscope\("[^"]*"\)')


def _element_address(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FLAGS)
    parts.detail = ElementAddress(line.type())
    line.expect(",")
    parts.operands = typed_operands(line, values)
    parts.type = pointer_like(operand.type for operand in parts.operands)


def _allocation(line: Scanner, values: ValueParser, parts: Parts) -> None:
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


def _load(line: Scanner, values: ValueParser, parts: Parts) -> None:
    is_volatile = _is_volatile(line)
    parts.type = line.type()
    line.expect(",")
    parts.operands = [values.typed(line)]
    parts.detail = _access(line, is_volatile)


def _store(line: Scanner, values: ValueParser, parts: Parts) -> None:
    is_volatile = _is_volatile(line)
    stored = values.typed(line)
    line.expect(",")
    parts.operands = [stored, values.typed(line)]
    parts.detail = _access(line, is_volatile)


def _is_volatile(line: Scanner) -> bool:
    line.take("atomic ")
    return line.take("volatile ")


def _access(line: Scanner, is_volatile: bool) -> Access:
    scope = _scope(line)
    ordering = line.word() if line.peek_word() in _ORDERINGS else ""
    return Access(_alignment(line), is_volatile, ordering, scope)


def _scope(line: Scanner) -> str:
    return line.matched(_SCOPE)[len('syncscope("') : -2] if line.peek_word() == "syncscope" else ""


def _alignment(line: Scanner) -> int:
    return line.number() if line.take(", align ") else 0


def _update(line: Scanner, values: ValueParser, parts: Parts) -> None:
    is_volatile = line.take("volatile ")
    operation = line.word()
    parts.operands = typed_operands(line, values)
    parts.type = parts.operands[1].type
    parts.detail = AtomicUpdate(_access(line, is_volatile), operation)


def _exchange(line: Scanner, values: ValueParser, parts: Parts) -> None:
    is_weak, is_volatile = line.take("weak "), line.take("volatile ")
    parts.operands = typed_operands(line, values)
    parts.type = StructType("", (parts.operands[1].type, IntegerType(1)))
    scope, success, failure = _scope(line), line.word(), line.word()
    access = Access(_alignment(line), is_volatile, success, scope)
    parts.detail = AtomicUpdate(access, failure=failure, is_weak=is_weak)


def _fence(line: Scanner, _values: ValueParser, parts: Parts) -> None:
    parts.detail = _access(line, is_volatile=False)


def _shuffle(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.operands = typed_operands(line, values)
    mask = parts.operands.pop()
    parts.type, parts.detail = shuffled(parts.operands[0].type, mask)


def _extract(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.operands = [values.typed(line)]
    parts.detail = _indices(line)
    parts.type = within(parts.operands[0].type, parts.detail)


def _insert(line: Scanner, values: ValueParser, parts: Parts) -> None:
    aggregate = values.typed(line)
    line.expect(",")
    parts.operands = [aggregate, values.typed(line)]
    parts.detail = _indices(line)
    parts.type = aggregate.type


def _indices(line: Scanner) -> Indices:
    found: list[int] = []
    while line.take(","):
        found.append(line.number())
    return Indices(tuple(found))


def _call(line: Scanner, values: ValueParser, parts: Parts) -> None:
    parts.flags = line.words_of(FAST_MATH)
    convention = line.word() if line.peek_word() in _CONVENTIONS else ""
    result = line.attributes()
    parts.type = line.type()
    signature = f"{parts.type} {line.bracketed()}" if line.text.startswith("(", line.position) else ""
    callee = values.operand(line, PointerType(0))
    attributes = tuple(_call_arguments(line, values, parts.operands))
    given = attributes if any(attributes) else ()
    tail = parts.detail.tail if isinstance(parts.detail, CallSite) else ""
    after = line.up_to(' [ "')
    bundles = tuple(_bundles(line, values, parts.operands))
    parts.operands.append(callee)
    parts.detail = CallSite(tail, convention, result, signature, given, after, bundles)


def _call_arguments(line: Scanner, values: ValueParser, operands: list[Operand]) -> Iterable[str]:
    line.expect("(")
    while not line.text.startswith(")", line.position):
        type_ = line.type()
        yield line.attributes(WORDS_OF_CONSTANTS)
        operands.append(values.operand(line, type_))
        line.take(",")
    line.position += 1


def _bundles(line: Scanner, values: ValueParser, operands: list[Operand]) -> Iterable[tuple[str, int]]:
    if not line.take(" [ "):
        return
    while not line.take("]"):
        tag, before = line.matched(_TAG), len(operands)
        line.expect("(")
        while not line.take(")"):
            operands.append(values.typed(line))
            line.take(",")
        line.take(",")
        yield tag, len(operands) - before


def _branch(line: Scanner, values: ValueParser, parts: Parts) -> None:
    if not line.take("label "):
        parts.operands = [values.typed(line)]
        line.expect(",")
        line.expect("label ")
    parts.blocks = [values.block(line)]
    while line.take(","):
        line.expect("label ")
        parts.blocks.append(values.block(line))


def _return(line: Scanner, values: ValueParser, parts: Parts) -> None:
    if not line.take("void"):
        parts.operands = [values.typed(line)]


_OPCODES: dict[str, Opcode] = {opcode.value: opcode for opcode in Opcode}
_READERS: dict[Opcode, _Reader] = {
    **dict.fromkeys((*BINARY, Opcode.FNEG), _same_type),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(CASTS, _cast),
    Opcode.SELECT: _select,
    **dict.fromkeys((Opcode.FREEZE, Opcode.INSERTELEMENT), _typed_by_first(lambda type_: type_)),
    Opcode.EXTRACTELEMENT: _typed_by_first(element_of),
    Opcode.PHI: _phi,
    Opcode.GETELEMENTPTR: _element_address,
    Opcode.ALLOCA: _allocation,
    Opcode.LOAD: _load,
    Opcode.STORE: _store,
    Opcode.ATOMICRMW: _update,
    Opcode.CMPXCHG: _exchange,
    Opcode.FENCE: _fence,
    Opcode.SHUFFLEVECTOR: _shuffle,
    Opcode.EXTRACTVALUE: _extract,
    Opcode.INSERTVALUE: _insert,
    Opcode.CALL: _call,
    Opcode.BR: _branch,
    Opcode.RET: _return,
    Opcode.UNREACHABLE: lambda _line, _values, _parts: None,
}
