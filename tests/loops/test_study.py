"""The study of loops runs other makers' products."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.opencl_bench.studies import yardsticks

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
    wanted = (a.T if function == "tmv" else a) @ y
    for _, way in yardsticks.clblast(queue, given, [n, n], is_transposed=function == "tmv"):
        np.testing.assert_allclose(way.result(), wanted, rtol=1e-4)
