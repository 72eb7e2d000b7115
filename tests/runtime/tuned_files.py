"""A matrix times a vector, a tuned file for it with all kinds of versions, and launches of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

import coarsen
from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.drop_in.program import Program
from coarsen.frontend.source_text import source_hash_of
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

SOURCE = """
#ifndef ROWS
#pragma coarsen values 1,2,4,no_such_name
#define ROWS 1
#endif
kernel void mv(global const int *a, global const int *x, int width, int height, global int *y)
{
    int first = get_global_id(0) * ROWS;
    for (int row = first; row < first + ROWS && row < height; row++) {
        int sum = 0;
        for (int column = 0; column < width; column++)
            sum += a[row * width + column] * x[column];
        y[row] = sum;
    }
}
kernel void twice(global int *y) { y[get_global_id(0)] *= 2; }
"""
_BUFFER, _WHOLE = ArgumentKind.BUFFER, ArgumentKind.WHOLE
ARGUMENTS = tuple(
    KernelArgument(name, kind)
    for name, kind in (("a", _BUFFER), ("x", _BUFFER), ("width", _WHOLE), ("height", _WHOLE), ("y", _BUFFER))
)
ROUNDED = "(height + local_size_0 - 1) // local_size_0 * local_size_0"
VERSIONS = (
    TunedVersion(Variant((16,)), (TunedLaunch("mv", (ROUNDED,)),)),
    TunedVersion(
        Variant((32,), (), (("ROWS", "4"),)),
        (TunedLaunch("mv", ("(height + ROWS * 32 - 1) // (ROWS * 32) * 32",)),),
    ),
    TunedVersion(Variant((64,), (Coarsening(2, 0),)), (TunedLaunch("mv", (ROUNDED,)),)),
    # Its sizes are often no multiples of the factor.
    TunedVersion(Variant((), (Coarsening(4, 0),)), (TunedLaunch("mv", ("height",)),)),
    TunedVersion(
        Variant((32,), (Coarsening(4, 0),), (), Transforms(wide_accesses=True)),
        (TunedLaunch("mv", (ROUNDED,)),),
    ),
)
TREE = Split(
    "aspect",
    0.0,
    Split("skew", 0.5, Leaf(1), Leaf(4)),
    Split("rows", 100.0, Leaf(0), Split("size", 40000.0, Leaf(2), Leaf(3))),
)
FEATURES = (
    Feature("aspect", "log2(height / width)"),
    Feature("rows", "height"),
    Feature("size", "bytes_a"),
    Feature("skew", "height % 2"),
)


def mv_file(device: cl.Device, /, **changes: Any) -> TunedFile:  # noqa: ANN401 (any field)
    """The tuned file for a device."""
    fields: dict[str, Any] = {
        "kernel": "mv",
        "arguments": ARGUMENTS,
        "source_hash": source_hash_of(SOURCE),
        "device": device.name.strip(),
        "driver": device.driver_version.strip(),
        "build_options": (),
        "coarsen_version": __version__,
        "features": FEATURES,
        "versions": VERSIONS,
        "default": 0,
        "tree": TREE,
        "evidence": {"gains": [1.0, 1.5, 2.0, 1.25, 1.1]},
    }
    return TunedFile(**(fields | changes))


def small_file(device: cl.Device, /, **changes: Any) -> TunedFile:  # noqa: ANN401
    """One whose versions aren't coarsened, which is built at once: wide matrices take version 1."""
    fields: dict[str, Any] = {
        "features": (Feature("aspect", "log2(height / width)"), Feature("skew", "height % 2")),
        "versions": VERSIONS[:2],
        "tree": Split("aspect", 0.0, Leaf(1), Leaf(0)),
        "evidence": {},
    }
    return mv_file(device, **(fields | changes))


@dataclass
class Seen:
    """Observes launches."""

    launches: list[tuple[OriginalLaunch, DividedLaunch]] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert kernel == "mv"
        self.launches.append((original, divided))


def built(context: cl.Context, file: TunedFile, **options: Any) -> coarsen.Program:  # noqa: ANN401
    return coarsen.Program(context, SOURCE, tuned=file, **options).build()


@dataclass
class Product:
    """Buffers of one matrix and vector; the result has a zone after it that no launch may touch."""

    queue: cl.CommandQueue
    height: int
    width: int
    guard: int = 64

    def __post_init__(self) -> None:
        generator = np.random.default_rng(self.height * 1009 + self.width)
        matrix = generator.integers(-99, 99, (self.height, self.width), np.int32)
        vector = generator.integers(-99, 99, self.width, np.int32)
        context, flags = self.queue.context, cl.mem_flags
        self.matrix, self.vector = (cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=v) for v in (matrix, vector))
        self.result = cl.Buffer(context, flags.READ_WRITE, 4 * (self.height + self.guard))
        self.expected: NDArray[np.int32] = matrix @ vector
        self.clear()

    def clear(self) -> None:
        cl.enqueue_fill_buffer(self.queue, self.result, np.array(-7, np.int32), 0, self.result.size)

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.matrix, self.vector, np.int32(self.width), np.int32(self.height), self.result

    @property
    def sizes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Those of the default version."""
        return ((self.height + 15) // 16 * 16,), (16,)

    def check(self) -> None:
        """Check what was computed, and clear it."""
        found = np.empty(self.height + self.guard, np.int32)
        cl.enqueue_copy(self.queue, found, self.result)
        assert (found[: self.height] == self.expected).all(), (self.height, self.width)
        assert (found[self.height :] == -7).all(), (self.height, self.width)
        self.clear()


def tuned(program: Program) -> Kernel:
    """Return the kernel `mv` of a program that has a tuned file for it."""
    kernel = program.mv
    assert isinstance(kernel, Kernel)
    return kernel
