"""OpenCL's builtins as functions of C types: parameters from the mangled name, results from OpenCL's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from coarsen.backend.opencl_c.c.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    SCALARS,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VOID,
    CType,
    Opaque,
    Pointer,
    Scalar,
    Vector,
    from_llvm,
    same_bits,
    with_sign,
)
from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import VoidType


@dataclass(frozen=True, slots=True)
class Signature:
    """A builtin's name and parameter types; `result` is None where OpenCL's rules aren't known to this table."""

    name: str
    parameters: tuple[CType, ...]
    result: CType | None


_NAMED_RESULT = re.compile(r"(?:convert|as)_([a-z]+?)(\d*)(?:_sat)?(?:_rt[ezpn])?")
_UNSIGNED_RESULT = re.compile(r"abs|abs_diff")
_POINTED_RESULT = re.compile(r"vload\d+|atom(?:ic)?_(?:add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor)")
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
        types = parameters(callee)
    except UnknownManglingError:
        raise RefusalError(
            "unknown-function", f"the function '{callee}' is not a known builtin", instruction.position
        ) from None
    return Signature(name, types, _result(name, types, instruction))


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


_RULES: tuple[tuple[re.Pattern[str], Callable[[str, tuple[CType, ...], Instruction], CType | None]], ...] = (
    (re.compile(r"get_work_dim"), lambda name, types, instruction: UINT),
    (re.compile(r"get_image_dim"), lambda name, types, instruction: from_llvm(instruction.type)),
    (re.compile(r"get_image_array_size"), lambda name, types, instruction: ULONG),
    (_INT_RESULT, _signed(True)),
    (re.compile(r"get_\w+"), lambda name, types, instruction: ULONG),
    (_NAMED_RESULT, _named),
    (_UNSIGNED_RESULT, _signed(False)),
    (_POINTED_RESULT, _pointed),
    (_LIKE_FIRST, lambda name, types, instruction: types[0] if types else None),
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


# The parameters, out of the Itanium-mangled name.
#
#     _Z6selectDv3_fS_Dv3_i  → float3, float3, int3
#     _Z8atom_addPU3AS1Vll   → volatile global long *, long
#
# What decides between overloads (`min(int, int)`, `min(uint, uint)`) is in the name only: LLVM's integers have no
# sign. Source: Itanium C++ ABI, section 5.1 (mangling), with clang's vendor qualifiers for address spaces.

_CODES = (VOID, BOOL, CHAR, CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, LONG, ULONG, FLOAT, DOUBLE)
_SCALARS: dict[str, CType] = dict(zip("vbcahstijlmxyfd", _CODES, strict=True))
_NAME = re.compile(r"(\d+)")
_SUBSTITUTION = re.compile(r"S([0-9A-Z]*)_")
_VECTOR = re.compile(r"Dv(\d+)_")
_QUALIFIER = re.compile(r"U(\d+)|[KVr]")
_BASE_36 = 36


@dataclass(frozen=True, slots=True)
class _Qualified:
    """A pointee with its qualifiers, which a later parameter may refer back to."""

    type: CType
    space: int
    is_const: bool
    is_volatile: bool


class UnknownManglingError(ValueError):
    """A name that is not a mangled OpenCL builtin."""


@lru_cache(maxsize=4096)
def parameters(mangled: str) -> tuple[CType, ...]:
    """Return the parameter types of a mangled function; `...` is left out. Raises UnknownManglingError."""
    match = re.match(r"_Z(\d+)", mangled)
    if match is None:
        raise UnknownManglingError(mangled)
    start = match.end() + int(match[1])
    parser = _Demangler(mangled, start)
    types = []
    while parser.position < len(mangled) and mangled[parser.position] not in "z.":
        types.append(parser.type())
    return () if types == [VOID] else tuple(types)


class _Demangler:
    """Reads types one after the other; substitutions refer back to the compound ones."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.seen: list[CType | _Qualified] = []

    def type(self) -> CType:
        text, start = self.text, self.position
        if start >= len(text):
            raise UnknownManglingError(text)
        if match := _SUBSTITUTION.match(text, start):
            self.position = match.end()
            return self._substituted(match[1])
        if text[start] == "P":
            self.position += 1
            return self._remember(self._pointer())
        if match := _VECTOR.match(text, start):
            self.position = match.end()
            element = self.type()
            if not isinstance(element, Scalar):
                raise UnknownManglingError(text)
            return self._remember(Vector(element, int(match[1])))
        if text.startswith("Dh", start):
            self.position += 2
            return HALF
        if match := _NAME.match(text, start):
            self.position = match.end() + int(match[1])
            return self._remember(Opaque(text[match.end() : self.position]))
        return self._scalar()

    def _scalar(self) -> CType:
        code = self.text[self.position]
        self.position += 1
        if code not in _SCALARS:
            raise UnknownManglingError(self.text)
        return _SCALARS[code]

    def _pointer(self) -> Pointer:
        if match := _SUBSTITUTION.match(self.text, self.position):
            self.position = match.end()
            seen = self._seen(match[1])
            return _pointer_to(seen if isinstance(seen, _Qualified) else _Qualified(seen, 0, False, False))
        space, is_const, is_volatile, is_atomic = 0, False, False, False
        while qualifier := _QUALIFIER.match(self.text, self.position):
            self.position = qualifier.end() + int(qualifier[1] or 0)
            word = self.text[qualifier.end() : self.position] or qualifier.group()
            space = int(word[2:]) if word.startswith("AS") else space
            is_const, is_volatile = is_const or word == "K", is_volatile or word == "V"
            is_atomic = is_atomic or word == "_Atomic"
        pointee = self.type()
        if is_atomic:
            pointee = self._remember(Opaque(f"atomic_{pointee}"))
        qualified = _Qualified(pointee, space, is_const, is_volatile)
        if space or is_const or is_volatile:
            self.seen.append(qualified)
        return _pointer_to(qualified)

    def _substituted(self, code: str) -> CType:
        seen = self._seen(code)
        return seen.type if isinstance(seen, _Qualified) else seen

    def _seen(self, code: str) -> CType | _Qualified:
        index = 0 if code == "" else int(code, _BASE_36) + 1
        if index >= len(self.seen):
            raise UnknownManglingError(self.text)
        return self.seen[index]

    def _remember(self, type_: CType) -> CType:
        self.seen.append(type_)
        return type_


def _pointer_to(qualified: _Qualified) -> Pointer:
    return Pointer(qualified.type, qualified.space, qualified.is_const, qualified.is_volatile)
