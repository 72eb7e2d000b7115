"""What an instruction says beyond its opcode, its flags and its operands: one small class for each family."""

from __future__ import annotations

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
        attributes: what stands after the arguments: a group's number, attributes, operand bundles.
    """

    tail: str = ""
    convention: str = ""
    result_attributes: str = ""
    signature: str = ""
    argument_attributes: tuple[str, ...] = ()
    attributes: str = ""


Detail = Comparison | Access | AtomicUpdate | ElementAddress | Allocation | Mask | Indices | CallSite | None
