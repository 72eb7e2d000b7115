"""A launch with images becomes a workload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pytest

from coarsen.devices.discovery import describe_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.captured_tuning import tune_captured
from coarsen.tuning.progress import Deadline
from coarsen.tuning.settings import Tune
from coarsen.tuning.workload.captured_launch import CapturedImage, CapturedLaunch
from coarsen.tuning.workload.element_types import Addressing, Filter, ImageFormat, SamplerArgument
from coarsen.variant.transforms import DEFAULT
from tests.captured_files import captured_of, written_capture
from tests.workload_runs import build_program, kernels_of, run_workload

SOURCE = """\
kernel void mirror(read_only image2d_t source, write_only image2d_t target, sampler_t given, float scale)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(target, (int2)(x, y), scale * read_imagef(source, given, (int2)(get_global_size(0) - x, y)));
}
"""
WIDTH, HEIGHT = 16, 16


def image(queue: pyopencl.CommandQueue, pixels: np.ndarray[Any, Any], **changes: Any) -> pyopencl.Image:  # noqa: ANN401
    chosen = pyopencl.ImageFormat(pyopencl.channel_order.RGBA, pyopencl.channel_type.FLOAT)
    made = pyopencl.create_image(
        queue.context, pyopencl.mem_flags.READ_WRITE, chosen, shape=(WIDTH, HEIGHT), **changes
    )
    pyopencl.enqueue_copy(queue, made, pixels, origin=(0, 0), region=(WIDTH, HEIGHT))
    return made


@pytest.fixture
def pixels() -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).random((HEIGHT, WIDTH, 4), np.float32)


def captured(queue: pyopencl.CommandQueue, source: pyopencl.Image, target: pyopencl.Image) -> CapturedLaunch:
    sampler = pyopencl.Sampler(queue.context, False, pyopencl.addressing_mode.CLAMP, pyopencl.filter_mode.NEAREST)
    arguments = source, target, sampler, np.float32(0.5)
    return captured_of(SOURCE, "mirror", queue, (WIDTH, HEIGHT), (4, 4), arguments)


def test_the_workload_is_the_launch(
    queue: pyopencl.CommandQueue, pixels: np.ndarray[Any, Any], tmp_path: Path
) -> None:
    launch = captured(queue, image(queue, pixels), image(queue, pixels))
    assert launch.byte_count == pixels.nbytes, "what is only written is not copied"
    target = launch.arguments[1]
    assert isinstance(target, CapturedImage) and target.content is None
    path = written_capture(launch, tmp_path, "mirror")
    benchmark = find_benchmark(path)
    workload = benchmark.workload("test")
    assert workload.images == dict.fromkeys(("source", "target"), ImageFormat("image2d", "RGBA", "float"))
    assert np.array_equal(workload.buffers["source"], pixels)
    assert not np.isin(workload.buffers["target"], pixels).any()
    assert workload.outputs == ("target",)
    assert workload.launches[0].arguments[2] == SamplerArgument(Addressing.CLAMP, Filter.NEAREST, False)
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, benchmark)))
    expected = np.zeros_like(pixels)
    expected[:, 1:] = 0.5 * pixels[:, :0:-1]
    assert np.allclose(result.outputs["target"], expected)


def test_what_can_t_be_captured_is_said(queue: pyopencl.CommandQueue, pixels: np.ndarray[Any, Any]) -> None:
    one = image(queue, pixels)
    with pytest.raises(
        InvalidInputError, match="its arguments 0 and 1 are one image, which a workload can't have"
    ):
        captured(queue, one, one)
    packed = pyopencl.ImageFormat(pyopencl.channel_order.RGBA, pyopencl.channel_type.FLOAT)
    buffer = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, 16 * WIDTH)
    try:
        made = pyopencl.create_image(
            queue.context, pyopencl.mem_flags.READ_WRITE, packed, shape=(WIDTH,), buffer=buffer
        )
    except (pyopencl.Error, TypeError):
        return
    with pytest.raises(InvalidInputError, match="argument 0 can't be captured: it is an image"):
        captured(queue, made, one)


def test_images_count_among_the_bytes(queue: pyopencl.CommandQueue, pixels: np.ndarray[Any, Any]) -> None:
    source, target = image(queue, pixels), image(queue, pixels)
    with pytest.raises(InvalidInputError, match=r"its buffers and images have 0\.0 MiB, and at most"):
        captured_of(SOURCE, "mirror", queue, (WIDTH, HEIGHT), (4, 4), (source, target), most_bytes=64)


@pytest.mark.compiled_devices
def test_a_launch_with_images_is_tuned_on_copies(
    queue: pyopencl.CommandQueue, pixels: np.ndarray[Any, Any]
) -> None:
    source, target = image(queue, pixels), image(queue, pixels)
    settings = Tune(seconds=100, trials=3)
    found = tune_captured(
        captured(queue, source, target),
        describe_device(queue.device),
        DEFAULT,
        True,
        settings,
        Deadline(settings.seconds),
    )
    assert (found.local_size, found.global_size, found.trials) == ((4, 4), (WIDTH, HEIGHT), 3)
    assert (found.wrong, found.failed) == ((), 0)
    unchanged = np.empty_like(pixels)
    pyopencl.enqueue_copy(queue, unchanged, target, origin=(0, 0), region=(WIDTH, HEIGHT))
    assert np.array_equal(unchanged, pixels), "the program's own image is not written"
