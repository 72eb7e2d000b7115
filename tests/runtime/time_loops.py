"""A time loop of two kernels, tuned files that have it, and its results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.frontend.source_text import source_hash_of
from coarsen.variant.variant import Variant

# `back` shifts by whole elements, so that no turn may begin before the one before it is over.
SOURCE = """
kernel void forth(global uint *a, global uint *b, int n, int steps, int t)
{
    int i = get_global_id(0);
    if (i < n)
        b[i] = 3 * a[i] + a[(i + 1) % n] + t;
}
kernel void back(global const uint *b, global uint *a, int n, ulong twice)
{
    int i = get_global_id(0);
    if (i < n)
        a[i] = b[(i + 7) % n] ^ (uint)twice;
}
kernel void at_once(global uint *a, global uint *b, int n, int steps, int t)
{
    for (int s = 1; s < steps; s++) {
        for (int i = 0; i < n; i++)
            b[i] = 3 * a[i] + a[(i + 1) % n] + s;
        for (int i = 0; i < n; i++)
            a[i] = b[(i + 7) % n] ^ (uint)(2 * s);
    }
}
"""
LOOP = "turn in range(1, steps)"
ROUNDED = "(n + 15) // 16 * 16"
FORTH = TunedLaunch("forth", (ROUNDED,), (), (), ("a", "b", "n", "steps", "int: turn"), LOOP)
BACK = TunedLaunch("back", ("n",), ("1",), (), ("b", "a", "n", "ulong: 2 * turn"), LOOP)
IN_LOOP = TunedVersion(Variant((16,)), (FORTH, BACK))
AT_ONCE = TunedVersion(Variant((1,)), (TunedLaunch("at_once", ("1",)),))
ARGUMENTS = (
    KernelArgument("a", ArgumentKind.BUFFER),
    KernelArgument("b", ArgumentKind.BUFFER),
    KernelArgument("n", ArgumentKind.WHOLE),
    KernelArgument("steps", ArgumentKind.WHOLE),
    KernelArgument("t", ArgumentKind.WHOLE),
)


def loop_file(device: cl.Device, /, **changes: Any) -> TunedFile:  # noqa: ANN401 (any field)
    """The tuned file for a device: with the loop of two kernels alone, called as `forth`."""
    fields: dict[str, Any] = {
        "kernel": "forth",
        "arguments": ARGUMENTS,
        "source_hash": source_hash_of(SOURCE),
        "device": device.name.strip(),
        "driver": device.driver_version.strip(),
        "build_options": (),
        "coarsen_version": __version__,
        "features": (Feature("n", "n"),),
        "versions": (IN_LOOP,),
        "default": 0,
        "tree": Leaf(0),
    }
    return TunedFile(**(fields | changes))


@dataclass
class Steps:
    """Buffers of one run of the loop."""

    context: cl.Context
    n: int
    steps: int

    def __post_init__(self) -> None:
        self.values = np.random.default_rng(self.n * 1009 + self.steps).integers(0, 2**32, self.n, np.uint32)
        flags = cl.mem_flags
        self.a, self.b = (
            cl.Buffer(self.context, flags.COPY_HOST_PTR, hostbuf=each) for each in (self.values, self.values)
        )

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What a caller passes; the number of the step is that of each launch."""
        return self.a, self.b, np.int32(self.n), np.int32(self.steps), np.int32(-99)

    def check(self, event: cl.Event) -> None:
        """Check what a launch computed, read through a queue of its own."""
        expected = self.values.copy()
        for t in range(1, self.steps):
            middle = 3 * expected + np.roll(expected, -1) + np.uint32(t)
            expected = np.roll(middle, -7) ^ np.uint32(2 * t)
        found = np.empty_like(expected)
        cl.enqueue_copy(cl.CommandQueue(self.context), found, self.a, wait_for=[event])
        assert (found == expected).all(), (self.n, self.steps)
