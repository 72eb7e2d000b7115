"""The types of OpenCL C, and how they are spelled and laid out.

An integer of LLVM has no sign, one of OpenCL C has: `from_llvm` is told which to take.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from coarsen.errors import RefusalError
from coarsen.ir import types as llvm
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
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type; `kind` is signed, unsigned, float or bool, `size` in bytes.

    With `may_alias` it is one of the writer's own, whose accesses may reach memory of any type.
    """

    name: str
    kind: str
    size: int
    may_alias: bool = False

    @property
    def is_integer(self) -> bool:
        """Return True if it is an integer (a bool is one, of value 0 or 1)."""
        return self.kind != "float"

    def __str__(self) -> str:
        return f"aliasing_{self.name}" if self.may_alias else self.name


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector; a mask holds -1 for true and 0 for false, and stands for LLVM's `<count x i1>`."""

    element: Scalar
    count: int
    is_mask: bool = False

    def __str__(self) -> str:
        return f"{self.element}{self.count}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer into an address space (`AddressSpace`), its qualifiers being those of what it points to."""

    pointee: CType
    space: int
    is_const: bool = False
    is_volatile: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """An array in memory."""

    element: CType
    count: int


@dataclass(frozen=True, slots=True)
class Record:
    """A structure; its layout is that of LLVM's type, its fields' names are the declarations' business."""

    name: str
    layout: StructType


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type known by name only: images, samplers, events, void, C11 atomics."""

    name: str

    def __str__(self) -> str:
        return self.name


CType = Scalar | Vector | Pointer | Array | Record | Opaque

VOID = Opaque("void")
EVENT = Opaque("event_t")
BOOL = Scalar("bool", "bool", 1)
CHAR, UCHAR = Scalar("char", "signed", 1), Scalar("uchar", "unsigned", 1)
SHORT, USHORT = Scalar("short", "signed", 2), Scalar("ushort", "unsigned", 2)
INT, UINT = Scalar("int", "signed", 4), Scalar("uint", "unsigned", 4)
LONG, ULONG = Scalar("long", "signed", 8), Scalar("ulong", "unsigned", 8)
HALF, FLOAT, DOUBLE = Scalar("half", "float", 2), Scalar("float", "float", 4), Scalar("double", "float", 8)

SIGNED = {8: CHAR, 16: SHORT, 32: INT, 64: LONG}
UNSIGNED = {8: UCHAR, 16: USHORT, 32: UINT, 64: ULONG}
FLOATS = {"half": HALF, "float": FLOAT, "double": DOUBLE}
SCALARS = {type_.name: type_ for type_ in (BOOL, *SIGNED.values(), *UNSIGNED.values(), *FLOATS.values())}
VECTOR_COUNTS = (2, 3, 4, 8, 16)
SPACE_NAMES = {
    AddressSpace.PRIVATE: "private",
    AddressSpace.GLOBAL: "global",
    AddressSpace.CONSTANT: "constant",
    AddressSpace.LOCAL: "local",
    AddressSpace.GENERIC: "",
}
_IMAGES = {0: "image1d", 1: "image2d", 2: "image3d", 5: "image1d_buffer"}
_KIND_OF_RECORD = re.compile(r"^(?:struct|union|class)\.")
_LONGEST_NAME = 40
_NOT_IN_NAMES = re.compile(r"\W")


@lru_cache(maxsize=4096)
def from_llvm(type_: Type, *, signed: bool = True) -> CType:
    """Return the C type of a value of LLVM's type; a pointer points to char, since LLVM doesn't say to what."""
    match type_:
        case IntegerType(1):
            return BOOL
        case IntegerType(width):
            return integer(width, signed=signed)
        case FloatType(kind) if kind in FLOATS:
            return FLOATS[kind]
        case PointerType(space):
            return Pointer(CHAR, space)
        case VectorType(count, element):
            return _vector(count, element, signed)
        case ArrayType(count, element):
            return Array(from_llvm(element, signed=signed), count)
        case StructType():
            return Record(record_name(type_), type_)
        case TargetType(text):
            return _target(text)
    raise RefusalError("unsupported-type", f"OpenCL C has no type for LLVM's '{type_}'")


def record_name(type_: StructType) -> str:
    """Return a structure's name in C: LLVM's without its kind; of an unnamed one, one made of its layout."""
    if type_.name:
        return _NOT_IN_NAMES.sub("_", _KIND_OF_RECORD.sub("", type_.name))
    elements = [str(element) for element in type_.elements]
    name = "tuple_" + "_".join(elements)
    if len(name) <= _LONGEST_NAME and not type_.packed and not _NOT_IN_NAMES.search(name):
        return name
    return f"tuple_{hashlib.blake2s(str(type_).encode(), digest_size=6).hexdigest()}"


def integer(width: int, *, signed: bool) -> Scalar:
    """Return the integer of `width` bits, refused if OpenCL C has none."""
    if width not in SIGNED:
        raise RefusalError("integer-width", f"OpenCL C has no integer of {width} bits")
    return SIGNED[width] if signed else UNSIGNED[width]


def _vector(count: int, element: Type, signed: bool) -> Vector:
    if count not in VECTOR_COUNTS:
        raise RefusalError("vector-length", f"OpenCL C has no vector of {count} elements")
    scalar = from_llvm(element, signed=signed)
    if not isinstance(scalar, Scalar):
        raise RefusalError("unsupported-type", f"OpenCL C has no vector of '{element}'")
    if scalar is BOOL:
        return Vector(INT, count, is_mask=True)
    return Vector(scalar, count)


def _target(text: str) -> CType:
    if "spirv.Sampler" in text:
        return Opaque("sampler_t")
    if "spirv.Event" in text:
        return EVENT
    if "spirv.Image" in text:
        return Opaque(_image(text))
    raise RefusalError("unsupported-type", f"the type {text} can't be written as OpenCL C")


def _image(text: str) -> str:
    """OpenCL's name of `target("spirv.Image", sampled, dimension, depth, arrayed, multisampled, …)`."""
    dimension, depth, arrayed, multisampled = (int(word) for word in text.split(", ")[2:6])
    if dimension not in _IMAGES:
        raise RefusalError("unsupported-type", f"the type {text} can't be written as OpenCL C")
    flags = ("_array" if arrayed else "", "_msaa" if multisampled else "", "_depth" if depth else "")
    return f"{_IMAGES[dimension]}{''.join(flags)}_t"


def size_of(type_: CType) -> int:
    """Return the size in bytes that the type takes in memory, padding at its end included."""
    match type_:
        case Scalar(size=size):
            return size
        case Vector(element, count):
            return element.size * (4 if count == 3 else count)
        case Pointer():
            return 8
        case Array(element, count):
            return size_of(element) * count
        case Record(layout=layout):
            return llvm.size_of(layout)
    return 1


def alignment_of(type_: CType) -> int:
    """Return the natural alignment in bytes."""
    match type_:
        case Scalar() | Vector() | Pointer():
            return size_of(type_)
        case Array(element):
            return alignment_of(element)
        case Record(layout=layout):
            return llvm.alignment_of(layout)
    return 1


def with_sign(type_: CType, *, signed: bool) -> CType:
    """Return the integer type of the same size with the sign that is asked for; others come back as they are."""
    if isinstance(type_, Scalar):
        return integer(type_.size * 8, signed=signed) if type_.kind in ("signed", "unsigned") else type_
    if isinstance(type_, Vector) and type_.element.kind in ("signed", "unsigned") and not type_.is_mask:
        return replace(type_, element=integer(type_.element.size * 8, signed=signed))
    return type_


def is_signed(type_: CType) -> bool:
    """Return True if an integer's or an integer vector's type is signed."""
    return element_of(type_).kind == "signed"


def element_of(type_: CType) -> Scalar:
    """Return the type itself, or the element of a vector."""
    if isinstance(type_, Vector):
        return type_.element
    if isinstance(type_, Scalar):
        return type_
    raise TypeError(f"{type_} is neither scalar nor vector")


def same_bits(first: CType, second: CType) -> bool:
    """Return True if both types read memory alike, an integer's sign apart."""
    if first is second:
        return True
    if isinstance(first, Pointer) and isinstance(second, Pointer):
        return first.space == second.space
    if type(first) is not type(second):
        return False
    if isinstance(first, Scalar) and isinstance(second, Scalar) and first.size != second.size:
        return False
    return with_sign(first, signed=True) == with_sign(second, signed=True)


def declared(type_: CType, name: str, qualifiers: str = "") -> str:
    """Return a declaration of `name`; without a name, the type as a cast spells it.

    `qualifiers` are those of the variable itself, such as its address space: they stand after a pointer's star.
    """
    match type_:
        case Array(element, count):
            return declared(element, f"{name}[{count}]", qualifiers)
        case Pointer(pointee, space, is_const, is_volatile):
            starred = f"*{qualifiers} {name}".rstrip() if qualifiers else f"*{name}"
            inner = f"({starred})" if isinstance(pointee, Array) else starred
            words = [SPACE_NAMES.get(space, "")]
            words += ["const"] if is_const and space != AddressSpace.CONSTANT else []
            words += ["volatile"] if is_volatile else []
            return declared(pointee, inner, " ".join(word for word in words if word))
        case Record(record_name):
            return f"{qualifiers} {_joined(record_name, name)}".lstrip()
    return f"{qualifiers} {_joined(str(type_), name)}".lstrip()


def image_access(type_: Type) -> str:
    """Return the access qualifier of an image of LLVM, an empty text for anything else."""
    if not isinstance(type_, TargetType) or "spirv.Image" not in type_.text:
        return ""
    return ("read_only", "write_only", "read_write")[int(type_.text.rstrip(")").rpartition(", ")[2])]


def _joined(type_name: str, name: str) -> str:
    if name.startswith("*"):
        stars = len(name) - len(name.lstrip("*"))
        return f"{type_name}{'*' * stars} {name[stars:]}".rstrip()
    if name.startswith("("):
        return f"{type_name} {name}"
    if name.startswith("["):
        return f"{type_name}{name}"
    return f"{type_name} {name}".rstrip()
