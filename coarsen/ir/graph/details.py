"""The opcodes, and what an instruction says beyond opcode, flags and operands: one small class for each family."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from coarsen.ir.types import Type


@dataclass(frozen=True, slots=True)
class Comparison:
    """The condition of an `icmp` or `fcmp`, such as slt or oeq."""

    predicate: str


@dataclass(frozen=True, slots=True)
class Access:
    """How a load or store touches memory.

    Attributes:
        alignment: in bytes; 0 where none is written.
        is_volatile: whether it must happen just as it stands.
        ordering: of an atomic access, such as monotonic; empty for a plain one.
        scope: of an atomic access, as LLVM names it; empty for the whole system.
    """

    alignment: int = 0
    is_volatile: bool = False
    ordering: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True)
class AtomicUpdate:
    """An `atomicrmw`, whose `operation` is add, xchg, umax, …, or a `cmpxchg`, which has `failure`'s ordering."""

    access: Access
    operation: str = ""
    failure: str = ""
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class ElementAddress:
    """The type that a `getelementptr` steps over."""

    source_type: Type


@dataclass(frozen=True, slots=True)
class Allocation:
    """What an `alloca` reserves; `alignment` in bytes, 0 where none is written."""

    type: Type
    alignment: int = 0


@dataclass(frozen=True, slots=True)
class Mask:
    """The elements that a `shufflevector` takes; None for one that may be anything."""

    elements: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Indices:
    """The path of an `extractvalue` or `insertvalue` into an aggregate."""

    indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CallSite:
    """How a function is called.

    Attributes:
        tail: `tail`, `musttail`, `notail` or empty.
        convention: such as `spir_func`; empty for C's.
        result_attributes: such as `zeroext`.
        signature: the function's type where it takes any number of arguments, `i32 (ptr, ...)`; else empty.
        argument_attributes: those of each argument, such as `noundef`.
        attributes: what stands after the arguments: a group's number, attributes.
        bundles: of further operands, such as `align` of an assumption: the tag and how many there are of each.
    """

    tail: str = ""
    convention: str = ""
    result_attributes: str = ""
    signature: str = ""
    argument_attributes: tuple[str, ...] = ()
    attributes: str = ""
    bundles: tuple[tuple[str, int], ...] = ()

    @property
    def bundled(self) -> int:
        """The number of operands in bundles; they stand between the arguments and the callee."""
        return sum(count for _, count in self.bundles) if self.bundles else 0

    def argument_alignment(self, index: int) -> int:
        """Return the alignment in bytes that is stated for a pointer among the arguments; 1 where it isn't."""
        words = self.argument_attributes[index].split() if self.argument_attributes else []
        return int(words[words.index("align") + 1]) if "align" in words else 1


Detail = Comparison | Access | AtomicUpdate | ElementAddress | Allocation | Mask | Indices | CallSite | None


def access_of(detail: Detail) -> Access | None:
    """Return how an instruction touches memory; None for one that does not, and for a call."""
    if isinstance(detail, AtomicUpdate):
        return detail.access
    return detail if isinstance(detail, Access) else None


def is_shown(detail: Detail) -> bool:
    """Return True for the detail of a load or store that is volatile or atomic: each execution of it shows."""
    return isinstance(detail, Access) and (detail.is_volatile or bool(detail.ordering))


class Opcode(enum.StrEnum):
    """An instruction's kind; equal to LLVM's word for it."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    UDIV = "udiv"
    SDIV = "sdiv"
    UREM = "urem"
    SREM = "srem"
    SHL = "shl"
    LSHR = "lshr"
    ASHR = "ashr"
    AND = "and"
    OR = "or"
    XOR = "xor"
    FADD = "fadd"
    FSUB = "fsub"
    FMUL = "fmul"
    FDIV = "fdiv"
    FREM = "frem"
    FNEG = "fneg"
    ICMP = "icmp"
    FCMP = "fcmp"
    TRUNC = "trunc"
    ZEXT = "zext"
    SEXT = "sext"
    FPTRUNC = "fptrunc"
    FPEXT = "fpext"
    FPTOUI = "fptoui"
    FPTOSI = "fptosi"
    UITOFP = "uitofp"
    SITOFP = "sitofp"
    PTRTOINT = "ptrtoint"
    INTTOPTR = "inttoptr"
    BITCAST = "bitcast"
    ADDRSPACECAST = "addrspacecast"
    SELECT = "select"
    FREEZE = "freeze"
    PHI = "phi"
    GETELEMENTPTR = "getelementptr"
    ALLOCA = "alloca"
    LOAD = "load"
    STORE = "store"
    ATOMICRMW = "atomicrmw"
    CMPXCHG = "cmpxchg"
    FENCE = "fence"
    EXTRACTELEMENT = "extractelement"
    INSERTELEMENT = "insertelement"
    SHUFFLEVECTOR = "shufflevector"
    EXTRACTVALUE = "extractvalue"
    INSERTVALUE = "insertvalue"
    CALL = "call"
    BR = "br"
    RET = "ret"
    UNREACHABLE = "unreachable"


BINARY = frozenset(
    {
        *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM),
        *(Opcode.SHL, Opcode.LSHR, Opcode.ASHR, Opcode.AND, Opcode.OR, Opcode.XOR),
        *(Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV, Opcode.FREM),
    }
)
COMPARISONS = frozenset({Opcode.ICMP, Opcode.FCMP})
CASTS = frozenset(
    {
        *(Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT, Opcode.FPTRUNC, Opcode.FPEXT),
        *(Opcode.FPTOUI, Opcode.FPTOSI, Opcode.UITOFP, Opcode.SITOFP),
        *(Opcode.PTRTOINT, Opcode.INTTOPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST),
    }
)
TERMINATORS = frozenset({Opcode.BR, Opcode.RET, Opcode.UNREACHABLE})
