"""Outputs whose elements may come in any order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.measure.comparison import compare
from tests.opencl_bench.workloads.coarsened_run import coarsened_kernels
from tests.workload_runs import build_program, kernels_of, run_workload

KERNEL = """\
kernel void select_even(global int *count, global uint *keys, global float *values, global const uint *numbers)
{
    uint number = numbers[get_global_id(0)];
    if (number % 2 == 0) {
        int place = atomic_inc(count);
        keys[place] = number;
        values[place] = sqrt((float)number);
    }
}
"""
FILE = """\
file = "select.cl"
kernel = "select_even"
outputs = ["count", "keys", "values"]
order_free = [["keys", "values"]]
roundings = 1
ndrange = {global_size = ["n"], local_size = [16]}

[sizes.test]
n = 256

[[arguments]]
name = "count"
buffer = "int"
elements = 1
values = "zeros"

[[arguments]]
name = "keys"
buffer = "uint"
elements = "n"
values = "zeros"

[[arguments]]
name = "values"
buffer = "float"
elements = "n"
values = "zeros"

[[arguments]]
name = "numbers"
buffer = "uint"
elements = "n"
values = "permutation"
"""


def written(folder: Path, *replacements: tuple[str, str]) -> Path:
    text = FILE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "select.cl").write_text(KERNEL)
    path = folder / "select.toml"
    path.write_text(text)
    return path


@pytest.mark.compiled_devices
def test_a_coarsened_kernel_may_append_in_another_order(queue: cl.CommandQueue, tmp_path: Path) -> None:
    read = read_benchmark(written(tmp_path))
    workload = read.workload("test")
    original = run_workload(queue, workload, kernels_of(build_program(queue.context, read))).outputs
    assert original["count"][0] == 128
    coarsened = run_workload(queue, workload, coarsened_kernels(queue.context, read, 4, 0)).outputs
    assert compare(coarsened, original, workload) == []
    swapped = {**coarsened, "values": np.concatenate([coarsened["values"][1:], coarsened["values"][:1]])}
    assert compare(swapped, original, workload) != []


def test_it_is_part_of_what_is_measured(tmp_path: Path) -> None:
    orders = ('[["keys", "values"]]', '["keys", "values"]', '["keys"]', "[]")
    files = [written(tmp_path, (orders[0], order)).read_text() for order in orders]
    hashes = set()
    for text in files:
        (tmp_path / "select.toml").write_text(text)
        hashes.add(read_benchmark(tmp_path / "select.toml").content_hash("test"))
    assert len(hashes) == len(orders)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ('["numbers"]', "order_free: 'numbers' is none of the outputs, count, keys, values"),
        ('["keys", ["values", "keys"]]', "order_free: 'keys' is named twice"),
        ('[["count", "keys"]]', "outputs of one group must have as many elements: count has 1, keys has 256"),
        ("[1]", "order_free: it must hold names of outputs, or arrays of those, not 1"),
        ("[[]]", "order_free: it must hold names of outputs"),
        ('"keys"', "order_free: it must be an array"),
    ],
)
def test_mistakes(order: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_benchmark(written(tmp_path, ('[["keys", "values"]]', order)))
    assert message in str(caught.value)
