"""The parameters of a builtin, out of its Itanium-mangled name.

    _Z6selectDv3_fS_Dv3_i  → float3, float3, int3
    _Z8atom_addPU3AS1Vll   → volatile global long *, long

What decides between overloads (`min(int, int)`, `min(uint, uint)`) is in the name only: LLVM's integers have no
sign. Source: Itanium C++ ABI, section 5.1 (mangling), with clang's vendor qualifiers for address spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coarsen.backend.opencl_c.c.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
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
)

_SCALARS: dict[str, CType] = {
    "v": VOID,
    "b": BOOL,
    "c": CHAR,
    "a": CHAR,
    "h": UCHAR,
    "s": SHORT,
    "t": USHORT,
    "i": INT,
    "j": UINT,
    "l": LONG,
    "m": ULONG,
    "x": LONG,
    "y": ULONG,
    "f": FLOAT,
    "d": DOUBLE,
}
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
