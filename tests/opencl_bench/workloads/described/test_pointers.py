"""Pointers of a described kernel: one buffer given twice, NULL; and launches that don't begin at 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.workload.benchmark import BufferArgument, NullArgument
from tests.opencl_bench.workloads.coarsened_run import coarsened_kernels
from tests.workload_runs import build_program, kernels_of, run_workload

KERNEL = """\
kernel void scale(global int *now, global int *before, global const int *bias)
{
    size_t item = get_global_id(0);
    now[item] = 2 * before[item] + (bias ? bias[item] : 5);
}
"""
FILE = """\
file = "scale.cl"
kernel = "scale"
outputs = ["before"]

[ndrange]
global_size = ["n"]
local_size = [16]
global_offset = ["n // 2"]

[sizes.test]
n = 64

[[arguments]]
name = "now"
buffer = "int"
elements = "2 * n"
values = "arange"

[[arguments]]
name = "before"
buffer = "int"
same_as = "now"

[[arguments]]
name = "bias"
buffer = "int"
null = true
"""


def written(folder: Path, *replacements: tuple[str, str]) -> Path:
    text = FILE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "scale.cl").write_text(KERNEL)
    path = folder / "scale.toml"
    path.write_text(text)
    return path


def test_the_launch_has_the_buffer_twice_and_a_null_pointer(tmp_path: Path) -> None:
    workload = read_benchmark(written(tmp_path)).workload("test")
    assert (list(workload.buffers), workload.outputs) == (["now"], ("now",))
    (launch,) = workload.launches
    assert launch.arguments == (BufferArgument("now"), BufferArgument("now"), NullArgument())
    assert launch.global_offset == (32,)


@pytest.mark.compiled_devices
def test_it_runs_and_coarsened_it_gives_the_same(queue: cl.CommandQueue, tmp_path: Path) -> None:
    read = read_benchmark(written(tmp_path))
    workload = read.workload("test")
    expected = run_workload(queue, workload, kernels_of(build_program(queue.context, read)))
    numbers = np.arange(128)
    inside = (numbers >= 32) & (numbers < 96)
    assert np.array_equal(expected.outputs["now"], np.where(inside, 2 * numbers + 5, numbers))
    coarsened = run_workload(queue, workload, coarsened_kernels(queue.context, read, 4, 0))
    assert compare(coarsened.outputs, expected.outputs, workload) == []
    assert not coarsened.violated


def test_each_of_them_is_part_of_what_is_measured(tmp_path: Path) -> None:
    hashes = {read_benchmark(written(tmp_path)).content_hash("test")}
    for old, new in (
        ('same_as = "now"', 'elements = "2 * n"\nvalues = "arange"'),
        ("null = true", "elements = 128"),
        ('"n // 2"', "0"),
    ):
        more = [('outputs = ["before"]', 'outputs = ["before", "bias"]')] if "null" in old else []
        hashes.add(read_benchmark(written(tmp_path, (old, new), *more)).content_hash("test"))
    assert len(hashes) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('same_as = "now"', 'same_as = "bias"', "arguments[1].same_as: there is no buffer 'bias' with values"),
        ('same_as = "now"', 'same_as = "before"', "there is no buffer 'before' with values among the arguments"),
        ('same_as = "now"', 'same_as = "now"\nelements = 4', "arguments[1].elements: an argument with same_as"),
        ("null = true", "null = false", "arguments[2].null: it must be true"),
        ("null = true", 'null = true\nvalues = "zeros"', "arguments[2].values: an argument with same_as or null"),
        (
            'outputs = ["before"]',
            'outputs = ["bias"]',
            "outputs: there is no buffer and no image 'bias' among the arguments",
        ),
        ('"n // 2"', '"n // 2", 0', "ndrange.global_offset: it must have an entry for each of the 1 dimensions"),
        ('"n // 2"', '"n - 65"', "ndrange.global_offset: 'n - 65' must be at least 0; it is -1 for n = 64"),
        ('"n // 2"', '"m"', "ndrange.global_offset: there is no 'm'"),
    ],
)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_benchmark(written(tmp_path, (old, new)))
    assert message in str(caught.value)
