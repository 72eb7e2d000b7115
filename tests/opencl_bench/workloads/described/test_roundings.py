"""The count of roundings that `describe` writes, and what a file that has none is given."""

from __future__ import annotations

from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.cli.describe import describe
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.workload.benchmark import Workload
from coarsen.tuning.workload.roundings import rounding_steps, rounds_to_integers
from tests.opencl_bench.workloads.coarsened_run import coarsened_kernels
from tests.opencl_bench.workloads.described.conftest import Write
from tests.workload_runs import run_workload

SIGNATURE = "kernel void k(global float *o, global const float *a, int m) { int i = get_global_id(0); "


def steps(tmp_path: Path, body: str, output: str = "float") -> str | None:
    path = tmp_path / "k.cl"
    path.write_text(SIGNATURE + body + "}\n")
    return rounding_steps(lower(path, "k", ("-cl-std=CL1.2",)), [output])


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("o[i] = a[i];", "1"),
        ("o[i] = a[i] * a[i + 1] - a[i + 2] * 3.0f;", "3"),
        ("float s = 0; for (int k = 0; k < 64; ++k) s += a[i + k]; o[i] = s;", "64"),
        ("float s = 0; for (int k = 0; k < m; ++k) s += a[i + k] * a[k]; o[i] = s;", "2 * n"),
        (
            "float s = 0; for (int j = 0; j < m; ++j) { for (int k = 0; k < m; ++k) s += a[i * m + k]; s *= 2; }"
            "o[i] = s - 1;",
            "1 + 1 * n + 1 * n * n",
        ),
        ("o[i] = exp(a[i]);", "16"),
        ("o[i] = i / 3;", "1"),
    ],
)
def test_counted_in_the_code(tmp_path: Path, body: str, wanted: str) -> None:
    assert steps(tmp_path, body) == wanted


def test_arithmetic_in_a_less_precise_type_counts_by_its_precision(tmp_path: Path) -> None:
    single, double = (int(steps(tmp_path, "o[i] = a[i] + a[i + 1];", kind) or 0) for kind in ("float", "double"))
    assert (single, double) == (1, 4 ** (53 - 24))


def test_whole_numbers_have_no_roundings_but_may_come_of_some(tmp_path: Path) -> None:
    assert steps(tmp_path, "o[i] = 1;", "int") is None
    path = tmp_path / "q.cl"
    path.write_text("kernel void q(global int *o, global const float *a) { o[0] = (int)(a[0] * 255); }\n")
    assert rounds_to_integers(lower(path, "q", ()))
    describe(kernel_file=path)
    assert "integer_tolerance = 1  # CHECK" in path.with_suffix(".toml").read_text()


def workload(path: Path) -> Workload:
    return read_benchmark(path).workload("test")


def test_a_file_without_tolerances_counts_the_elements_of_its_largest_buffer(write: Write) -> None:
    made = workload(write(("relative_tolerance = 1e-6\n", "")))
    assert (made.rounding_steps, made.relative_tolerance, made.absolute_tolerance) == (4000, 0.0, 0.0)
    assert workload(write(("relative_tolerance = 1e-6", 'roundings = "2 * n"'))).rounding_steps == 2000
    assert workload(write()).rounding_steps == 0
    assert workload(write(("= 1e-6", "= 0"))).rounding_steps == 0, "exactness was asked for"


@pytest.mark.parametrize(
    ("roundings", "message"),
    [
        ('roundings = "2 * m"', "roundings: there is no 'm'; there are"),
        ('roundings = "n - n"', "roundings: 'n - n' must be at least 1; it is 0 for n = 1000"),
        (
            "roundings = 5\nabsolute_tolerance = 1",
            "absolute_tolerance: roundings are given, from which it follows",
        ),
    ],
)
def test_mistakes(write: Write, roundings: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message.replace("*", r"\*")):
        read_benchmark(write(("relative_tolerance = 1e-6", roundings)))


def test_the_count_is_part_of_what_rows_are_kept_by(write: Write) -> None:
    texts = ("relative_tolerance = 1e-6", "roundings = 5", "roundings = 6", "")
    hashes = [read_benchmark(write(("relative_tolerance = 1e-6", text))).inputs_hash for text in texts]
    assert len(set(hashes)) == len(texts)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("terms", [64, 4096])
def test_sums_coarsened_and_contracted_are_right(queue: cl.CommandQueue, tmp_path: Path, terms: int) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        SIGNATURE
        + f"float s = 0; for (int k = 0; k < {terms}; ++k) s += a[(i + k) % m] * a[k % m]; o[i] = s; }}\n"
    )
    describe(kernel_file=path, build_option=["-cl-mad-enable"])
    read = read_benchmark(path.with_suffix(".toml"))
    made = read.workload("test")
    assert made.rounding_steps == 2 * terms
    expected = run_workload(queue, made, coarsened_kernels(queue.context, read, 1, 0)).outputs
    result = run_workload(queue, made, coarsened_kernels(queue.context, read, 8, 0))
    assert not result.violated
    assert compare(result.outputs, expected, made) == []
