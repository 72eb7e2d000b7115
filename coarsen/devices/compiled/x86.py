"""Facts of x86-64 machine code: how wide its instructions are, what it spills, where it gathers.

capstone, which disassembles it, is asked for where it is installed (`pip install 'coarsen[compiled]'`). What is
counted is code, not what runs: code in loops counts eight times as much for each loop that it is in, also where
a loop is only the rest that a vectorised one leaves over.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from coarsen.devices.compiled.code_loops import Step, loop_depths

_ROUNDS, _MOST_LOOPS = 8, 4
_GATHER, _SCATTER = re.compile("vp?gather"), re.compile("vp?scatter")
# The last letters of a gather's or scatter's name say what an element is: pd, q are of eight bytes.
_WIDE_ELEMENT = re.compile("(pd|q)$")
# Instructions on one element of a vector register, as `vaddss`; packed ones on integers may end like these.
_SCALAR = re.compile("(?:v(?!p)|(?![vp]))[a-z0-9]*?(s[sd])(?:2s[isd])?$")
_READ_ONLY = re.compile("v?(cmp(?!xchg)|test|ptest|u?comis|bt$)|jmp|call|push|mul|imul|div|idiv|prefetch")
_PLAIN_STORE = re.compile("v?(p?mov|extract|pextr|compress|pcompress|scatter|pscatter)|set|vcvtps2ph")
# After these another instruction does not follow.
_ENDS = frozenset({"jmp", "ret", "ud2", "hlt"})


@dataclass(frozen=True, slots=True)
class MachineCode:
    """The facts of a function; see `CompiledFacts`."""

    instructions: int
    weighted_instructions: float
    operation_bytes: float | None
    gathers: int
    scatters: int
    spilled_bytes: int
    frame_bytes: int


@dataclass(frozen=True, slots=True)
class _Access:
    """A memory operand: its bytes, whether it is stored to, and its place in the frame, None if elsewhere."""

    bytes: int
    is_load: bool
    is_store: bool
    frame_place: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class _Instruction:
    """An instruction: its place, the bytes of its vector registers (0 if none), what it takes from the stack."""

    step: Step
    name: str
    vector_bytes: int
    access: _Access | None
    frame_bytes: int


def disassembler_version() -> str | None:
    """Return the version of the disassembler; None where it isn't installed."""
    try:
        return version("capstone")
    except PackageNotFoundError:
        return None


def x86_code(code: bytes) -> MachineCode | None:
    """Return the facts of a function.

    Args:
        code: its machine code, for x86-64.

    Returns:
        None where there is no disassembler, or it does not know all of the instructions.
    """
    if disassembler_version() is None:
        return None
    instructions, decoded = _instructions(code)
    if decoded != len(code) or not instructions:
        return None
    names = [instruction.name for instruction in instructions]
    steps = [instruction.step for instruction in instructions]
    weights = [float(_ROUNDS ** min(depth, _MOST_LOOPS)) for depth in loop_depths(steps)]
    return MachineCode(
        instructions=len(instructions),
        weighted_instructions=sum(weights),
        operation_bytes=_operation_bytes(instructions, weights),
        gathers=sum(1 for name in names if _GATHER.match(name)),
        scatters=sum(1 for name in names if _SCATTER.match(name)),
        spilled_bytes=_spilled_bytes(instructions),
        frame_bytes=max(instruction.frame_bytes for instruction in instructions),
    )


def _operation_bytes(instructions: Sequence[_Instruction], weights: Sequence[float]) -> float | None:
    """The mean of the bytes that instructions on vectors and memory work on, the frame's memory left out."""
    sizes = [_bytes_of(instruction) for instruction in instructions]
    counted = sum(weight for weight, size in zip(weights, sizes, strict=True) if size)
    return sum(map(operator.mul, weights, sizes)) / counted if counted else None


def _bytes_of(instruction: _Instruction) -> int:
    access = instruction.access
    if access is not None and access.frame_place is not None:
        return 0
    if _GATHER.match(instruction.name) or _SCATTER.match(instruction.name):
        # They go to memory once for each element.
        return 8 if _WIDE_ELEMENT.search(instruction.name) else 4
    scalar = _SCALAR.match(instruction.name)
    if instruction.vector_bytes and scalar:
        return 8 if scalar[1] == "sd" else 4
    return instruction.vector_bytes or (access.bytes if access is not None else 0)


def _spilled_bytes(instructions: Sequence[_Instruction]) -> int:
    """The bytes of all places of the frame that are both stored to and loaded from."""
    stored: dict[tuple[str, int], int] = {}
    loaded: dict[tuple[str, int], int] = {}
    for instruction in instructions:
        access = instruction.access
        if access is not None and access.frame_place is not None:
            for kind, is_meant in ((stored, access.is_store), (loaded, access.is_load)):
                if is_meant:
                    kind[access.frame_place] = max(access.bytes, kind.get(access.frame_place, 0))
    return sum(min(stored[place], loaded[place]) for place in stored.keys() & loaded.keys())


def _instructions(code: bytes) -> tuple[list[_Instruction], int]:
    """The instructions, and the bytes that they are in: fewer than there are where one is unknown."""
    decoder = _decoder()
    found = []
    decoded = 0
    frame_registers = {"rsp"}
    for entry in decoder.disasm(code, 0):
        decoded += entry.size
        if entry.mnemonic == "mov" and entry.op_str == "rbp, rsp":
            frame_registers.add("rbp")
        found.append(_read(entry, frame_registers))
    return found, decoded


@cache
def _decoder() -> Any:  # noqa: ANN401 (capstone has no annotations)
    # Imported late: it may not be installed, and most commands do without it.
    import capstone

    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.detail = True
    return decoder


def _read(entry: Any, frame_registers: set[str]) -> _Instruction:  # noqa: ANN401 (as above)
    from capstone import x86

    # Without a prefix, such as that of `lock add` or `notrack jmp`.
    name = entry.mnemonic.rpartition(" ")[2]
    operands = entry.operands
    registers = [operand for operand in operands if operand.type == x86.X86_OP_REG]
    vectors = [each.size for each in registers if entry.reg_name(each.reg)[1:3] == "mm"]
    places = [place for place, operand in enumerate(operands) if operand.type == x86.X86_OP_MEM]
    is_memory = bool(places) and name not in ("lea", "nop")
    target = operands[0].imm if name[0] == "j" and operands[0].type == x86.X86_OP_IMM else None
    return _Instruction(
        Step(entry.address, target, name not in _ENDS),
        name,
        max(vectors, default=0),
        _access(name, entry, places[0], frame_registers) if is_memory else None,
        _frame_bytes(entry),
    )


def _frame_bytes(entry: Any) -> int:  # noqa: ANN401 (as above)
    """The bytes that an instruction takes from the stack: `sub rsp, 64`, or `add rsp, -128`."""
    from capstone import x86

    is_meant = entry.mnemonic in ("sub", "add") and entry.op_str.startswith("rsp, ")
    if not is_meant or entry.operands[1].type != x86.X86_OP_IMM:
        return 0
    taken = int(entry.operands[1].imm)
    return max(0, taken if entry.mnemonic == "sub" else -taken)


def _access(name: str, entry: Any, place: int, frame_registers: set[str]) -> _Access:  # noqa: ANN401 (as above)
    operand = entry.operands[place]
    base = entry.reg_name(operand.mem.base) if operand.mem.base else ""
    is_in_frame = base in frame_registers and not operand.mem.index
    # The disassembler's own word for stores is wrong for newer instructions: the first operand is the target.
    is_store = place == 0 and not _READ_ONLY.match(name)
    is_load = not is_store or not _PLAIN_STORE.match(name)
    return _Access(operand.size, is_load, is_store, (base, operand.mem.disp) if is_in_frame else None)
