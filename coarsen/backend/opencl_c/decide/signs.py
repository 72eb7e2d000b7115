"""Infers a sign for each integer: LLVM's integers have none, OpenCL C's have one.

Every definition and use votes: `sdiv` for signed, `zext` for unsigned, a builtin's mangled parameters and a kernel
argument's declared type most of all. The sign is for readability (fewer casts); what the text means never depends
on it, since the writer converts wherever an operation needs the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from coarsen.backend.opencl_c.c.types import CType, Pointer, Scalar, Vector, element_of
from coarsen.backend.opencl_c.decide.builtins import signature
from coarsen.backend.opencl_c.decide.dataflow import Dataflow
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType, Type, VectorType

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
        llvm = value.type.element if isinstance(value.type, VectorType) else value.type
        is_same = isinstance(llvm, IntegerType) and llvm.width == element_of(type_).size * 8
        return _certain(type_) if is_same else 0

    def _unite(self, instruction: Instruction) -> None:
        """Let the operands of what keeps their sign have one with the result."""
        for operand in instruction.operands:
            origin = self.dataflow.origin(operand)
            alike = isinstance(origin.type, VectorType) == isinstance(instruction.type, VectorType)
            if origin.is_local and alike and _element(origin.type) == _element(instruction.type):
                self._parent[self._root(origin.text)] = self._root(instruction.name)

    def _root(self, name: str) -> str:
        root = name
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while self._parent.get(name, name) != root:
            self._parent[name], name = root, self._parent.get(name, name)
        return root


def _element(type_: Type) -> Type:
    return type_.element if isinstance(type_, VectorType) else type_
