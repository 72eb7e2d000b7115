"""The parameters of a kernel as its code shows them: kinds and types, and what is done with what they point to.

    pointers     read, written, or not all understood; `derived_pointers`: what is computed from one
    indices      which buffers hold such numbers, and how many sizes multiply in an address
    images       with which functions they are accessed
    structures   struct Node { int left; double weight; char tag[3]; }
                 ─▶ {"f0": int32 at 0, "f1": float64 at 8, "f2": 3 of int8 at 16}, 24 bytes in all

Bytes between and after the fields of a structure are padding: a copy of it may leave anything there. What
overlaps, in a union, is one field of bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.distinct_arguments import only_synchronises
from coarsen.analysis.memory_effects import DERIVING, EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.backend.opencl_c.decide.pointees import by_value_type
from coarsen.errors import InvalidInputError
from coarsen.ir.graph.instruction import Instruction, source_element_type
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import (
    AddressSpace,
    ArrayType,
    FloatType,
    IntegerType,
    PointerType,
    StructType,
    TargetType,
    Type,
    VectorType,
    alignment_of,
    field_offset,
    size_of,
)
from coarsen.tuning.workload.element_types import KINDS, ElementType, ImageFormat, element_type, opaque_type


@dataclass(frozen=True, slots=True)
class PointerUse:
    """The use of what a pointer parameter points to: if it is read, and if it is written.

    `is_certain`: whether all uses of the pointer are understood. If not, the memory may be read and written in
    other ways: through a number made of the address, or through a pointer that was stored.
    """

    is_read: bool
    is_written: bool
    is_certain: bool = True

    @property
    def may_be_read(self) -> bool:
        """Return False only if the kernel certainly does not read it."""
        return self.is_read or not self.is_certain

    @property
    def may_be_written(self) -> bool:
        """Return False only if the kernel certainly does not write it."""
        return self.is_written or not self.is_certain


def pointer_uses(kernel: Kernel) -> Mapping[str, PointerUse]:
    """Return the use of each parameter, by name."""
    effects, roots = EffectsOfKernel.of_kernel(kernel), PointerRoots()
    read, written, kept = set[str](), set[str](), set[str]()
    is_certain = True
    for instruction in kernel.instructions():
        if only_synchronises(instruction, effects):
            continue
        touched = effects.of(instruction)
        is_certain &= not (touched.reads_anything or touched.writes_anything)
        pointers = (each for each in instruction.arguments if isinstance(each.type, PointerType))
        kept_here = [each for each in pointers if effects.may_keep(each.text, instruction)]
        for reached_from, names in ((touched.reads, read), (touched.writes, written), (kept_here, kept)):
            reached = roots.of_all(reached_from)
            is_certain &= reached is not None
            names |= {root.text for root in reached or ()}
    return {
        each.name: PointerUse(each.name in read, each.name in written, is_certain or each.name not in kept)
        for each in kernel.arguments
    }


def derived_pointers(kernel: Kernel, parameter: str) -> set[str]:
    """Return the names of the pointers that are computed from a parameter, its own among them."""
    pointers = {parameter}
    while True:
        new = {
            instruction.name
            for instruction in kernel.instructions()
            if instruction.opcode in DERIVING
            and instruction.name not in pointers
            and any(operand.is_local and operand.text in pointers for operand in instruction.operands)
        }
        if not new:
            return pointers
        pointers |= new


_ACCESSES = frozenset({"load", "store", "atomicrmw", "cmpxchg"})


@dataclass(frozen=True, slots=True)
class IndexUse:
    """The use of a buffer's contents in addresses.

    Attributes:
        addressed: the parameters whose accesses depend on the contents.
        holds_ranges: whether neighbouring elements are the begin and the end of a range, as in the row pointers
            of a matrix in CSR format.
        sizes: how many sizes the buffer's elements are the product of, as far as its addresses show: 2 for the
            matrix in `a[row * width + column]`.
    """

    addressed: tuple[str, ...] = ()
    holds_ranges: bool = False
    sizes: int = 1


def index_uses(kernel: Kernel) -> Mapping[str, IndexUse]:
    """Return the use of each parameter's contents as indices, by the parameter's name."""
    pointers = {argument.name: derived_pointers(kernel, argument.name) for argument in kernel.arguments}
    forms = IndexForms(kernel, ControlFlow(kernel))
    uses = {}
    for name, own in pointers.items():
        loads = [load for load in _accesses(kernel, own) if isinstance(load.type, IntegerType)]
        reached = _reached(kernel, {load.name for load in loads})
        addressed = [
            other
            for other, theirs in pointers.items()
            if reached & {_pointer(each).text for each in _accesses(kernel, theirs)}
        ]
        uses[name] = IndexUse(
            tuple(addressed),
            bool(addressed) and _has_neighbours(forms, loads),
            max((_sizes(kernel, forms, access) for access in _accesses(kernel, own)), default=1),
        )
    return uses


def _sizes(kernel: Kernel, forms: IndexForms, access: Instruction) -> int:
    """Return how many sizes an address multiplies: numbers that are passed, and what counts in steps of them."""
    passed = {argument.name for argument in kernel.arguments if isinstance(argument.type, IntegerType)}
    terms = [{*term} for term in forms.form(_pointer(access)).terms]
    return max((len(term & passed) + bool(term - passed) for term in terms if term & passed), default=1)


def _accesses(kernel: Kernel, pointers: set[str]) -> Iterator[Instruction]:
    for instruction in kernel.instructions():
        if instruction.opcode in _ACCESSES and _pointer(instruction).text in pointers:
            yield instruction


def _pointer(access: Instruction) -> Operand:
    return access.operands[1 if access.opcode == "store" else 0]


def _reached(kernel: Kernel, values: set[str]) -> set[str]:
    """The values that are computed from some, and the loop counters that are compared with them."""
    reached = set(values)
    while values:
        values = {
            name for instruction in kernel.instructions() for name in _computed(kernel, instruction, reached)
        }
        values -= reached
        reached |= values
    return reached


def _computed(kernel: Kernel, instruction: Instruction, reached: set[str]) -> Iterator[str]:
    if instruction.opcode in _ACCESSES or not any(operand.text in reached for operand in instruction.arguments):
        return
    if instruction.name:
        yield instruction.name
    if instruction.opcode == "icmp":
        for operand in instruction.operands:
            if operand.kind is ValueKind.INSTRUCTION and kernel.definition[operand.text].opcode == "phi":
                yield operand.text


def _has_neighbours(forms: IndexForms, loads: list[Instruction]) -> bool:
    """Return True if two loads are of elements that follow each other."""
    for one, other in combinations(loads, 2):
        difference = forms.form(_pointer(one)) - forms.form(_pointer(other))
        assert isinstance(one.type, IntegerType)
        if set(difference.terms) == {()} and abs(difference.constant_part) == one.type.width // 8:
            return True
    return False


_ACCESS = re.compile(r"(read|write)_image(f|i|ui|h)")
# The type of a channel that is read and written with such functions; read_imageh is for those of read_imagef.
_USUAL = {"f": "float", "h": "float", "i": "signed_int32", "ui": "unsigned_int32"}


@dataclass(frozen=True, slots=True)
class ImageUse:
    """What a kernel does with an image: the last letters of the functions that access it, `f`, `i`, `ui`."""

    letters: frozenset[str]

    @property
    def usual_type(self) -> str:
        """A type of channel that such functions are for."""
        return _USUAL[min(self.letters)] if self.letters else _USUAL["f"]

    def mismatch(self, image_format: ImageFormat) -> str | None:
        """Return a function that is not for images of a format; None if there is none."""
        letters = sorted(
            letter for letter in self.letters if letter.replace("h", "f") != image_format.access_letter
        )
        return f"read_image{letters[0]} or write_image{letters[0]}" if letters else None


def image_kind(parameter: Argument) -> str | None:
    """Return the kind of image that a parameter is; None of what is no image, or of one that none describes."""
    kind = parameter.base_type_name.removesuffix("_t")
    return kind if isinstance(parameter.type, TargetType) and kind in KINDS else None


def is_writable(parameter: Argument) -> bool:
    """Return True if an image's qualifier lets a kernel write it."""
    return parameter.access in ("write_only", "read_write")


def is_readable(parameter: Argument) -> bool:
    """Return True unless an image's qualifier keeps a kernel from reading it."""
    return parameter.access != "write_only"


def image_use(kernel: Kernel, parameter: Argument) -> ImageUse:
    """Return what a kernel does with an image."""
    calls = (
        _ACCESS.fullmatch(builtin_name(instruction.callee))
        for instruction in kernel.instructions()
        if instruction.callee and any(each.text == parameter.name for each in instruction.arguments[:1])
    )
    return ImageUse(frozenset(call[2] for call in calls if call is not None))


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
    # The fields that the kernel computes an address of.
    named = (field for address, type_ in _addresses(kernel) for field in _fields_along(address, type_))
    return _structure(structure, frozenset(named))


def numbers_of(kind: np.dtype[Any], start: int = 0) -> Iterator[tuple[int, np.dtype[Any]]]:
    """Yield the place and the type of each number of a NumPy type, also of arrays and structures in it."""
    if kind.subdtype is not None:
        element, extents = kind.subdtype
        for index in range(math.prod(extents)):
            yield from numbers_of(element, start + index * element.itemsize)
    elif kind.fields is not None:
        for content, place, *_ in kind.fields.values():
            yield from numbers_of(content, start + place)
    else:
        yield start, kind


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


# What clang records of a type: `float*`, `float __attribute__((ext_vector_type(4)))*`.
_TYPE_NAME = re.compile(r"(\w+)(?: __attribute__\(\(ext_vector_type\((\d+)\)\)\))?\*?")


def kind_of(parameter: Argument) -> str | None:
    """`buffer`, `scalar`, `local`, `image` or `sampler`; None for what a file can't describe, such as an event."""
    if isinstance(parameter.type, TargetType):
        is_sampler = parameter.base_type_name == "sampler_t"
        return "sampler" if is_sampler else "image" if image_kind(parameter) else None
    if not isinstance(parameter.type, PointerType):
        return "scalar"
    if parameter.type.address_space == AddressSpace.PRIVATE:
        return "scalar"  # a structure by value
    return "local" if parameter.type.address_space == AddressSpace.LOCAL else "buffer"


def declared_type(parameter: Argument) -> ElementType | None:
    """Return the type of a parameter, of a pointer's elements; None where it is a structure's or not recorded."""
    match = _TYPE_NAME.fullmatch(parameter.base_type_name)
    if match is None:
        return None
    try:
        return element_type(match[1] + (match[2] or ""))
    except InvalidInputError:
        return None


def parameter_type(kernel: Kernel, parameter: Argument) -> ElementType:
    """Return the type of a parameter, of a pointer's elements; bytes where it is a structure's or isn't known."""
    declared = declared_type(parameter)
    if declared is not None:
        return declared
    structure = structure_of(kernel, parameter)
    if structure is not None:
        return opaque_type(size_of(structure))
    passed = by_value_type(parameter, kernel.structures) or parameter.type
    return opaque_type(1 if isinstance(passed, PointerType) else size_of(passed))
