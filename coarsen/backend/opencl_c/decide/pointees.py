"""What pointers point to, arguments' declared types, integers' signs: LLVM doesn't say it, OpenCL C does.

An argument's declared type, a variable's own type and the types that a `getelementptr` steps over tell; a pointer
that comes out of memory points to what is first loaded or stored through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.types import (
    CHAR,
    SCALARS,
    UCHAR,
    VECTOR_COUNTS,
    Array,
    CType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Vector,
    element_of,
    from_llvm,
    same_bits,
    size_of,
)
from coarsen.backend.opencl_c.decide.builtins import signature
from coarsen.backend.opencl_c.decide.constants import Operation, Symbol, parse_constant
from coarsen.backend.opencl_c.decide.folding import Dataflow
from coarsen.ir.graph.instruction import Instruction, predicate, source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import IntegerType, PointerType, StructType, TargetType, Type, VectorType, parse_type, scalar

_PASSED_ON = frozenset({"addrspacecast", "bitcast", "freeze"})


class Pointees:
    """The C types behind a kernel's pointers."""

    def __init__(self, kernel: Kernel, dataflow: Dataflow) -> None:
        self.kernel = kernel
        self.dataflow = dataflow
        self._used_as = self._uses()
        self.arguments = {a.name: self._declared(a) for a in kernel.arguments}
        self._by_value = {a.name for a in kernel.arguments if by_value_type(a, kernel.structures) is not None}
        self._found: dict[str, CType | None] = {}
        for instruction in kernel.instructions():  # in order, so that long chains need no deep recursion
            if isinstance(instruction.type, PointerType):
                self(instruction)

    def _declared(self, argument: Argument) -> CType:
        """An argument's type; where none was recorded, a pointer's first use tells what it points to."""
        type_ = declared_type(argument, self.kernel.structures)
        used = self._used_as.get(argument.name)
        if argument.type_name or used is None or not isinstance(type_, Pointer):
            return type_
        return replace(type_, pointee=from_llvm(used))

    def _uses(self) -> Mapping[str, Type]:
        """The type of the first access through each pointer."""
        found: dict[str, Type] = {}
        for instruction in self.kernel.instructions():
            if instruction.opcode in ("load", "atomicrmw"):
                found.setdefault(self.dataflow.origin(instruction.operands[0]).text, instruction.type)
            elif instruction.opcode == "store":
                stored = instruction.operands[0].type
                found.setdefault(self.dataflow.origin(instruction.operands[1]).text, stored)
            elif instruction.opcode == "getelementptr":
                base = self.dataflow.origin(instruction.operands[0]).text
                found.setdefault(base, source_element_type(instruction))
        return found

    def __call__(self, pointer: Operand) -> CType | None:
        """Return what a pointer points to, or None where nothing tells."""
        origin = self.dataflow.origin(pointer)
        if origin.kind is ValueKind.ARGUMENT:
            type_ = self.arguments[origin.text]
            return type_ if origin.text in self._by_value else _pointee(type_)
        if origin.kind is ValueKind.GLOBAL:
            return from_llvm(self.kernel.globals[origin.text].value_type)
        if origin.kind is ValueKind.CONSTANT:
            return self._of_constant(origin)
        if origin.text not in self._found:
            self._found[origin.text] = None  # a pointer that only depends on itself
            self._found[origin.text] = self._of_instruction(self.kernel.definition[origin.text])
        return self._found[origin.text]

    def _of_constant(self, value: Operand) -> CType | None:
        constant = parse_constant(value.type, value.text, self.kernel.structures)
        while isinstance(constant, Operation) and constant.opcode == "addrspacecast":
            constant = constant.operands[0][1]
        if isinstance(constant, Symbol) and constant.name in self.kernel.globals:
            return from_llvm(self.kernel.globals[constant.name].value_type)
        return None

    def _of_instruction(self, instruction: Instruction) -> CType | None:
        found: CType | None = None
        if instruction.opcode == "alloca":
            return from_llvm(source_element_type(instruction))
        if instruction.opcode == "getelementptr":
            found = self._of_address(instruction)
        elif instruction.opcode in _PASSED_ON:
            found = self(instruction.operands[0])
        elif instruction.opcode in ("phi", "select"):
            found = self._of_choices(instruction)
        elif instruction.opcode == "call" and (known := signature(instruction)) is not None:
            found = _pointee(known.result)
        return found if found is not None else self._of_use(instruction)

    def _of_choices(self, instruction: Instruction) -> CType | None:
        choices = instruction.operands if instruction.opcode == "phi" else instruction.operands[1:]
        types = [self(choice) for choice in choices if choice.text != instruction.name]
        return next((type_.element if isinstance(type_, Array) else type_ for type_ in types if type_), None)

    def _of_use(self, instruction: Instruction) -> CType | None:
        type_ = self._used_as.get(instruction.name)
        return from_llvm(type_) if type_ is not None else None

    def _of_address(self, instruction: Instruction) -> CType | None:
        source = from_llvm(source_element_type(instruction))
        base = self(instruction.operands[0])
        if same_bits(source, UCHAR):
            return self._of_bytes(instruction, base)
        type_: CType | None = source
        if base is not None and same_bits(base, source):
            type_ = base
        elif isinstance(base, Array) and same_bits(base.element, source):
            type_ = base.element
        for index in instruction.operands[2:]:
            type_ = _inside(type_, index)
        return type_

    def _of_bytes(self, instruction: Instruction, base: CType | None) -> CType | None:
        """An address that was computed in bytes points to what it is used as, if that isn't bytes."""
        used = self._used_as.get(instruction.name)
        if used is None or isinstance(used, PointerType):
            return base if base is not None and not isinstance(base, (Record, Array)) else None
        type_ = from_llvm(used)
        if base is not None and same_bits(base, type_):
            return base
        return type_ if size_of(type_) >= 1 else None


def _pointee(type_: CType | None) -> CType | None:
    if not isinstance(type_, Pointer):
        return None
    return None if type_.pointee == Opaque("void") else type_.pointee


def _inside(type_: CType | None, index: Operand) -> CType | None:
    """The type of an element or a field."""
    if isinstance(type_, Array):
        return type_.element
    if isinstance(type_, Record) and index.text.isdigit():
        return from_llvm(type_.layout.elements[int(index.text)])
    element = getattr(type_, "element", None)
    return element if element is not None else None


# The declared types of kernel arguments, from what clang recorded of the source.
#
# type "float4*", base "float __attribute__((ext_vector_type(4)))*", qualifiers "const" → global const float4*

_BASE_VECTOR = re.compile(r"(.+?) __attribute__\(\(ext_vector_type\((\d+)\)\)\)")
_NAMED_VECTOR = re.compile(r"([a-z]+?)(\d+)")
_BYVAL = re.compile(r"byval\((%(?:\"[^\"]*\"|[-a-zA-Z$._0-9]+)|[^()]*)\)")
_ALIGNMENT = re.compile(r"\balign (\d+)")
_LONG_NAMES = {
    **{f"unsigned {name}": f"u{name}" for name in ("char", "short", "int", "long")},
    **dict.fromkeys(("long long", "ptrdiff_t", "intptr_t"), "long"),
    **dict.fromkeys(("size_t", "uintptr_t"), "ulong"),
    "unsigned": "uint",
    "signed char": "char",
}
_OPAQUE = re.compile(r"(?:image\w+|sampler|event|queue|reserve_id|clk_event|ndrange)_t|atomic_\w+|void", re.ASCII)


def declared_type(argument: Argument, structures: Mapping[str, StructType]) -> CType:
    """Return the type that the source gave an argument; what LLVM's type allows where nothing was recorded."""
    if isinstance(argument.type, TargetType):
        return from_llvm(argument.type)  # says it all; what is recorded may be any text
    if isinstance(argument.type, PointerType) and (record := by_value_type(argument, structures)) is not None:
        return from_llvm(record)
    texts = (argument.type_name, argument.base_type_name)
    named = next((found for text in texts if (found := _by_name(text.strip(), structures)) is not None), None)
    if isinstance(argument.type, PointerType):
        return _pointer(argument, argument.type, named)
    fallback = from_llvm(argument.type, signed="zeroext" not in argument.attributes)
    return named if named is not None and same_bits(named, fallback) else fallback


def by_value_type(argument: Argument, structures: Mapping[str, StructType]) -> Type | None:
    """Return the structure that an argument passes by value, or None."""
    match = _BYVAL.search(argument.attributes)
    return parse_type(match[1], structures) if match else None


def by_value_alignment(argument: Argument, structures: Mapping[str, StructType]) -> int | None:
    """Return the alignment, in bytes, that an argument passed by value states, or None."""
    match = _ALIGNMENT.search(argument.attributes)
    return int(match[1]) if match and by_value_type(argument, structures) is not None else None


def _pointer(argument: Argument, type_: PointerType, named: CType | None) -> CType:
    pointer = named if isinstance(named, Pointer) else Pointer(CHAR, type_.address_space)
    return replace(
        pointer,
        space=type_.address_space,
        is_const="const" in argument.qualifiers,
        is_volatile="volatile" in argument.qualifiers,
    )


def _by_name(text: str, structures: Mapping[str, StructType]) -> CType | None:
    if text.endswith("*"):
        pointee = _by_name(text[:-1].strip(), structures)
        return Pointer(pointee, 0) if pointee is not None else None
    if match := _BASE_VECTOR.fullmatch(text):
        return _vector(_LONG_NAMES.get(match[1], match[1]), int(match[2]))
    text = _LONG_NAMES.get(text, text)
    if text in SCALARS:
        return SCALARS[text]
    if _OPAQUE.fullmatch(text):
        return Opaque(text)
    if (match := _NAMED_VECTOR.fullmatch(text)) and (vector := _vector(match[1], int(match[2]))):
        return vector
    return _record(text, structures)


def _vector(element: str, count: int) -> CType | None:
    scalar = SCALARS.get(element)
    return Vector(scalar, count) if isinstance(scalar, Scalar) and count in VECTOR_COUNTS else None


def _record(text: str, structures: Mapping[str, StructType]) -> CType | None:
    name = text.removeprefix("struct ").removeprefix("union ")
    for kind in ("struct", "union"):
        if f"{kind}.{name}" in structures:
            record = from_llvm(structures[f"{kind}.{name}"])
            return record if isinstance(record, Record) else None
    return None


# Infers a sign for each integer: LLVM's integers have none, OpenCL C's have one.
#
# Every definition and use votes: `sdiv` for signed, `zext` for unsigned, a builtin's mangled parameters and a
# kernel argument's declared type most of all. The sign is for readability (fewer casts); what the text means never
# depends on it, since the writer converts wherever an operation needs the other sign.

Vote = tuple[Operand, int]
_WEAK, _STRONG, _CERTAIN = 1, 2, 4


def _wrapping(instruction: Instruction) -> Iterator[Vote]:
    """`add nsw` comes from signed source, a plain `add` from unsigned."""
    if isinstance(instruction.type, VectorType):
        return
    weight = _WEAK if "nsw" in instruction.flags else -_WEAK
    if {"nsw", "nuw"}.issubset(instruction.flags):
        return
    yield instruction, 2 * weight
    for operand in instruction.operands:
        yield operand, weight


def _weighing(result: int, *operands: int) -> Callable[[Instruction], Iterator[Vote]]:
    def votes(instruction: Instruction) -> Iterator[Vote]:
        yield instruction, result
        yield from zip(instruction.operands, operands, strict=False)

    return votes


def _comparison(instruction: Instruction) -> Iterator[Vote]:
    weight = {"s": _STRONG, "u": -_STRONG}.get(predicate(instruction)[0], 0)
    for operand in instruction.operands:
        yield operand, weight


def _widening(instruction: Instruction) -> Iterator[Vote]:
    yield instruction.operands[0], _WEAK if "nneg" in instruction.flags else -_STRONG


def _index(instruction: Instruction) -> Iterator[Vote]:
    for operand in instruction.operands[1:]:
        yield operand, _WEAK


def _call(instruction: Instruction) -> Iterator[Vote]:
    known = signature(instruction)
    if known is None:
        return
    for operand, type_ in zip(instruction.arguments, known.parameters, strict=False):
        yield operand, _certain(type_)
    if known.result is not None:
        yield instruction, _certain(known.result)


def _certain(type_: CType) -> int:
    if not isinstance(type_, (Scalar, Vector)):
        return 0
    return {"signed": _CERTAIN, "unsigned": -_CERTAIN}.get(element_of(type_).kind, 0)


_VOTES: Mapping[str, Callable[[Instruction], Iterator[Vote]]] = {
    **dict.fromkeys(("add", "sub", "mul", "shl"), _wrapping),
    **dict.fromkeys(("sdiv", "srem"), _weighing(_STRONG, _STRONG, _STRONG)),
    **dict.fromkeys(("udiv", "urem"), _weighing(-_STRONG, -_STRONG, -_STRONG)),
    "ashr": _weighing(_STRONG, _STRONG),
    "lshr": _weighing(-_STRONG, -_STRONG),
    "icmp": _comparison,
    "sext": _weighing(0, _STRONG),
    "zext": _widening,
    "sitofp": _weighing(0, _STRONG),
    "uitofp": _weighing(0, -_STRONG),
    "fptosi": _weighing(_STRONG),
    "fptoui": _weighing(-_STRONG),
    "getelementptr": _index,
    "call": _call,
}
_KEEPING_SIGN = frozenset({"phi", "select", "freeze", "and", "or", "xor"})
_KEEPING_SIGN_OF_VECTORS = frozenset({"add", "sub", "mul", "shl", "shufflevector", "insertelement"})


def _keeps_sign(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode in _KEEPING_SIGN:
        return True
    return opcode in _KEEPING_SIGN_OF_VECTORS and isinstance(instruction.type, VectorType)


class Signs:
    """The signs of a kernel's integers."""

    def __init__(
        self,
        kernel: Kernel,
        dataflow: Dataflow,
        pointee: Callable[[Operand], CType | None],
        shared: Mapping[str, str],
    ) -> None:
        self.dataflow = dataflow
        self.pointee = pointee
        self._parent: dict[str, str] = dict(shared)
        self._votes: dict[str, int] = {}
        for instruction in kernel.instructions():
            if _keeps_sign(instruction):
                self._unite(instruction)
        for instruction in kernel.instructions():
            for value, weight in self._votes_of(instruction):
                if weight:
                    self._count(dataflow.origin(value), weight)

    def is_signed(self, name: str) -> bool:
        """Return True if a value should have a signed type; the usual choice where nothing says otherwise."""
        return self._votes.get(self._root(name), 0) >= 0

    def _count(self, value: Operand, weight: int) -> None:
        if value.is_local:
            root = self._root(value.text)
            self._votes[root] = self._votes.get(root, 0) + weight

    def _votes_of(self, instruction: Instruction) -> Iterable[Vote]:
        voting = _VOTES.get(instruction.opcode)
        if voting is not None:
            return voting(instruction)
        if instruction.opcode == "load":
            return [(instruction, self._memory_vote(instruction.operands[0], instruction))]
        if instruction.opcode == "store":
            return [(instruction.operands[0], self._memory_vote(instruction.operands[1], instruction))]
        return ()

    def _memory_vote(self, address: Operand, instruction: Instruction) -> int:
        """The declared type of what is loaded or stored, where it is an integer of that width."""
        type_ = self.pointee(address)
        value = instruction.operands[0] if instruction.opcode == "store" else instruction
        if isinstance(type_, Pointer) or not isinstance(type_, (Scalar, Vector)):
            return 0
        llvm = scalar(value.type)
        is_same = isinstance(llvm, IntegerType) and llvm.width == element_of(type_).size * 8
        return _certain(type_) if is_same else 0

    def _unite(self, instruction: Instruction) -> None:
        """Let the operands of what keeps their sign have one with the result."""
        for operand in instruction.operands:
            origin = self.dataflow.origin(operand)
            alike = isinstance(origin.type, VectorType) == isinstance(instruction.type, VectorType)
            if origin.is_local and alike and scalar(origin.type) == scalar(instruction.type):
                self._parent[self._root(origin.text)] = self._root(instruction.name)

    def _root(self, name: str) -> str:
        root = name
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while self._parent.get(name, name) != root:
            self._parent[name], name = root, self._parent.get(name, name)
        return root
