"""Local memory that a tuned file declares as another kind of argument tells launches apart all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.frontend.source_text import source_hash_of
from coarsen.runtime.enqueue import Ready
from coarsen.runtime.kernel import Kernel
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

pytestmark = pytest.mark.compiled_devices
SOURCE = """
kernel void turn(global const int *x, global int *y, local int *tile, int step)
{
    int own = get_local_id(0), size = get_local_size(0);
    tile[own * step] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = tile[(size - 1 - own) * step];
}
"""
LAUNCH = (TunedLaunch("turn", ("bytes_x // 4",)),)


def turning(
    context: cl.Context,
    kind: ArgumentKind,
    variant: Variant,
    driver: str | None = None,
    launches: tuple[TunedLaunch, ...] = LAUNCH,
) -> Kernel:
    """The kernel, of which one version is always chosen."""
    device = context.devices[0]
    buffers = (KernelArgument("x", ArgumentKind.BUFFER), KernelArgument("y", ArgumentKind.BUFFER))
    file = TunedFile(
        kernel="turn",
        arguments=(*buffers, KernelArgument("tile", kind), KernelArgument("step", ArgumentKind.WHOLE)),
        source_hash=source_hash_of(SOURCE),
        device=device.name.strip(),
        driver=driver or device.driver_version.strip(),
        build_options=(),
        coarsen_version=__version__,
        features=(),
        versions=(TunedVersion(Variant((8,)), launches), TunedVersion(variant, launches)),
        default=0,
        tree=Leaf(1),
    )
    kernel = coarsen.Program(context, SOURCE, tuned=file).build().turn
    assert isinstance(kernel, Kernel)
    return kernel


def prepared(kernel: Kernel) -> Ready:
    """The launch that was decided last."""
    found = next(reversed(kernel._ready.values()))
    assert isinstance(found, Ready)
    return found


@pytest.mark.parametrize("kind", [ArgumentKind.LOCAL, ArgumentKind.OTHER])
def test_each_size_is_another_launch(kind: ArgumentKind, context: cl.Context, queue: cl.CommandQueue) -> None:
    """Of merged groups, each has its own local memory: as much as the launch's."""
    kernel = turning(context, kind, Variant((8,), (Coarsening(2, 0, 1, Level.GROUP),)))
    values = np.arange(64, dtype=np.int32)
    flags = cl.mem_flags
    x = cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=values)
    y = cl.Buffer(context, flags.READ_WRITE, values.nbytes)
    for step in (1, 16, 4):
        size = 8 * step * 4
        arguments: tuple[Any, ...] = x, y, cl.LocalMemory(size), np.int32(step)
        kernel(queue, (64,), (8,), *arguments)
        assert [value.size for value in prepared(kernel).added_references[1::2]] == [size]
        found = np.empty_like(values)
        cl.enqueue_copy(queue, found, y)
        assert (found.reshape(8, 8) == values.reshape(8, 8)[:, ::-1]).all()


@pytest.mark.parametrize("kind", [ArgumentKind.LOCAL, ArgumentKind.OTHER])
def test_too_much_runs_the_default(kind: ArgumentKind, context: cl.Context, queue: cl.CommandQueue) -> None:
    """A launch that is decided with little local memory isn't taken for one with more than there is."""
    kernel = turning(context, kind, Variant((16,)))
    x, y = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 256) for _ in range(2))
    kernel(queue, (64,), (8,), x, y, cl.LocalMemory(64), np.int32(1))
    assert prepared(kernel).local_size == (16,)
    too_much = int(context.devices[0].local_mem_size) + 64
    try:
        kernel(queue, (64,), (8,), x, y, cl.LocalMemory(too_much), np.int32(1))
        queue.finish()
    except cl.Error:
        pass  # A driver that refuses it refuses the default version too.
    assert [*kernel._launches._chosen.values()][-1].local_size == (8,)


@pytest.mark.parametrize("driver", [None, "another"])
def test_local_memory_of_the_file_takes_the_place_of_the_callers(
    driver: str | None, context: cl.Context, queue: cl.CommandQueue
) -> None:
    """The default version has its own, too, where nothing else may be chosen."""
    launch = TunedLaunch("turn", ("bytes_x // 4",), (), (("tile", "local_size_0 * step * 4"),))
    kernel = turning(context, ArgumentKind.LOCAL, Variant((16,)), driver, (launch,))
    values = np.arange(64, dtype=np.int32)
    flags = cl.mem_flags
    x = cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=values)
    y = cl.Buffer(context, flags.READ_WRITE, values.nbytes)
    size = 8 if driver else 16
    for step in (1, 4):
        for _ in range(2):
            kernel.launch(queue, x, y, cl.LocalMemory(4), np.int32(step))
            assert [value.size for value in prepared(kernel).added_references[1::2]] == [size * step * 4]
            found = np.empty_like(values)
            cl.enqueue_copy(queue, found, y)
            assert (found.reshape(-1, size) == values.reshape(-1, size)[:, ::-1]).all()
