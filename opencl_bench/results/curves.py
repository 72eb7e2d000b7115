"""Effect of coarsening on kernels on devices: one curve of speed-ups per kernel, device and dimension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import LocalSize

# A kernel on a device along a dimension.
CurveKey = tuple[str, str, int]


@dataclass(frozen=True)
class Curve:
    """A kernel's speed-ups on a device along a dimension, over the same launch uncoarsened.

    Args:
        kernel: its name.
        device: a name of `coarsen.models.DEVICE_DESCRIPTORS`.
        dimension: of the NDRange, along which it is coarsened.
        local_size: of the uncoarsened launch, in work-items; None where unknown.
        speedup: by the factors above 1 that ran; 0.1 for those that were given up. Empty where only the best
            factor is known.
        best_factor: 1 where no factor helps.
    """

    kernel: str
    device: str
    dimension: int
    local_size: LocalSize | None
    speedup: Mapping[int, float]
    best_factor: int

    @property
    def place(self) -> CurveKey:
        """The key that tells curves apart."""
        return self.kernel, self.device, self.dimension


@dataclass(frozen=True)
class CurveData:
    """The curves of a file, the factors that its authors predicted by kernel and device, and remarks on it."""

    curves: tuple[Curve, ...]
    predicted: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def predicted_on(self, device: str) -> dict[str, int]:
        """Return the factors that the authors predicted on a device, by kernel."""
        return {kernel: factor for (kernel, place), factor in self.predicted.items() if place == device}


def merged(parts: Sequence[CurveData]) -> CurveData:
    """Return the curves of several files as one.

    Of a kernel that one file has the curve of and another the best factor, the curve is taken.

    Raises:
        InvalidInputError: two files have the same curve.
    """
    curves: dict[CurveKey, Curve] = {}
    for curve in (curve for part in parts for curve in part.curves):
        known = curves.get(curve.place)
        if known is not None and bool(known.speedup) == bool(curve.speedup):
            raise InvalidInputError(f"{curve.kernel} on {curve.device} is in the data twice")
        if known is None or curve.speedup:
            curves[curve.place] = curve
    predicted = {place: factor for part in parts for place, factor in part.predicted.items()}
    return CurveData(tuple(curves.values()), predicted, tuple(note for part in parts for note in part.notes))


def on_devices(curves: Iterable[Curve], devices: Sequence[str]) -> tuple[Curve, ...]:
    """Return the curves on some devices, all if none is named.

    Raises InvalidInputError where there are none on one.
    """
    found = tuple(curves)
    known = dict.fromkeys(curve.device for curve in found)
    for device in devices:
        if device not in known:
            raise InvalidInputError(f"the data has nothing of a device '{device}'; it has {', '.join(known)}")
    return tuple(curve for curve in found if not devices or curve.device in devices)
