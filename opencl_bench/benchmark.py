"""What a benchmark is: a kernel's source, its sizes, and the workloads made from them.

A `Benchmark` makes a `Workload` from a preset and a seed: the buffers, the launches that turn the inputs
into the outputs, and an independent reference of the outputs.

Shapes: a buffer of OpenCL vectors of n components is an array whose last axis has n elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError

Array = NDArray[Any]
LocalSize = tuple[int, ...]
Size = Mapping[str, int]

KERNEL_FOLDER = Path(__file__).parent / "kernels"


@dataclass(frozen=True, slots=True)
class BufferArgument:
    """A buffer of the workload, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar passed by value; its NumPy type is the kernel's parameter type."""

    value: np.generic


@dataclass(frozen=True, slots=True)
class LocalArgument:
    """Dynamic local memory of a work-group, in bytes."""

    byte_count: int


Argument = BufferArgument | ScalarArgument | LocalArgument


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel over an NDRange, with the uncoarsened sizes."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: LocalSize
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """Everything needed to run a benchmark once and to judge what came out.

    `buffers` holds the contents before the first launch, `reference` computes the contents of the `outputs`
    after the last one. A floating-point element is right if |got - wanted| <= absolute + relative * |wanted|;
    an integer if it differs by at most `integer_tolerance`, which is 0 unless rounding of an intermediate
    result may tip it.
    """

    buffers: Mapping[str, Array]
    launches: tuple[Launch, ...]
    outputs: tuple[str, ...]
    reference: Callable[[], Mapping[str, Array]]
    relative_tolerance: float = 0.0
    absolute_tolerance: float = 0.0
    integer_tolerance: int = 0


@dataclass(frozen=True, slots=True)
class Preset:
    """The extents of the problem (in elements) and the work-group size used unless another is asked for."""

    size: Size
    local_size: LocalSize


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A kernel with its host driver.

    `dimensions` are those that the NDRange uses. `divisible_local_sizes` gives, for each of them, a work-group
    whose extent along it is divided by as many of the factors 2, 3, 4, 8, 16, 32 as the algorithm allows.
    `make_workload` takes the extents, the work-group size and the source of random numbers; extents that the
    kernel does not guard are rounded up to whole work-groups.
    """

    name: str
    dimensions: tuple[int, ...]
    presets: Mapping[str, Preset]
    divisible_local_sizes: Mapping[int, LocalSize]
    make_workload: Callable[[Size, LocalSize, np.random.Generator], Workload]
    build_options: tuple[str, ...] = ("-cl-std=CL1.2",)

    @property
    def kernel(self) -> str:
        """The name of the kernel function."""
        return self.name

    @property
    def kernel_file(self) -> Path:
        """The path of the kernel's source."""
        return KERNEL_FOLDER / f"{self.name}.cl"

    @property
    def source(self) -> str:
        """The kernel's OpenCL C source."""
        return self.kernel_file.read_text(encoding="utf-8")

    def workload(self, preset: str, seed: int = 0, local_size: LocalSize | None = None) -> Workload:
        """Make the workload of a preset; the same arguments give the same arrays.

        Args:
            preset: `test`, `cpu` or `paper`.
            seed: seed of the inputs.
            local_size: work-group size in work-items, one entry per dimension; the preset's if None.

        Raises:
            InvalidInputError: no such preset, or a work-group size that the algorithm can't use.
        """
        if preset not in self.presets:
            raise InvalidInputError(f"{self.name}: no preset {preset!r}; there are {', '.join(self.presets)}")
        chosen = self.presets[preset]
        group = chosen.local_size if local_size is None else local_size
        if len(group) != len(chosen.local_size) or min(group) < 1:
            count = len(chosen.local_size)
            raise InvalidInputError(f"{self.name}: a local size is {count} positive numbers, not {group}")
        return self.make_workload(chosen.size, group, np.random.default_rng(seed))
