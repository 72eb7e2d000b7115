"""Indices of a kernel's accesses: which buffers hold such numbers, and how many sizes multiply in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.types import IntegerType
from coarsen.opencl_bench.workloads.described.pointer_use import derived_pointers

_ACCESSES = frozenset({"load", "store", "atomicrmw", "cmpxchg"})


@dataclass(frozen=True, slots=True)
class IndexUse:
    """The use of a buffer's contents in addresses.

    Attributes:
        addressed: the parameters whose accesses depend on the contents.
        holds_ranges: whether neighbouring elements are the begin and the end of a range, as in the row pointers
            of a matrix in CSR format.
        sizes: how many sizes the buffer's elements are the product of, as far as its addresses show: 2 for the
            matrix in `a[row * width + column]`.
    """

    addressed: tuple[str, ...] = ()
    holds_ranges: bool = False
    sizes: int = 1


def index_uses(kernel: Kernel) -> Mapping[str, IndexUse]:
    """Return the use of each parameter's contents as indices, by the parameter's name."""
    pointers = {argument.name: derived_pointers(kernel, argument.name) for argument in kernel.arguments}
    forms = IndexForms(kernel, ControlFlow(kernel))
    uses = {}
    for name, own in pointers.items():
        loads = [load for load in _accesses(kernel, own) if isinstance(load.type, IntegerType)]
        reached = _reached(kernel, {load.name for load in loads})
        addressed = [other for other, theirs in pointers.items() if theirs & reached & _accessed(kernel, theirs)]
        uses[name] = IndexUse(
            tuple(addressed),
            bool(addressed) and _has_neighbours(forms, loads),
            max((_sizes(kernel, forms, access) for access in _accesses(kernel, own)), default=1),
        )
    return uses


def _sizes(kernel: Kernel, forms: IndexForms, access: Instruction) -> int:
    """Return how many sizes an address multiplies: numbers that are passed, and what counts in steps of them."""
    passed = {argument.name for argument in kernel.arguments if isinstance(argument.type, IntegerType)}
    terms = [{*term} for term in forms.form(_pointer(access)).terms]
    return max((len(term & passed) + bool(term - passed) for term in terms if term & passed), default=1)


def _accesses(kernel: Kernel, pointers: set[str]) -> Iterator[Instruction]:
    for instruction in kernel.instructions():
        if instruction.opcode in _ACCESSES and _pointer(instruction).text in pointers:
            yield instruction


def _accessed(kernel: Kernel, pointers: set[str]) -> set[str]:
    return {_pointer(access).text for access in _accesses(kernel, pointers)}


def _pointer(access: Instruction) -> Value:
    return access.operands[1 if access.opcode == "store" else 0]


def _reached(kernel: Kernel, values: set[str]) -> set[str]:
    """The values that are computed from some, and the loop counters that are compared with them."""
    reached = set(values)
    while values:
        values = {
            name for instruction in kernel.instructions() for name in _computed(kernel, instruction, reached)
        }
        values -= reached
        reached |= values
    return reached


def _computed(kernel: Kernel, instruction: Instruction, reached: set[str]) -> Iterator[str]:
    if instruction.opcode in _ACCESSES or not any(operand.text in reached for operand in instruction.arguments):
        return
    if instruction.name:
        yield instruction.name
    if instruction.opcode == "icmp":
        for operand in instruction.operands:
            if operand.kind is ValueKind.INSTRUCTION and kernel.definition[operand.text].opcode == "phi":
                yield operand.text


def _has_neighbours(forms: IndexForms, loads: list[Instruction]) -> bool:
    """Return True if two loads are of elements that follow each other."""
    for one, other in combinations(loads, 2):
        difference = forms.form(_pointer(one)) - forms.form(_pointer(other))
        assert isinstance(one.type, IntegerType)
        if set(difference.terms) == {()} and abs(difference.constant_part) == one.type.width // 8:
            return True
    return False
