"""The sizes at which spaces are measured, by the kind of device: what a launch of some milliseconds takes on a CPU
is nothing to a GPU."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.variant.transforms import DeviceKind


class Size(enum.StrEnum):
    """A part of the study, each at sizes of its own."""

    SEARCHED = "searched"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The presets of a kind of device.

    Attributes:
        searched: of which every variant is measured.
        large: of which the best are compared.
        flushes_caches: before each run at the searched sizes, of which a GPU's second-level cache would hold all.
    """

    searched: str
    large: str
    flushes_caches: bool = False

    def preset(self, size: Size) -> str:
        """Return the preset of a part of the study."""
        return self.searched if size is Size.SEARCHED else self.large


_CPU = Sizes("small", "cpu")
_BY_KIND: Mapping[DeviceKind, Sizes] = MappingProxyType({DeviceKind.GPU: Sizes("cpu", "gpu", flushes_caches=True)})


def sizes_for(kind: DeviceKind) -> Sizes:
    """Return the sizes for a kind of device."""
    return _BY_KIND.get(kind, _CPU)
