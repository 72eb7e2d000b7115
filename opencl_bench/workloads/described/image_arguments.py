"""Reads the entries of a benchmark file's `arguments` that are images and samplers.

image = "image2d"            sampler = "clamp_to_edge"
extent = ["n", "n"]          filter = "nearest"
channels = "RGBA"            normalized = false
format = "unorm_int8"
values = "integers(0, 256)"
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from coarsen.dispatch.expressions import Expression, parse_expression
from coarsen.near_names import did_you_mean
from coarsen.opencl_bench.workloads.described.distributions import Filling
from coarsen.opencl_bench.workloads.described.element_types import ElementType, pixel_type
from coarsen.opencl_bench.workloads.described.table import Table
from coarsen.opencl_bench.workloads.described.values import parse_values
from coarsen.opencl_bench.workloads.image_format import (
    CHANNEL_TYPES,
    CHANNELS,
    KINDS,
    Addressing,
    Filter,
    ImageFormat,
    SamplerArgument,
)


@dataclass(frozen=True, slots=True)
class ImageDescription:
    """An image: its format, its extents (width, height, depth or the number of layers), and what is in it."""

    name: str
    format: ImageFormat
    extents: tuple[Expression, ...]
    values: Filling

    @property
    def type(self) -> ElementType:
        """The type of a pixel."""
        return pixel_type(self.format)

    @property
    def names(self) -> frozenset[str]:
        """The names that its extents need."""
        return frozenset[str]().union(*(extent.names for extent in self.extents))

    @property
    def content(self) -> list[object]:
        """Return what tells it from other images, as JSON takes it."""
        return [str(self.format), [extent.text for extent in self.extents], self.values.content]


@dataclass(frozen=True, slots=True)
class SamplerDescription:
    """A sampler."""

    name: str
    sampler: SamplerArgument

    @property
    def type(self) -> ElementType:
        """A type, as all arguments have one; nothing of a sampler is in memory."""
        return pixel_type(ImageFormat("image2d", "R", "float"))

    @property
    def content(self) -> list[object]:
        """Return what tells it from other samplers, as JSON takes it."""
        return [self.sampler.addressing, self.sampler.filter, self.sampler.normalized]


def read_image(table: Table, outputs: Collection[str]) -> ImageDescription:
    """Read an image. Raises InvalidInputError for a mistake in it."""
    table.check_names("name", "image", "extent", "channels", "format", "values")
    name = table.text("name")
    kind = _one_of(table, "image", KINDS)
    image_format = ImageFormat(kind, _one_of(table, "channels", CHANNELS), _one_of(table, "format", CHANNEL_TYPES))
    entries = table.array("extent")
    if len(entries) != KINDS[kind]:
        raise table.error("extent", f"{kind} has {KINDS[kind]} extents, not {len(entries)}")
    if any(isinstance(entry, bool) or not isinstance(entry, str | int) for entry in entries):
        raise table.error("extent", f"it must hold whole numbers or expressions, not {entries!r}")
    extents = tuple(table.parse_text("extent", parse_expression, str(entry)) for entry in entries)
    default = "unwritten" if name in outputs else None
    values = table.parse("values", partial(parse_values, folder=table.path.parent), default)
    return ImageDescription(name, image_format, extents, values)


def read_sampler(table: Table, _outputs: Collection[str]) -> SamplerDescription:
    """Read a sampler. Raises InvalidInputError for a mistake in it."""
    table.check_names("name", "sampler", "filter", "normalized")
    addressing = _one_of(table, "sampler", dict.fromkeys(Addressing))
    chosen = _one_of(table, "filter", dict.fromkeys(Filter)) if table.has("filter") else Filter.NEAREST
    normalized = table.values.get("normalized", False)
    if not isinstance(normalized, bool):
        raise table.error("normalized", f"it must be true or false, not {normalized!r}")
    sampler = SamplerArgument(Addressing(addressing), Filter(chosen), normalized)
    return SamplerDescription(table.text("name"), sampler)


def _one_of(table: Table, key: str, known: Mapping[str, object]) -> str:
    value = table.text(key)
    if value not in known:
        raise table.error(key, f"there is no '{value}'{did_you_mean(value, known)}; there are {', '.join(known)}")
    return value
