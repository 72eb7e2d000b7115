"""The study of loops runs the paper's ways and other makers' products."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.loop_program import LoopProgram
from coarsen.opencl_bench.studies import c_loops, yardsticks

pytestmark = pytest.mark.compiled_devices
N = 64


def memory(queue: cl.CommandQueue, *arrays: np.ndarray) -> list[cl.Buffer]:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return [cl.Buffer(queue.context, flags, hostbuf=each) for each in arrays]


@pytest.mark.parametrize("function", ["mv", "tmv"])
def test_products_with_a_vector(function: str, queue: cl.CommandQueue) -> None:
    draw = np.random.default_rng(0)
    n = 4 * N
    a, y = draw.random((n, n), np.float32), draw.random(n, np.float32)
    given = memory(queue, a, y, np.zeros(n, np.float32))
    written = LoopProgram(queue.context, c_loops.FOLDER / f"{function}.c", tune=None)
    ways = c_loops._effects(function, queue, written.source, given)
    wanted = (a.T if function == "tmv" else a) @ y
    for _, run in ways:
        cl.enqueue_fill_buffer(queue, given[2], b"\0", 0, 4 * n)
        run()
        found = np.empty(n, np.float32)
        cl.enqueue_copy(queue, found, given[2])
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
    for _, way in yardsticks.clblast(queue, given, [n, n], is_transposed=function == "tmv"):
        np.testing.assert_allclose(way.result(), wanted, rtol=1e-4)
