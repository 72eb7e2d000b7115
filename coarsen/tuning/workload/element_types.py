"""OpenCL C's scalar and vector types and structures of them, images and samplers, and their arrays in NumPy.

    [structures.Body]
    place = "float4"
    tags = "uchar[5]"
    ─▶ 4 of float32 at 0, 5 of uint8 at 16, 32 bytes in all

A structure of which the description doesn't say the fields is so many `bytes`; structures within structures and
unions can't be described.

The contents of an image are an array of the shape (depth or layers, height, width, channels), without the axes
that its kind does not have; with one channel, without the last.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError

Array = NDArray[Any]

_SCALARS: Mapping[str, type[np.generic]] = MappingProxyType(
    {
        "char": np.int8,
        "uchar": np.uint8,
        "short": np.int16,
        "ushort": np.uint16,
        "int": np.int32,
        "uint": np.uint32,
        "long": np.int64,
        "ulong": np.uint64,
        "half": np.float16,
        "float": np.float32,
        "double": np.float64,
    }
)
SCALAR_NAMES = frozenset(_SCALARS)
OPAQUE = "bytes"
LARGEST_STRUCTURE = 1 << 20
_NAME = re.compile(rf"({'|'.join(_SCALARS)})(2|3|4|8|16)?")


# Of each kind of image, its extents: width, height and depth, or the number of layers.
# PyOpenCL copies those of one dimension neither from nor to the host.
KINDS: Mapping[str, int] = MappingProxyType({"image2d": 2, "image2d_array": 3, "image3d": 3})
# The number of channels of each order, by OpenCL's names.
CHANNELS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("R", "A", "INTENSITY", "LUMINANCE"), 1),
        **dict.fromkeys(("RG", "RA"), 2),
        **dict.fromkeys(("RGBA", "BGRA"), 4),
    }
)
# The types of a channel by OpenCL's names, in lower case.
CHANNEL_TYPES: Mapping[str, type[np.generic]] = MappingProxyType(
    {
        "float": np.float32,
        "half_float": np.float16,
        "signed_int8": np.int8,
        "signed_int16": np.int16,
        "signed_int32": np.int32,
        "unsigned_int8": np.uint8,
        "unsigned_int16": np.uint16,
        "unsigned_int32": np.uint32,
        "snorm_int8": np.int8,
        "snorm_int16": np.int16,
        "unorm_int8": np.uint8,
        "unorm_int16": np.uint16,
    }
)


@dataclass(frozen=True, slots=True)
class ImageFormat:
    """The kind of an image, the order of its channels and the type of each, by names of the tables above."""

    kind: str
    channels: str
    channel_type: str

    @property
    def component_count(self) -> int:
        """The number of channels of a pixel."""
        return CHANNELS[self.channels]

    @property
    def scalar(self) -> type[np.generic]:
        """The type of a channel in memory."""
        return CHANNEL_TYPES[self.channel_type]

    @property
    def is_normalized(self) -> bool:
        """Return True if a channel is a whole number in memory, and a kernel reads and writes fractions."""
        return "norm" in self.channel_type

    @property
    def is_layered(self) -> bool:
        """Return True if the last extent counts layers."""
        return self.kind.endswith("_array")

    @property
    def access_letter(self) -> str:
        """The last letters of the functions that read and write it: read_image`f`, `i`, `ui`, `h`."""
        if self.channel_type.startswith("signed"):
            return "i"
        return "ui" if self.channel_type.startswith("unsigned") else "f"

    def shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the contents of an image of this width, height and depth (or number of layers)."""
        return (*extents[::-1], *((self.component_count,) if self.component_count > 1 else ()))

    def extents(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the width, height and depth (or number of layers) of contents of this shape."""
        return shape[: KINDS[self.kind]][::-1]

    def __str__(self) -> str:
        return f"{self.kind} of {self.channels} {self.channel_type}"


class Addressing(enum.StrEnum):
    """What a kernel reads beyond an image's edge, by OpenCL's names in lower case."""

    NONE = "none"
    CLAMP_TO_EDGE = "clamp_to_edge"
    CLAMP = "clamp"
    REPEAT = "repeat"
    MIRRORED_REPEAT = "mirrored_repeat"


class Filter(enum.StrEnum):
    """What a kernel reads between pixels, by OpenCL's names in lower case."""

    NEAREST = "nearest"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class SamplerArgument:
    """A sampler that a kernel is given; `normalized`: coordinates run from 0 to 1."""

    addressing: Addressing = Addressing.CLAMP_TO_EDGE
    filter: Filter = Filter.NEAREST
    normalized: bool = False


@dataclass(frozen=True, slots=True)
class ElementType:
    """A type by its name in OpenCL C; `components` is 1 for a scalar type.

    A structure has so many components of one byte. Its name is `bytes` where `structure`, its fields, isn't known.
    """

    name: str
    scalar: type[np.generic]
    components: int
    structure: Structure | None = None

    @property
    def stored_components(self) -> int:
        """The number of components an element takes in memory: a vector of three takes four."""
        return 4 if self.components == 3 and not self.is_opaque else self.components

    @property
    def is_opaque(self) -> bool:
        """Return True for a structure, be it described or just bytes."""
        return self.name == OPAQUE or self.structure is not None

    @property
    def content(self) -> str:
        """Return what tells it from other types."""
        if self.structure is not None:
            return f"{self.name} {self.structure.text}"
        return f"{self.name} {self.byte_count}" if self.is_opaque else self.name

    @property
    def byte_count(self) -> int:
        """The size of an element in bytes."""
        return np.dtype(self.scalar).itemsize * self.stored_components

    @property
    def scalar_name(self) -> str:
        """The name of the type of a component, in OpenCL C."""
        return self.name.rstrip("0123456789")

    @property
    def is_integer(self) -> bool:
        """Return True if it holds whole numbers."""
        return bool(np.issubdtype(self.scalar, np.integer))

    def shape(self, elements: int) -> tuple[int, ...]:
        """Return the shape of an array of so many elements."""
        return (elements,) if self.components == 1 else (elements, self.stored_components)

    def can_hold(self, number: float) -> bool:
        """Return True if a number is in the type's range (infinity is in floats'), and whole where it must be."""
        if not self.is_integer:
            is_special = isinstance(number, float) and not math.isfinite(number)
            return is_special or abs(number) <= float(np.finfo(np.dtype(self.scalar)).max)
        limits = np.iinfo(np.dtype(self.scalar))
        return bool(limits.min <= number <= limits.max and number == int(number))

    def value(self, numbers: Sequence[float]) -> np.generic:
        """Return an argument passed by value, from its components."""
        if self.components == 1:
            made: Array = np.array([numbers[0]], self.scalar)
        else:
            padded = [*numbers, *[0] * (self.stored_components - len(numbers))]
            made = np.array([tuple(padded)], [(f"s{index}", self.scalar) for index in range(len(padded))])
        value: np.generic = made[0]
        return value


@dataclass(frozen=True, slots=True)
class StructureField:
    """A field: an element of a type, or an array of `count`; `count` is None for a single one."""

    name: str
    type: ElementType
    count: int | None

    @property
    def text(self) -> str:
        """Name and type, as `velocity float[3]`."""
        return f"{self.name} {self.type.name}" + (f"[{self.count}]" if self.count is not None else "")

    @property
    def alignment(self) -> int:
        """Return what its place in a structure is a multiple of, in bytes."""
        return self.type.byte_count

    @property
    def byte_count(self) -> int:
        """The room that it takes, in bytes: a vector of three has that of one of four."""
        return self.type.byte_count * (self.count or 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its numbers in one structure, without what a vector of three leaves unused."""
        extents = () if self.count is None else (self.count,)
        return extents if self.type.components == 1 else (*extents, self.type.components)


@dataclass(frozen=True, slots=True)
class Structure:
    """A structure of named fields, which lie as OpenCL C has them: each at a multiple of its own size."""

    name: str
    fields: tuple[StructureField, ...]

    @property
    def text(self) -> str:
        """Return what tells it from other structures of this name."""
        return ", ".join(field.text for field in self.fields)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type; bytes between and after the fields are padding."""
        offsets, end = [], 0
        for field in self.fields:
            offsets.append(-(-end // field.alignment) * field.alignment)
            end = offsets[-1] + field.byte_count
        alignment = max(field.alignment for field in self.fields)
        return np.dtype(
            {
                "names": [field.name for field in self.fields],
                "formats": [(field.type.scalar, field.shape) for field in self.fields],
                "offsets": offsets,
                "itemsize": -(-end // alignment) * alignment,
            }
        )


def structure_type(structure: Structure) -> ElementType:
    """Return the type of a described structure."""
    return ElementType(structure.name, np.uint8, structure.dtype.itemsize, structure)


def opaque_type(byte_count: int) -> ElementType:
    """Return the type of a structure of so many bytes."""
    return ElementType(OPAQUE, np.uint8, byte_count)


def pixel_type(image_format: ImageFormat) -> ElementType:
    """Return the type of an image's pixels, whose name is that of the format."""
    name = f"{image_format.channels} {image_format.channel_type}"
    return ElementType(name, image_format.scalar, image_format.component_count)


def element_type(name: str) -> ElementType:
    """Return the type of this name. Raises InvalidInputError where there is none."""
    match = _NAME.fullmatch(name)
    if match is None:
        hint = did_you_mean(name, _SCALARS)
        raise InvalidInputError(
            f"'{name}' is no type{hint}; there are {', '.join(_SCALARS)}, their vectors (float4), and {OPAQUE}"
        )
    return ElementType(name, _SCALARS[match[1]], int(match[2] or 1))
