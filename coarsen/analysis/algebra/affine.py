"""Access patterns: where each memory access of a kernel goes, as an affine form over work-item ids.

    output[x * height + y]      base output, form 4·global_id(0)·height + 4·global_id(1)
                                stride along dimension 0: SYMBOLIC, along dimension 1: 4 bytes

The forms are those of `index_forms.py`, with its assumptions: for predictions, never for legality. Strides are
those between work-items of one work-group at the same iteration of every loop around the access.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, Literal

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.analysis.memory_accesses import MemoryAccess, memory_access
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace, PointerType


class UnknownStride(enum.Enum):
    """Strides that are no number of bytes."""

    SYMBOLIC = "the same between all neighbours, but known only at run time"
    INDIRECT = "not the same between all neighbours: through a loaded index, or not affine"


SYMBOLIC: Final = UnknownStride.SYMBOLIC
INDIRECT: Final = UnknownStride.INDIRECT
Stride = int | Literal[UnknownStride.SYMBOLIC, UnknownStride.INDIRECT]


@dataclass(frozen=True, kw_only=True)
class Access(MemoryAccess):
    """One memory access, and where it goes.

    `base` is the argument, program-scope variable or alloca that it goes to, None where that can't be told; `form`
    the bytes from there on. `strides` are the strides in bytes along the three dimensions.
    """

    instruction: Instruction
    block: str
    address_space: int
    base: Operand | None
    form: Polynomial
    strides: tuple[Stride, Stride, Stride]

    @property
    def access_bytes(self) -> int:
        """The bytes that it touches."""
        return self.element_bytes * self.width


def access_patterns(forms: IndexForms) -> tuple[Access, ...]:
    """Return all accesses of a kernel to memory in reachable blocks, in the order of its instructions.

    Args:
        forms: of the kernel in normal form.
    """
    reached = set(forms.control_flow.reverse_postorder)
    found = []
    for block in forms.kernel.blocks:
        for instruction in block.instructions if block.name in reached else ():
            access = memory_access(instruction)
            if access is not None:
                found.append(_pattern(forms, instruction, block.name, access))
    return tuple(found)


def _pattern(forms: IndexForms, instruction: Instruction, block: str, access: MemoryAccess) -> Access:
    address = forms.form(access.pointer)
    if access.index is not None:
        address = address + forms.form(access.index).scaled(access.index_bytes)
    base = _base(forms.kernel, address)
    leads = access.pointer if base is None else base
    return Access(
        **{name: getattr(access, name) for name in MemoryAccess.__slots__},
        instruction=instruction,
        block=block,
        address_space=leads.type.address_space if isinstance(leads.type, PointerType) else AddressSpace.PRIVATE,
        base=base,
        form=address if base is None else address - forms.form(base),
        strides=(_stride(forms, address, 0), _stride(forms, address, 1), _stride(forms, address, 2)),
    )


def _stride(forms: IndexForms, address: Polynomial, dimension: int) -> Stride:
    gain = forms.symbols.difference(address, dimension)
    if gain is None:
        return INDIRECT
    if gain.is_constant:
        return gain.constant_part
    # A gain that changes along the dimension itself: id·id.
    return SYMBOLIC if forms.symbols.difference(gain, dimension) == Polynomial({}) else INDIRECT


def _base(kernel: Kernel, address: Polynomial) -> Operand | None:
    """Return the variable that an address counts from: the one symbol that is a pointer's start."""
    bases = [base for symbol in address.symbols if (base := _variable(kernel, symbol)) is not None]
    return bases[0] if len(bases) == 1 else None


def _variable(kernel: Kernel, symbol: str) -> Operand | None:
    if symbol.startswith("@"):
        return kernel.graph.variables.get(symbol[1:])
    if symbol.startswith("%"):
        instruction = kernel.definition.get(symbol[1:])
        return instruction if instruction is not None and instruction.opcode == "alloca" else None
    pointers = (argument for argument in kernel.function.arguments if isinstance(argument.type, PointerType))
    return next((argument for argument in pointers if argument.name == symbol), None)
