"""Arrays in another order: coordinates that are taken out of indices, and divisions, find the same elements.

Both are run where the kernel is told the arrays' extents, and where it is told others.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.analysis.algebra.numbers import number_of
from coarsen.devices.building import build_uncached
from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.ir.added_arguments import AddedArgument
from coarsen.pipeline import CoarsenedKernel, laid_out, run_pipeline
from coarsen.runtime.layout import Layout
from coarsen.transform.layouts.digits import DigitsOfIndices
from coarsen.tuning.measure.run import GuardedBuffer
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.data_layout import AOS, Order
from coarsen.variant.variant import Variant
from tests.selection import Turn
from tests.transform.harness import build_coarsened, form_by_turns, turns_of, workaround
from tests.transform.layouts.narrow_index_kernels import NARROW_INDICES
from tests.transform.layouts.neighbour_kernels import NEIGHBOURS
from tests.transform.layouts.order_kernels import KERNELS, OrderKernel, OrderLaunch
from tests.transform.layouts.test_layouts import extent_of

ALL_KERNELS = (*KERNELS, *NEIGHBOURS, *NARROW_INDICES)
ARRAYS = ("to", "from")
ORDERS = {2: ((1, 0),), 3: ((2, 1, 0), (1, 2, 0), (0, 2, 1))}
FACTORS = (1, 2)
Results = dict[str, NDArray[np.int32]]


def contents(shape: tuple[int, ...]) -> Results:
    rng = np.random.default_rng(4)
    return {name: rng.integers(1, 1 << 20, shape, dtype=np.int32) for name in ARRAYS}


def launched(
    queue: cl.CommandQueue,
    kernel: cl.Kernel,
    arrays: Results,
    launch: OrderLaunch,
    factor: int = 1,
    added: tuple[AddedArgument, ...] = (),
) -> Results:
    """What the arrays hold after a launch; guard zones are as they were."""
    buffers = {name: GuardedBuffer(queue, array) for name, array in arrays.items()}
    extents = [np.uint64(extent_of(each, launch.shape, added)) for each in added]
    numbers = np.array(launch.numbers).astype(f"int{launch.bits}")
    kernel.set_args(*(buffer.view for buffer in buffers.values()), *numbers, *extents)
    size = (launch.size[0] // factor, *launch.size[1:])
    cl.enqueue_nd_range_kernel(queue, kernel, size, None, launch.offset).wait()
    assert all(buffer.intact() for buffer in buffers.values())
    return {name: buffer.read() for name, buffer in buffers.items()}


@functools.lru_cache(maxsize=64)
def as_written(context: cl.Context, kernel: OrderKernel, launch: OrderLaunch) -> Results:
    built = cl.Kernel(build_uncached(context, kernel.source, workaround(context)), "k")
    return launched(cl.CommandQueue(context), built, contents(launch.shape), launch)


def rewritten(kernel: OrderKernel, layout: Layout, shape: tuple[int, ...] | None, factor: int) -> CoarsenedKernel:
    plans = tuple(layout.plan(name, shape) for name in ARRAYS)
    chosen: Configuration = (Coarsening(factor),) if factor > 1 else ()
    laid = laid_out(lower(kernel.rewritten, "k"), plans)
    return run_pipeline(laid, Variant(coarsenings=chosen, arrays=plans))


@pytest.mark.parametrize("kernel", ALL_KERNELS, ids=lambda kernel: kernel.name)
def test_the_same_elements_are_found(
    queue: cl.CommandQueue, device: DeviceDescription, kernel: OrderKernel
) -> None:
    first = ALL_KERNELS.index(kernel)
    for dimensions in dict.fromkeys(len(launch.shape) for launch in kernel.launches):
        launches = [launch for launch in kernel.launches if len(launch.shape) == dimensions]
        order = ORDERS[dimensions][first % len(ORDERS[dimensions])]
        for place, turn in turns_of(device, first, len(FACTORS)).items():
            check(queue, kernel, launches, Order(order), FACTORS[place], form_by_turns(device, turn))
    is_compiled_in = not first % 3 and not device.is_called("oclgrind")
    if is_compiled_in:
        launch = kernel.launches[first % len(kernel.launches)]
        order = ORDERS[len(launch.shape)][0]
        check(queue, kernel, [launch], Order(order), 1, form_by_turns(device, Turn(first, 0)), launch.shape)


def check(
    queue: cl.CommandQueue,
    kernel: OrderKernel,
    launches: Sequence[OrderLaunch],
    order: Order,
    factor: int,
    form: str,
    shape: tuple[int, ...] | None = None,
) -> None:
    """Compare launches with the kernel as written, bit for bit; extents are passed, or a shape is compiled in."""
    layout = Layout(np.dtype(np.int32), AOS, order)
    coarsened = rewritten(kernel, layout, shape, factor)
    built = build_coarsened(queue.context, coarsened, form, ())
    for launch in launches:
        packed = {
            name: layout.pack(array).view(np.int32).reshape(launch.shape)
            for name, array in contents(launch.shape).items()
        }
        left = launched(queue, built, packed, launch, factor, coarsened.added_arguments)
        for name, wanted in as_written(queue.context, kernel, launch).items():
            got = layout.unpack(left[name].reshape(-1).view(np.uint8), launch.shape)
            np.testing.assert_array_equal(got, wanted, err_msg=f"{launch} {order} × {factor}, {shape}")


@pytest.mark.parametrize("kernel", ALL_KERNELS, ids=lambda kernel: kernel.name)
def test_what_is_proved(kernel: OrderKernel) -> None:
    lowered = lower(kernel.rewritten, "k")
    digits = DigitsOfIndices(lowered)
    dimensions = len(kernel.launches[0].shape)
    indices = [
        (each.operands[1], block.name)
        for block in lowered.blocks
        for each in block.instructions
        if each.opcode == "getelementptr" and number_of(each.operands[1]) is None
    ]
    assert indices
    found = [digits.of(index, block, dimensions) for index, block in indices]
    assert (None in found) == (not kernel.is_split)
