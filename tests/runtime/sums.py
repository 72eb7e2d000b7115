"""A sum in one launch and in two with scratch, a tuned file with both, and launches of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl

import coarsen
from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.frontend.source_text import source_hash_of
from coarsen.runtime.kernel import Kernel
from coarsen.variant.variant import Variant

SOURCE = """
#ifndef CHUNK
#pragma coarsen values 8,16,64,100000,no_such_name
#define CHUNK 8
#endif
#pragma coarsen values 8,16
#define SIZE 8
kernel void total(global const int *x, int n, global int *y, local int *tile)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    if (get_global_id(0) == 0)
        y[0] = sum;
}
kernel void parts(global const int *x, int n, global int *sums, uint count)
{
    uint part = get_global_id(0);
    if (part >= count)
        return;
    int sum = 0;
    for (int i = part * CHUNK; i < min(n, (int)(part + 1) * CHUNK); i++)
        sum += x[i];
    sums[part] = sum;
}
kernel void finish(global const int *sums, uint count, global int *y, local int *tile)
{
    uint own = get_local_id(0), size = get_local_size(0);
    int sum = 0;
    for (uint i = own; i < count; i += size)
        sum += sums[i];
    tile[own] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own == 0) {
        for (uint i = 1; i < size; i++)
            sum += tile[i];
        y[0] = sum;
    }
}
"""
ARGUMENTS = (
    KernelArgument("x", ArgumentKind.BUFFER),
    KernelArgument("n", ArgumentKind.WHOLE),
    KernelArgument("y", ArgumentKind.BUFFER),
    KernelArgument("tile", ArgumentKind.LOCAL),
)
# Of the default version.
SIZES = ((1,), (1,))
COUNT = "(n + CHUNK - 1) // CHUNK"
PARTS = TunedLaunch("parts", (f"({COUNT} + 7) // 8 * 8",), ("8",), (), ("x", "n", "sums", f"uint: {COUNT}"))


def in_two(chunk: int, finish: TunedLaunch) -> TunedVersion:
    """A version of two launches."""
    macros = (("CHUNK", str(chunk)),)
    return TunedVersion(Variant((), (), macros), (PARTS, finish), (("sums", f"({COUNT}) * 4"),))


FINISH = TunedLaunch("finish", ("16",), ("16",), (("tile", "16 * 4"),), ("sums", f"uint: {COUNT}", "y", "tile"))
VERSIONS = (
    TunedVersion(Variant((1,)), (TunedLaunch("total", ("1",)),)),
    in_two(8, FINISH),
    # With the caller's local memory.
    in_two(64, TunedLaunch("finish", ("4",), ("4",), (), FINISH.arguments)),
)


def sum_file(device: cl.Device, /, **changes: Any) -> TunedFile:  # noqa: ANN401 (any field)
    """The tuned file for a device: the larger a sum, the later the version."""
    fields: dict[str, Any] = {
        "kernel": "total",
        "arguments": ARGUMENTS,
        "source_hash": source_hash_of(SOURCE),
        "device": device.name.strip(),
        "driver": device.driver_version.strip(),
        "build_options": (),
        "coarsen_version": __version__,
        "features": (Feature("n", "n"),),
        "versions": VERSIONS,
        "default": 0,
        "tree": Split("n", 20.0, Leaf(0), Split("n", 1000.0, Leaf(1), Leaf(2))),
    }
    return TunedFile(**(fields | changes))


@dataclass
class Sum:
    """Buffers of one sum; after the result is a zone that no launch may touch."""

    context: cl.Context
    n: int
    seed: int = 0

    def __post_init__(self) -> None:
        values = np.random.default_rng(self.n * 1009 + self.seed).integers(-99, 99, self.n, np.int32)
        flags = cl.mem_flags
        self.values = cl.Buffer(self.context, flags.COPY_HOST_PTR, hostbuf=values)
        self.result = cl.Buffer(self.context, flags.COPY_HOST_PTR, hostbuf=np.full(8, -7, np.int32))
        self.expected = int(values.sum())

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.values, np.int32(self.n), self.result, cl.LocalMemory(16)

    def found(self, event: cl.Event | None = None) -> int:
        """Read the result once an event is over, through a queue of its own; check the zone, and clear both."""
        queue = cl.CommandQueue(self.context)
        found = np.empty(8, np.int32)
        cl.enqueue_copy(queue, found, self.result, wait_for=None if event is None else [event])
        assert (found[1:] == -7).all()
        cl.enqueue_copy(queue, self.result, np.full(8, -7, np.int32))
        return int(found[0])

    def check(self, event: cl.Event) -> None:
        """Check what a launch computed."""
        assert self.found(event) == self.expected, self.n


def summing_program(context: cl.Context, /, **changes: Any) -> coarsen.Program:  # noqa: ANN401 (fields of the file)
    return coarsen.Program(context, SOURCE, tuned=sum_file(context.devices[0], **changes)).build()


def summing(program: coarsen.Program) -> Kernel:
    """Return the kernel `total` of a program that has a tuned file for it."""
    kernel = program.total
    assert isinstance(kernel, Kernel)
    return kernel
