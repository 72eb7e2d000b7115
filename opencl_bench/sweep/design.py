"""The sparse design: which rows are measured of a kernel of free launch, so that a model can learn from few.

    most kernels             one of the three sizes, drawn
    a fifth of them          all three sizes
    the calibration set      one size, nearly every configuration

At each size every legal local size is measured uncoarsened: these are what all others are compared with. The
coarsened configurations are a stratified sample (see `stratified`).
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.models.calibration_set import is_calibration
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.workloads.free_launch import free_launch_kernel, is_free_launch
from coarsen.opencl_bench.workloads.free_launch.draws import Draws
from coarsen.opencl_bench.workloads.free_launch.sizes import SIZES
from coarsen.variant.coarsening import Level
from coarsen.variant.space import TransformChoices
from coarsen.variant.transforms import DeviceKind

CONFIGURATIONS = 10
CALIBRATION_CONFIGURATIONS = 100
SHARE_OF_ALL_SIZES = 0.2
FACTORS = (2, 4, 8, 16, 32)
STRIDES = (1, 2, 4, 8, 16, 32, 64)
MOST_MERGED = 32
# One seed for each preset's sample of each kernel.
_STREAM = 3


@dataclass(frozen=True, slots=True)
class DesignedSweep:
    """A part of a design: a preset, and the space that is measured there."""

    preset: str
    space: Space


def sparse_design(name: str, kind: DeviceKind) -> tuple[DesignedSweep, ...]:
    """Return the sweeps of a kernel of free launch on a kind of device.

    Args:
        name: `launch-SEED-NUMBER`.
        kind: decides how large the sizes are; what is not known to be a CPU is taken for a GPU.

    Raises:
        InvalidInputError: the name is that of another kernel, which has no design.
    """
    if not is_free_launch(name):
        raise InvalidInputError(f"{name}: the sparse design is for kernels called launch-SEED-NUMBER")
    kernel = free_launch_kernel(name)
    draws = Draws(kernel.seed, kernel.index, _STREAM)
    sizes = SIZES[DeviceKind.CPU if kind is DeviceKind.CPU else DeviceKind.GPU]
    has_all, one = draws.chance(SHARE_OF_ALL_SIZES), draws.whole(0, len(sizes) - 1)
    seeds = [draws.whole(0, (1 << 31) - 1) for _ in sizes]
    if is_calibration(name):
        return (DesignedSweep(sizes[one], _space(CALIBRATION_CONFIGURATIONS, seeds[one])),)
    chosen = range(len(sizes)) if has_all else (one,)
    return tuple(DesignedSweep(sizes[number], _space(CONFIGURATIONS, seeds[number])) for number in chosen)


def _space(configurations: int, seed: int) -> Space:
    return Space(
        arrays=(),
        factors=FACTORS,
        strides=STRIDES,
        levels=(Level.ITEM, Level.GROUP),
        at_once=2,
        most_merged=MOST_MERGED,
        transforms=TransformChoices(wide_accesses=(False, True)),
        sample=configurations,
        sample_seed=seed,
        stratified=True,
    )
