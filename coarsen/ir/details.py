"""What an instruction's text says beyond opcode and operands: predicates, flags, masks, alignments, indices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from coarsen.ir.kernel import Instruction
from coarsen.ir.types import StructType, Type, parse_type

_FLAGS = frozenset(
    [
        "nsw",
        "nuw",
        "exact",
        "inbounds",
        "disjoint",
        "nneg",
        "samesign",
        "nusw",
        "fast",
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "afn",
        "reassoc",
        "volatile",
    ]
)


_VOLATILE = re.compile(r"\b(?:load|store|atomicrmw|cmpxchg)(?: \w+)? volatile\b")
# A last argument that is true; attributes of the call may stand after it.
_VOLATILE_COPY = re.compile(r", i1 true\)(?: #\d+)?\s*$")
_PLAIN_TYPE = re.compile(r"(?:\w+|<\d+ x \w+>|\[\d+ x \w+\])(?=,|$)")


def _after_opcode(instruction: Instruction) -> str:
    """The text behind the opcode; the result's name, which may hold the opcode's letters, is skipped."""
    assignment = f"%{instruction.name} = " if instruction.name else ""
    return instruction.text.removeprefix(assignment).partition(instruction.opcode)[2]


def flags(instruction: Instruction) -> frozenset[str]:
    """The flags between opcode and type, such as nsw, exact, volatile or the fast-math ones."""
    words = _after_opcode(instruction).split()
    found = set()
    for word in words:
        if word not in _FLAGS and word not in ("atomic", "tail", "call"):
            break
        found.add(word)
    return frozenset(found & _FLAGS)


def predicate(instruction: Instruction) -> str:
    """The condition of an `icmp` or `fcmp`, such as slt or oeq."""
    words = _after_opcode(instruction).split()
    return next(word for word in words if word not in _FLAGS)


def is_volatile(instruction: Instruction) -> bool:
    """Return True for a load, a store, an atomic or a copy of memory that is volatile."""
    if instruction.opcode == "call":
        return "llvm.mem" in instruction.callee and bool(_VOLATILE_COPY.search(instruction.text))
    return "volatile" in instruction.text and bool(_VOLATILE.search(instruction.text))


def is_atomic(instruction: Instruction) -> bool:
    """Whether it is an atomic load, store, read-modify-write or exchange of LLVM's own (not a builtin's call)."""
    return instruction.opcode in ("atomicrmw", "cmpxchg") or bool(
        re.search(r"\b(?:load|store) atomic\b", instruction.text)
    )


def alignment(instruction: Instruction) -> int:
    """The alignment in bytes of a load, store or alloca; 1 where none is written."""
    match = re.search(r", align (\d+)", instruction.text)
    return int(match[1]) if match else 1


def source_element_type(instruction: Instruction, structures: Mapping[str, StructType] | None = None) -> Type:
    """The type that a `getelementptr` steps over, or that an `alloca` reserves."""
    rest = _after_opcode(instruction).strip()
    while (word := rest.split(" ", 1)[0]) in _FLAGS or word.startswith("inrange("):
        rest = rest.split(" ", 1)[1]
    plain = _PLAIN_TYPE.match(rest)
    return _plain_type(plain.group()) if plain else parse_type(rest, structures)


@lru_cache(maxsize=1024)
def _plain_type(text: str) -> Type:
    """A type without structures in it: most are, and are read again and again."""
    return parse_type(text)


def shuffle_mask(instruction: Instruction) -> tuple[int | None, ...]:
    """The mask of a `shufflevector`, None for an element that may be anything."""
    match = re.search(r"<(\d+) x i32> (zeroinitializer|poison|undef|<[^>]*>)[^<]*$", instruction.text)
    if match is None:
        raise ValueError(f"no mask in {instruction.text!r}")
    count, body = int(match[1]), match[2]
    if body == "zeroinitializer":
        return (0,) * count
    if not body.startswith("<"):
        return (None,) * count
    return tuple(
        int(element) if element.lstrip("-").isdigit() else None
        for element in re.findall(r"i32 (-?\d+|poison|undef)", body)
    )


def aggregate_indices(instruction: Instruction) -> tuple[int, ...]:
    """The indices of an `extractvalue` or `insertvalue`."""
    match = re.search(r"((?:, \d+)+)$", instruction.text)
    return tuple(int(number) for number in match[1].split(",")[1:]) if match else ()


def atomic_operation(instruction: Instruction) -> str:
    """The operation of an `atomicrmw`: add, xchg, min, umax, …"""
    words = _after_opcode(instruction).split()
    return next(word for word in words if word != "volatile")
