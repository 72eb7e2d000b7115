"""Structures that a kernel's pointers lead to, or that are passed by value, as NumPy types of named fields.

    struct Node { int left; double weight; char tag[3]; }
    ─▶ {"f0": int32 at 0, "f1": float64 at 8, "f2": 3 of int8 at 16}, 24 bytes in all

Bytes between and after the fields are padding: a copy of a structure may leave anything there. What overlaps, in a
union, is one field of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coarsen.backend.opencl_c.decide.arguments import by_value_type
from coarsen.ir.details import source_element_type
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Argument, Instruction, Kernel
from coarsen.ir.layout import alignment_of, field_offset, size_of
from coarsen.ir.types import ArrayType, FloatType, IntegerType, PointerType, StructType, Type, VectorType
from coarsen.opencl_bench.workloads.described.pointer_use import derived_pointers

_FLOATS: Mapping[str, np.dtype[Any]] = {
    "half": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
_PREFIXES = ("struct.", "union.", "class.", "")
_BYTE = np.dtype(np.uint8)
_LARGEST_INTEGER = 64

# A field of a structure: the structure's name, the field's index.
_Field = tuple[str, int]


def structure_of(kernel: Kernel, parameter: Argument) -> StructType | None:
    """Return the structure that a parameter is, or points to; None where there is none, or it can't be told."""
    passed = by_value_type(parameter, kernel.structures)
    if passed is not None:
        return passed if isinstance(passed, StructType) else None
    if not isinstance(parameter.type, PointerType):
        return None
    name = parameter.base_type_name.removesuffix("*").removeprefix("struct ").removeprefix("union ")
    known = (kernel.structures.get(f"{prefix}{name}") for prefix in _PREFIXES)
    found = next((each for each in known if each is not None and each.elements), None)
    return found or _stepped_over(kernel, parameter)


def fields_of(kernel: Kernel, structure: StructType) -> np.dtype[Any]:
    """Return a structure as a NumPy type; parts of which nothing is known are bytes."""
    return _structure(structure, _named_fields(kernel))


def _stepped_over(kernel: Kernel, parameter: Argument) -> StructType | None:
    """The one structure that addresses from a parameter are computed by."""
    pointers = derived_pointers(kernel, parameter.name)
    types = {type_ for address, type_ in _addresses(kernel) if address.operands[0].text in pointers}
    if parameter.base_type_name.startswith("void") or len(types) != 1:
        return None
    (found,) = types
    return found if isinstance(found, StructType) and found.elements else None


def _addresses(kernel: Kernel) -> Iterator[tuple[Instruction, Type]]:
    for instruction in kernel.instructions():
        if instruction.opcode == "getelementptr":
            yield instruction, source_element_type(instruction)


def _named_fields(kernel: Kernel) -> frozenset[_Field]:
    """The fields that the kernel computes an address of."""
    return frozenset(field for address, type_ in _addresses(kernel) for field in _fields_along(address, type_))


def _fields_along(address: Instruction, type_: Type) -> Iterator[_Field]:
    for index in address.operands[2:]:
        if isinstance(type_, StructType) and index.kind is ValueKind.CONSTANT:
            yield type_.name, int(index.text)
            type_ = type_.elements[int(index.text)]
        elif isinstance(type_, ArrayType | VectorType):
            type_ = type_.element
        else:
            return


def _structure(structure: StructType, named: frozenset[_Field]) -> np.dtype[Any]:
    size = size_of(structure)
    if structure.name.startswith("union.") or not structure.elements:
        return np.dtype((_BYTE, (size,)))
    shown = [index for index in range(len(structure.elements)) if not _is_padding(structure, index, named)]
    return np.dtype(
        {
            "names": [f"f{index}" for index in shown],
            "formats": [_field(structure.elements[index], named) for index in shown],
            "offsets": [field_offset(structure, index) for index in shown],
            "itemsize": size,
        }
    )


def _is_padding(structure: StructType, index: int, named: frozenset[_Field]) -> bool:
    """Return True for the bytes that clang adds up to a structure's end, which no instruction addresses."""
    last = structure.elements[index]
    content = last.element if isinstance(last, ArrayType) else last
    is_last = 0 < index == len(structure.elements) - 1
    is_small = content == IntegerType(8) and size_of(last) < alignment_of(structure)
    # What is before the end is a field: a kernel that copies whole structures addresses none.
    reaches_end = field_offset(structure, index) + size_of(last) == size_of(structure)
    return is_last and is_small and reaches_end and (structure.name, index) not in named


def _field(type_: Type, named: frozenset[_Field]) -> np.dtype[Any]:
    if isinstance(type_, StructType):
        return _structure(type_, named)
    if isinstance(type_, ArrayType) and type_.count:
        return np.dtype((_stored(type_.element, named), (type_.count,)))
    if isinstance(type_, VectorType):
        return np.dtype((_field(type_.element, named), (type_.count,)))
    if isinstance(type_, FloatType) and type_.kind in _FLOATS:
        return _FLOATS[type_.kind]
    if isinstance(type_, PointerType):
        return np.dtype(np.uint64)
    if (
        isinstance(type_, IntegerType)
        and 8 <= type_.width <= _LARGEST_INTEGER
        and size_of(type_) * 8 == type_.width
    ):
        return np.dtype(f"i{type_.width // 8}")
    return np.dtype((_BYTE, (size_of(type_),)))


def _stored(element: Type, named: frozenset[_Field]) -> np.dtype[Any]:
    """An element of an array: a vector of three takes as much room as one of four."""
    content = _field(element, named)
    size = size_of(element)
    if content.itemsize == size:
        return content
    return np.dtype({"names": ["vector"], "formats": [content], "offsets": [0], "itemsize": size})
