"""Questions to what an instruction says beyond opcode, flags and operands, answered by its `detail`."""

from __future__ import annotations

from typing import TypeVar

from coarsen.ir.graph.details import (
    Access,
    Allocation,
    AtomicUpdate,
    CallSite,
    Comparison,
    ElementAddress,
    Indices,
    Mask,
    access_of,
    expected,
)
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.types import Type

_Kind = TypeVar("_Kind")


def predicate(instruction: Instruction) -> str:
    """Return the condition of an `icmp` or `fcmp`, such as slt or oeq."""
    return _detail(instruction, Comparison).predicate


def access(instruction: Instruction) -> Access | None:
    """Return how an instruction touches memory; None for one that does not, and for a call."""
    return access_of(instruction.detail)


def is_inline_assembly(call: Instruction) -> bool:
    """Return True for a call of assembly text instead of a function."""
    return call.operands[-1].kind is ValueKind.CONSTANT and call.operands[-1].text.startswith("asm ")


def alignment(instruction: Instruction) -> int:
    """Return the alignment in bytes of a load, a store or an `alloca`; 1 where none is written."""
    detail = instruction.detail
    return (detail.alignment if isinstance(detail, Access | Allocation) else 0) or 1


def source_element_type(instruction: Instruction) -> Type:
    """Return the type that a `getelementptr` steps over, or that an `alloca` reserves."""
    if isinstance(instruction.detail, Allocation):
        return instruction.detail.type
    return _detail(instruction, ElementAddress).source_type


def shuffle_mask(instruction: Instruction) -> tuple[int | None, ...]:
    """Return the mask of a `shufflevector`, None for an element that may be anything."""
    return _detail(instruction, Mask).elements


def aggregate_indices(instruction: Instruction) -> tuple[int, ...]:
    """Return the indices of an `extractvalue` or `insertvalue`."""
    return _detail(instruction, Indices).indices


def atomic_operation(instruction: Instruction) -> str:
    """Return the operation of an `atomicrmw`: add, xchg, min, umax, …"""
    return _detail(instruction, AtomicUpdate).operation


def argument_alignment(call: Instruction, index: int) -> int:
    """Return the alignment in bytes that a call states for a pointer among its arguments; 1 where it doesn't."""
    return _detail(call, CallSite).argument_alignment(index)


def orderings(instruction: Instruction) -> frozenset[str]:
    """Return the orderings of an atomic instruction, where it succeeds and where it fails."""
    touched, detail = access(instruction), instruction.detail
    failure = detail.failure if isinstance(detail, AtomicUpdate) else ""
    return frozenset({touched.ordering if touched else "", failure} - {""})


def attached(instruction: Instruction, kind: str) -> str:
    """Return the node of an instruction's metadata of a kind, such as `!12`; empty where it has none."""
    for known, node in instruction.attachments:
        if known == kind:
            return node
    return ""


def _detail(instruction: Instruction, kind: type[_Kind]) -> _Kind:
    detail = instruction.detail
    return detail if isinstance(detail, kind) else expected(detail, kind, instruction.name or instruction.opcode)
