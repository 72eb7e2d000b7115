"""The buffers of a kernel: what all accesses to one have in common, and whether nothing else gets at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.memory_accesses import memory_access
from coarsen.cost.locality.access_costs import AccessCost
from coarsen.ir.details import source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction, Kernel, Value
from coarsen.ir.layout import size_of
from coarsen.ir.types import AddressSpace, PointerType, StructType


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer that is passed to a kernel.

    Attributes:
        name: of the argument.
        accesses: all that go to it.
        is_constant: whether it lies in constant memory already.
        is_read_only: whether nothing is stored through this argument.
        is_closed: whether these are all uses of the pointer that reach memory.
        record_bytes: from one record to the next where all accesses are to fields of such; None where not.
    """

    name: str
    accesses: tuple[AccessCost, ...]
    is_constant: bool
    is_read_only: bool
    is_closed: bool
    record_bytes: int | None

    @property
    def element_bytes(self) -> int | None:
        """The bytes of each access; None where they differ."""
        sizes = {each.access.access_bytes for each in self.accesses}
        return sizes.pop() if len(sizes) == 1 else None


def buffers(forms: IndexForms, costs: Sequence[AccessCost]) -> tuple[Buffer, ...]:
    """Return the buffers of a kernel that it accesses, in the order of its arguments."""
    return tuple(_buffers(forms, costs, frozenset(_escaping(forms, costs))))


def _buffers(forms: IndexForms, costs: Sequence[AccessCost], escaping: frozenset[str]) -> Iterator[Buffer]:
    for argument in forms.kernel.arguments:
        own = tuple(
            each
            for each in costs
            if each.name == argument.name
            and each.access.base is not None
            and each.access.base.kind is ValueKind.ARGUMENT
        )
        if not own or not isinstance(argument.type, PointerType) or own[0].is_local:
            continue
        records = {_record_bytes(forms.kernel, each) for each in own}
        yield Buffer(
            argument.name,
            own,
            argument.type.address_space == AddressSpace.CONSTANT,
            not any(each.access.is_store for each in own),
            argument.name not in escaping,
            records.pop() if len(records) == 1 else None,
        )


def _escaping(forms: IndexForms, costs: Sequence[AccessCost]) -> Iterator[str]:
    """Yield the arguments that are used in other ways too: passed on, stored, accessed where it can't be told."""
    for cost in costs:
        if cost.access.base is None:
            yield from forms.symbols.origins(cost.form)
    known: Mapping[int, AccessCost] = {id(each.access.instruction): each for each in costs}
    for instruction in forms.kernel.instructions():
        for value in _passed_on(instruction, is_access=id(instruction) in known):
            yield from forms.symbols.origins(forms.form(value))


def _passed_on(instruction: Instruction, *, is_access: bool) -> Iterator[Value]:
    """Yield the pointers that an instruction does more with than to access what they point to."""
    access = memory_access(instruction) if is_access else None
    if instruction.opcode in ("getelementptr", "icmp"):
        return
    values = instruction.arguments if instruction.opcode == "call" else instruction.operands
    for value in values:
        if isinstance(value.type, PointerType) and (access is None or value != access.pointer):
            yield value


def _record_bytes(kernel: Kernel, cost: AccessCost) -> int | None:
    """Return the size of the record whose field an access is to."""
    access = memory_access(cost.access.instruction)
    pointer = access.pointer if access is not None else None
    while pointer is not None and pointer.kind is ValueKind.INSTRUCTION:
        step = kernel.definition[pointer.text]
        if step.opcode != "getelementptr":
            return None
        type_ = source_element_type(step)
        if isinstance(type_, StructType):
            return size_of(type_)
        pointer = step.operands[0]
    return None
