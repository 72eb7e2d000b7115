"""The declared types of kernel arguments, from what clang recorded of the source.

type "float4*", base "float __attribute__((ext_vector_type(4)))*", qualifiers "const" → global const float4*
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.types import (
    CHAR,
    SCALARS,
    VECTOR_COUNTS,
    CType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Vector,
    from_llvm,
    same_bits,
)
from coarsen.ir.kernel import Argument
from coarsen.ir.types import PointerType, StructType, TargetType, Type, parse_type

_BASE_VECTOR = re.compile(r"(.+?) __attribute__\(\(ext_vector_type\((\d+)\)\)\)")
_NAMED_VECTOR = re.compile(r"([a-z]+?)(\d+)")
_BYVAL = re.compile(r"byval\((%(?:\"[^\"]*\"|[-a-zA-Z$._0-9]+)|[^()]*)\)")
_ALIGNMENT = re.compile(r"\balign (\d+)")
_LONG_NAMES = {
    "unsigned char": "uchar",
    "unsigned short": "ushort",
    "unsigned int": "uint",
    "unsigned long": "ulong",
    "unsigned": "uint",
    "signed char": "char",
    "long long": "long",
    "size_t": "ulong",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "uintptr_t": "ulong",
}
_OPAQUE = re.compile(r"(?:image\w+|sampler|event|queue|reserve_id|clk_event|ndrange)_t|atomic_\w+|void", re.ASCII)


def declared_type(argument: Argument, structures: Mapping[str, StructType]) -> CType:
    """Return the type that the source gave an argument; what LLVM's type allows where nothing was recorded."""
    if isinstance(argument.type, TargetType):
        return from_llvm(argument.type)  # says it all; what is recorded may be any text
    if isinstance(argument.type, PointerType) and (record := by_value_type(argument, structures)) is not None:
        return from_llvm(record)
    named = _by_names((argument.type_name, argument.base_type_name), structures)
    if isinstance(argument.type, PointerType):
        return _pointer(argument, argument.type, named)
    fallback = from_llvm(argument.type, signed="zeroext" not in argument.attributes)
    return named if named is not None and same_bits(named, fallback) else fallback


def by_value_type(argument: Argument, structures: Mapping[str, StructType]) -> Type | None:
    """Return the structure that an argument passes by value, or None."""
    match = _BYVAL.search(argument.attributes)
    return parse_type(match[1], structures) if match else None


def by_value_alignment(argument: Argument, structures: Mapping[str, StructType]) -> int | None:
    """Return the alignment, in bytes, that an argument passed by value states, or None."""
    match = _ALIGNMENT.search(argument.attributes)
    return int(match[1]) if match and by_value_type(argument, structures) is not None else None


def _pointer(argument: Argument, type_: PointerType, named: CType | None) -> CType:
    pointer = named if isinstance(named, Pointer) else Pointer(CHAR, type_.address_space)
    return replace(
        pointer,
        space=type_.address_space,
        is_const="const" in argument.qualifiers,
        is_volatile="volatile" in argument.qualifiers,
    )


def _by_names(names: tuple[str, ...], structures: Mapping[str, StructType]) -> CType | None:
    for text in names:
        found = _by_name(text.strip(), structures)
        if found is not None:
            return found
    return None


def _by_name(text: str, structures: Mapping[str, StructType]) -> CType | None:
    if text.endswith("*"):
        pointee = _by_name(text[:-1].strip(), structures)
        return Pointer(pointee, 0) if pointee is not None else None
    if match := _BASE_VECTOR.fullmatch(text):
        return _vector(_LONG_NAMES.get(match[1], match[1]), int(match[2]))
    text = _LONG_NAMES.get(text, text)
    if text in SCALARS:
        return SCALARS[text]
    if _OPAQUE.fullmatch(text):
        return Opaque(text)
    if (match := _NAMED_VECTOR.fullmatch(text)) and (vector := _vector(match[1], int(match[2]))):
        return vector
    return _record(text, structures)


def _vector(element: str, count: int) -> CType | None:
    scalar = SCALARS.get(element)
    return Vector(scalar, count) if isinstance(scalar, Scalar) and count in VECTOR_COUNTS else None


def _record(text: str, structures: Mapping[str, StructType]) -> CType | None:
    name = text.removeprefix("struct ").removeprefix("union ")
    for kind in ("struct", "union"):
        if f"{kind}.{name}" in structures:
            record = from_llvm(structures[f"{kind}.{name}"])
            return record if isinstance(record, Record) else None
    return None
