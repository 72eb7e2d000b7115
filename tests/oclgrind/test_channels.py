"""A channel between fused kernels is neither written nor read: Oclgrind counts the bytes of global memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.studies.chains import fused_chain
from coarsen.stream import Map, Reduce, pipeline
from coarsen.stream.versions import file_of
from tests.oclgrind.watch import watching

Moved = Callable[[cl.CommandQueue, Callable[[], object]], int]
N, ITEMS = 21, 32
FLOAT, CHAR = 4, 1


def runs_on(parameters: dict[str, object]) -> bool:
    """Oclgrind alone counts."""
    device = parameters["device"]
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


@pytest.fixture
def moved(capfd: pytest.CaptureFixture[str]) -> Moved:
    """Tells how many bytes of global memory launches load and store."""

    def of(queue: cl.CommandQueue, run: Callable[[], object]) -> int:
        capfd.readouterr()
        run()
        queue.finish()
        return sum(map(int, re.findall(r" (?:load|store) global \((\d+) bytes", capfd.readouterr().out)))

    return of


def test_pipelines(device: DeviceDescription, moved: Moved) -> None:
    low = Map("low", "(uchar)u", result="uchar")
    stages = Map("half", "u / 2"), low, Map("wide", "u", type="uchar", result="float")
    whole, total = pipeline(*stages), Reduce("a + b", identity="0", arguments="const float *x", checks_laws=False)
    channels = {"FUSE_half": FLOAT, "FUSE_low": CHAR}
    with watching(device, OCLGRIND_INST_COUNTS="1") as watched:
        queue = watched.queue
        x = cl.array.to_device(queue, np.arange(N, dtype=np.float32))
        out, end = cl.array.empty_like(x), cl.array.zeros(queue, (), np.float32)
        for number, version in enumerate(whole.versions):
            file = file_of(whole._pipeline, whole.source, whole.versions, queue.device, number)
            own = pipeline(*stages, tuned=file)
            kept = sum(channels[name] for name, value in version.variant.definitions if value == "0")
            assert moved(queue, partial(own, queue, x, out=out)) == N * (2 * FLOAT + 2 * kept)
        first = pipeline(stages[0])
        apart = moved(queue, lambda: total(queue, first(queue, x, out=out), out=end))
        fused = pipeline(stages[0], total)
        assert apart - moved(queue, lambda: fused(queue, x, out=end)) == N * 2 * FLOAT


def test_fuse(device: DeviceDescription, moved: Moved) -> None:
    whole = pipeline(*(Map(f"m{number}", "u + 1") for number in range(3)))
    with watching(device, OCLGRIND_INST_COUNTS="1") as watched:
        queue = watched.queue
        arrays = [cl.array.to_device(queue, np.full(N, k, np.float32)) for k in range(4)]
        given = dict(zip(("input", "between1", "between2", "output"), (each.data for each in arrays), strict=True))
        # Two channels of floats: written and not read; neither.
        for is_given_up, kept in ((False, FLOAT), (True, 0)):
            made = fused_chain(whole, is_given_up=is_given_up)
            (kernel,) = cl.Program(watched.context, made.opencl_c).build().all_kernels()
            passed = [given.get(name) or np.int32(N) for name in made.kernel.argument_names]
            bytes_moved = moved(queue, partial(kernel, queue, (ITEMS,), (ITEMS,), *passed))
            assert bytes_moved == N * (2 * FLOAT + 2 * kept)
            assert made.saved_bytes == 2 * (2 * FLOAT - kept)
            assert (arrays[-1].get() == 3).all()
