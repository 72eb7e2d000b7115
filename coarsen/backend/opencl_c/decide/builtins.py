"""OpenCL's builtins as functions of C types: parameters from the mangled name, results from OpenCL's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from coarsen.backend.opencl_c.c.types import (
    INT,
    SCALARS,
    UINT,
    ULONG,
    CType,
    Opaque,
    Pointer,
    Scalar,
    Vector,
    from_llvm,
    same_bits,
    with_sign,
)
from coarsen.backend.opencl_c.decide.demangle import UnknownManglingError, parameters
from coarsen.errors import RefusalError
from coarsen.ir.kernel import Instruction
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import VoidType


@dataclass(frozen=True, slots=True)
class Signature:
    """A builtin's name and parameter types; `result` is None where OpenCL's rules aren't known to this table."""

    name: str
    parameters: tuple[CType, ...]
    result: CType | None


_NAMED_RESULT = re.compile(r"(?:convert|as)_([a-z]+?)(\d*)(?:_sat)?(?:_rt[ezpn])?")
_UNSIGNED_RESULT = re.compile(r"abs|abs_diff")
_POINTED_RESULT = re.compile(
    r"(?:vload\d+|atomic_(?:add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor)"
    r"|atom_(?:add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor))"
)
_LIKE_FIRST = re.compile(
    r"min|max|clamp|mul_hi|mad_hi|mad24|mul24|mad_sat|add_sat|sub_sat|hadd|rhadd|rotate|clz|ctz|popcount|select"
    r"|bitselect|shuffle2?"
)
_INT_RESULT = re.compile(
    r"is(?:equal|notequal|greater|greaterequal|less|lessequal|lessgreater|finite|inf|nan|normal|ordered|unordered)"
    r"|signbit|any|all|ilogb|get_image_\w+|printf"
)
_ATOMIC_2_0 = re.compile(r"atomic_(?:load|exchange|fetch_(?:add|sub|or|xor|and|min|max))(?:_explicit)?")


def signature(instruction: Instruction) -> Signature | None:
    """Return the signature of a call of a builtin, or None for anything else."""
    callee = instruction.callee
    if not callee.startswith("_Z"):
        return None
    name = builtin_name(callee)
    try:
        types = _parameters(callee)
    except UnknownManglingError:
        raise RefusalError(
            "unknown-function", f"the function '{callee}' is not a known builtin", instruction.position
        ) from None
    return Signature(name, types, _result(name, types, instruction))


@lru_cache(maxsize=4096)
def _parameters(callee: str) -> tuple[CType, ...]:
    return parameters(callee)


def _result(name: str, types: tuple[CType, ...], instruction: Instruction) -> CType | None:
    if isinstance(instruction.type, VoidType):
        return None
    for pattern, rule in _RULES:
        if pattern.fullmatch(name):
            guess = rule(name, types, instruction)
            actual = from_llvm(instruction.type)
            return guess if guess is not None and same_bits(guess, actual) else None
    actual = from_llvm(instruction.type)
    return actual if with_sign(actual, signed=False) == actual else None


def _named(name: str, types: tuple[CType, ...], instruction: Instruction) -> CType | None:
    match = _NAMED_RESULT.fullmatch(name)
    scalar = SCALARS.get(match[1]) if match else None
    if match is None or scalar is None:
        return None
    return Vector(scalar, int(match[2])) if match[2] else scalar


def _pointed(name: str, types: tuple[CType, ...], instruction: Instruction) -> CType | None:
    pointer = next((type_ for type_ in types if isinstance(type_, Pointer)), None)
    if pointer is None:
        return None
    element = pointer.pointee
    if name.startswith("vload") and isinstance(element, Scalar):
        return Vector(element, int(name[len("vload") :]))
    return element


def _atomic(name: str, types: tuple[CType, ...], instruction: Instruction) -> CType | None:
    pointer = types[0]
    if isinstance(pointer, Pointer) and isinstance(pointer.pointee, Opaque):
        return SCALARS.get(pointer.pointee.name.removeprefix("atomic_"))
    return None


def _image(element: Scalar) -> Callable[..., CType]:
    return lambda name, types, instruction: Vector(element, 4)


def _signed(signed: bool) -> Callable[..., CType]:
    return lambda name, types, instruction: with_sign(from_llvm(instruction.type), signed=signed)


def _first(name: str, types: tuple[CType, ...], instruction: Instruction) -> CType | None:
    return types[0] if types else None


_RULES: tuple[tuple[re.Pattern[str], Callable[[str, tuple[CType, ...], Instruction], CType | None]], ...] = (
    (re.compile(r"get_work_dim"), lambda name, types, instruction: UINT),
    (re.compile(r"get_image_dim"), lambda name, types, instruction: from_llvm(instruction.type)),
    (re.compile(r"get_image_array_size"), lambda name, types, instruction: ULONG),
    (_INT_RESULT, _signed(True)),
    (re.compile(r"get_\w+"), lambda name, types, instruction: ULONG),
    (_NAMED_RESULT, _named),
    (_UNSIGNED_RESULT, _signed(False)),
    (_POINTED_RESULT, _pointed),
    (_LIKE_FIRST, _first),
    (re.compile(r"upsample"), lambda name, types, instruction: _upsampled(types, instruction)),
    (re.compile(r"read_imagei"), _image(INT)),
    (re.compile(r"read_imageui"), _image(UINT)),
    (_ATOMIC_2_0, _atomic),
)


def _upsampled(types: tuple[CType, ...], instruction: Instruction) -> CType | None:
    first = types[0] if types else INT
    element = first.element if isinstance(first, Vector) else first
    signed = isinstance(element, Scalar) and element.kind == "signed"
    return with_sign(from_llvm(instruction.type), signed=signed)
