"""Work-items that leave behind a barrier which groups may skip: PoCL gets wrong there slow paths with a loop,
and vector accesses of those who stay.
"""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.variant.coarsening import configuration_of
from coarsen.variant.transforms import DeviceKind, Transforms, Use
from tests.transform.cases import Case, integers, zeros
from tests.transform.harness import assert_same, coarsened, coarsened_outcome, original_outcome


def case(name: str, count: int) -> Case:
    return Case(name, (192,), (48,), lambda rng, n: [integers(rng, n), zeros(n), np.int32(count)])


@pytest.mark.parametrize("count", [47, 100, 140])
@pytest.mark.parametrize("kind", [DeviceKind.ANY, DeviceKind.CPU])
@pytest.mark.parametrize("use", [Use.AUTO, Use.ALWAYS])
@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("name", ["tail_behind_barrier", "store_behind_barrier"])
def test_only_who_stays_stores(
    name: str, is_wide: bool, use: Use, kind: DeviceKind, count: int, queue: cl.CommandQueue
) -> None:
    """Compares buffers with guard zones around them."""
    launched, chosen = case(name, count), configuration_of(4)
    kernel = coarsened(launched, chosen, Transforms(use, use, is_wide, device_kind=kind))
    original = original_outcome(queue.context, launched)
    assert_same(original, coarsened_outcome(queue, kernel, "opencl_c", launched, chosen), 0.0)


@pytest.mark.parametrize("count", [47, 100])
def test_a_program_is_right(count: int, context: cl.Context, queue: cl.CommandQueue) -> None:
    launched = case("tail_behind_barrier", count)
    rng = np.random.default_rng(0)
    data, result = integers(rng, 192), zeros(192)
    flags = cl.mem_flags
    buffers = [cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=each) for each in (data, result)]
    program = Program(context, launched.source, factor=4).build()
    program.tail_behind_barrier(queue, (192,), (48,), *buffers, np.int32(count))
    found = np.empty_like(result)
    cl.enqueue_copy(queue, found, buffers[1])
    assert (found[:count] != result[:count]).all()
    assert (found[count:] == result[count:]).all()
