"""Images and samplers in a benchmark's file: read, placed on devices, verified when written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyopencl
import pytest

from coarsen.devices.discovery import describe_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.several import sweep
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.engine.plan import Space, SweepPlan
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.run import PlacedImage
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.store.database import open_store
from coarsen.tuning.workload.benchmark import Workload
from coarsen.tuning.workload.element_types import (
    CHANNEL_TYPES,
    CHANNELS,
    KINDS,
    Addressing,
    Filter,
    ImageFormat,
    SamplerArgument,
)
from tests.opencl_bench.sweep.small_sweep import METHOD
from tests.workload_runs import build_program, kernels_of, run_workload

BLUR_KERNEL = """\
kernel void blur(read_only image2d_t source, write_only image2d_t target, sampler_t edge)
{
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = 0.0f;
    for (int column = -1; column <= 1; ++column)
        sum += read_imagef(source, edge, (int2)(x + column, y));
    write_imagef(target, (int2)(x, y), sum / 3.0f);
}
"""

BLUR_FILE = """\
file = "blur.cl"
kernel = "blur"
outputs = ["target"]
roundings = 10

[ndrange]
global_size = ["n", "2 * n"]
local_size = [8, 4]

[sizes.test]
n = 16

[[arguments]]
name = "source"
image = "image2d"
extent = ["n", "2 * n"]
channels = "RGBA"
format = "unorm_int8"
values = "integers(0, 256)"

[[arguments]]
name = "target"
image = "image2d"
extent = ["n", "2 * n"]
channels = "RGBA"
format = "float"

[[arguments]]
name = "edge"
sampler = "clamp_to_edge"
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the kernel and its description, some of whose text is replaced."""

    def written(*changes: tuple[str, str]) -> Path:
        text = BLUR_FILE
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "blur.cl").write_text(BLUR_KERNEL)
        (tmp_path / "blur.toml").write_text(text)
        return tmp_path / "blur.toml"

    return written


def blurred(source: np.ndarray) -> np.ndarray:
    padded = np.pad(source.astype(np.float32) / 255, ((0, 0), (1, 1), (0, 0)), mode="edge")
    total: np.ndarray = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    return total


def test_the_workload_has_the_images(write: Write) -> None:
    workload = read_benchmark(write()).workload("test")
    assert workload.images == {
        "source": ImageFormat("image2d", "RGBA", "unorm_int8"),
        "target": ImageFormat("image2d", "RGBA", "float"),
    }
    source, target = (workload.buffers[name] for name in ("source", "target"))
    assert source.shape == (32, 16, 4) and source.dtype == np.uint8
    assert target.shape == (32, 16, 4) and target.dtype == np.float32
    assert np.isnan(target).all()
    assert workload.launches[0].arguments[2] == SamplerArgument(Addressing.CLAMP_TO_EDGE, Filter.NEAREST, False)


def test_an_image_is_filled_from_a_file(write: Write) -> None:
    pixels = np.arange(32 * 16 * 4, dtype=np.uint8).reshape(32, 16, 4)
    path = write(('"integers(0, 256)"', "'file(\"pixels.npy\")'"))
    np.save(path.with_name("pixels.npy"), pixels)
    benchmark = read_benchmark(path)
    assert np.array_equal(benchmark.workload("test").buffers["source"], pixels)
    assert [file.name for file in benchmark.input_files] == ["pixels.npy"]
    np.save(path.with_name("pixels.npy"), pixels.astype(np.float32))
    with pytest.raises(InvalidInputError, match="holds float32, and RGBA unorm_int8 is of uint8"):
        read_benchmark(path)


def test_what_the_device_computes(write: Write, queue: pyopencl.CommandQueue) -> None:
    benchmark = read_benchmark(write())
    workload = benchmark.workload("test", seed=1)
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, benchmark)))
    assert not result.violated
    assert np.allclose(result.outputs["target"], blurred(workload.buffers["source"]), atol=1e-5)


def test_coarsened_kernels_with_images_are_verified_and_timed(
    write: Write, queue: pyopencl.CommandQueue, tmp_path: Path
) -> None:
    space = Space((1, 2), (1,), dimensions=(0, 1))
    device = describe_device(queue.device)
    plan = SweepPlan(write(), device.index, "test", space=space, method=METHOD, confirms=False)
    with open_store(str(tmp_path / "rows.sqlite")) as store:
        summary = sweep(plan, store)
    assert summary.problem == ""
    assert {row.invalidity for row in summary.rows} == {Invalidity.CORRECT}
    assert {row.candidate.factor for row in summary.rows} == {1, 2}


def test_a_wrong_pixel_of_a_written_image_is_found() -> None:
    wanted = np.full((4, 4, 4), 100, np.uint8)
    normal, whole = ImageFormat("image2d", "RGBA", "unorm_int8"), ImageFormat("image2d", "RGBA", "unsigned_int8")
    for image_format, off_by_one_is_right in ((normal, True), (whole, False)):
        workload = Workload({"o": wanted}, (), ("o",), None, images={"o": image_format})
        for error, is_right in ((1, off_by_one_is_right), (2, False)):
            got = wanted.copy()
            got[1, 2, 3] += error
            assert (compare({"o": got}, {"o": wanted}, workload) == []) == is_right


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_placed_is_read_again(kind: str, queue: pyopencl.CommandQueue) -> None:
    placed = sum(
        is_placed(ImageFormat(kind, channels, channel_type), queue)
        for channels in ("R", "RG", "RGBA")
        for channel_type in CHANNEL_TYPES
    )
    assert placed >= len(CHANNEL_TYPES), "OpenCL demands all of these of RGBA"


def is_placed(image_format: ImageFormat, queue: pyopencl.CommandQueue) -> bool:
    """Check the contents of an image; False where the device has none of its format."""
    extents = (5, 3, 2)[: KINDS[image_format.kind]]
    shape = image_format.shape(extents)
    contents = np.arange(np.prod(shape)).reshape(shape).astype(image_format.scalar)
    try:
        placed = PlacedImage(queue, contents, image_format)
    except InvalidInputError as error:
        assert str(error) == f"the device has no {image_format}"
        return False
    assert np.array_equal(placed.read(), contents)
    region = (*extents, *[1] * (3 - len(extents)))
    pyopencl.enqueue_copy(queue, placed.view, np.zeros_like(contents), origin=(0, 0, 0), region=region)
    assert not placed.read().any()
    placed.restore()
    assert np.array_equal(placed.read(), contents)
    return True


def test_every_order_and_type_is_opencl_s() -> None:
    for channels in CHANNELS:
        assert isinstance(getattr(pyopencl.channel_order, channels), int)
    for channel_type in CHANNEL_TYPES:
        assert isinstance(getattr(pyopencl.channel_type, channel_type.upper()), int)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('image = "image2d"', 'image = "image4d"', r"arguments\[0\]\.image: there is no 'image4d'"),
        (
            'extent = ["n", "2 * n"]',
            'extent = ["n"]',
            "entry for each of the 2 extents of image2d, not 1",
        ),
        ('extent = ["n", "2 * n"]', 'extent = ["n", 0]', "'0' must be at least 1"),
        ('extent = ["n", "2 * n"]', 'extent = ["n", "m"]', "there is no 'm'"),
        ('extent = ["n", "2 * n"]', 'extent = ["n", true]', "it must hold whole numbers or expressions"),
        ('channels = "RGBA"', 'channels = "RGB"', "there is no 'RGB'"),
        ('format = "unorm_int8"', 'format = "unorm_short_565"', "there is no 'unorm_short_565'"),
        ('values = "integers(0, 256)"', 'values = "uniform(0, 1)"', "'uniform.0, 1.' is for floating-point types"),
        ('values = "integers(0, 256)"', "", r"arguments\[0\]\.values: it is missing"),
        ('sampler = "clamp_to_edge"', 'sampler = "edge"', "there is no 'edge'"),
        ('sampler = "clamp_to_edge"', 'sampler = "clamp"\nnormalized = 1', "it must be true or false, not 1"),
        ('sampler = "clamp_to_edge"', 'sampler = "clamp"\nfilter = "best"', "there is no 'best'"),
        ("roundings = 10", 'order_free = ["target"]', "'target' is an image, whose pixels have their places"),
    ],
)
def test_mistakes_in_the_file(old: str, new: str, message: str, write: Write) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_benchmark(write((old, new)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ((), None),
        (
            (
                ('image = "image2d"', 'image = "image3d"'),
                ('["n", "2 * n"]\nchannels', '["n", "2 * n", 1]\nchannels'),
            ),
            "'source' is an image2d in the kernel, not an image3d",
        ),
        (
            (('format = "unorm_int8"', 'format = "signed_int8"'), ("256", "2")),
            "is accessed by read_imagef or write_ima",
        ),
        ((('["target"]', '["source"]'),), "'source' is an output, and the kernel only reads it"),
        (
            (('sampler = "clamp_to_edge"', 'scalar = "uint"\nvalue = 1'),),
            "'edge' is a parameter of the kind sampler",
        ),
    ],
)
def test_the_images_are_those_of_the_kernel(
    changes: tuple[tuple[str, str], ...], message: str | None, write: Write
) -> None:
    # An output's default is what the kernel writes alone.
    path = write(*changes)
    if message is None:
        check_kernel_of(path)
        return
    if '["source"]' in path.read_text():
        path.write_text(path.read_text().replace('format = "float"', 'format = "float"\nvalues = "zeros"'))
    with pytest.raises(InvalidInputError, match=message):
        check_kernel_of(path)


def test_other_contents_are_another_workload(write: Write) -> None:
    first = read_benchmark(write()).inputs_hash
    for change in (
        ("unorm_int8", "unorm_int16"),
        ("clamp_to_edge", "clamp"),
        ('["n", "2 * n"]', '["n", "3 * n"]'),
    ):
        assert read_benchmark(write(change)).inputs_hash != first
