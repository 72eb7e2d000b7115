"""Images of a workload: their kind, and what a pixel holds; and the samplers that kernels read them with.

The contents of an image are an array of the shape (depth or layers, height, width, channels), without the axes
that its kind does not have; with one channel, without the last.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

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
