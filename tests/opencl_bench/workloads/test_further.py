"""The further kernels do what they say on every device, uncoarsened and coarsened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.opencl_bench.workloads.lookup import KERNEL_FOLDER, SUITE, find_benchmark
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.measure.run import LaunchableKernel
from coarsen.tuning.workload.benchmark import Array, Benchmark, Workload
from tests.workload_runs import build_program, kernels_of, run_workload

# By name; their descriptions stand in no table of the package.
FURTHER = {path.stem: path for path in sorted((KERNEL_FOLDER / "further").glob("*.toml"))}
Buffers = Mapping[str, Array]
Outputs = dict[str, Array]


def heat(given: Buffers, size: Mapping[str, int]) -> Outputs:
    before, conductivity = (given[name].reshape(size["height"], -1) for name in ("before", "conductivity"))
    after = before.astype(np.float64)
    around = after[1:-1, :-2] + after[1:-1, 2:] + after[:-2, 1:-1] + after[2:, 1:-1]
    inside = after[1:-1, 1:-1]
    inside += np.float32(0.2) * conductivity[1:-1, 1:-1] * (around - 4 * inside)
    return {"after": after}


def blur(given: Buffers, size: Mapping[str, int]) -> Outputs:
    height, radius = size["height"], size["radius"]
    image = np.pad(given["image"].reshape(height, -1).astype(np.float64), ((radius, radius), (0, 0)), mode="edge")
    parts = (weight * image[at : at + height] for at, weight in enumerate(given["weights"].astype(np.float64)))
    return {"blurred": np.sum(list(parts), axis=0)}


def kmeans(given: Buffers, size: Mapping[str, int]) -> Outputs:
    points, centres = (given[name].reshape(-1, size["coordinates"]) for name in ("points", "centres"))
    distances = np.square(points[:, None].astype(np.float64) - centres).sum(axis=2)
    return {"nearest": distances.argmin(axis=1), "distances": distances.min(axis=1)}


def histogram(given: Buffers, _size: Mapping[str, int]) -> Outputs:
    return {"counts": np.bincount(given["values"], minlength=256)}


def escape_time(_given: Buffers, size: Mapping[str, int]) -> Outputs:
    pixel = 50331648 // size["width"]
    x, y = np.arange(size["width"]) * pixel - 35651584, np.arange(size["height"]) * pixel - 25165824
    start_x, start_y = np.meshgrid(x, y)
    real, imaginary, steps = np.zeros_like(start_x), np.zeros_like(start_x), np.zeros_like(start_x)
    running = np.full(start_x.shape, True)
    for _ in range(size["steps"]):
        squares = real * real >> 24, imaginary * imaginary >> 24
        running &= squares[0] + squares[1] <= 4 << 24
        steps += running
        imaginary = np.where(running, 2 * (real * imaginary >> 24) + start_y, imaginary)
        real = np.where(running, squares[0] - squares[1] + start_x, real)
    return {"steps": steps}


def gray(given: Buffers, _size: Mapping[str, int]) -> Outputs:
    return {"brightness": given["pixels"].astype(np.int64) @ np.array([77, 150, 29, 0]) + 128 >> 8}


def particles(given: Buffers, _size: Mapping[str, int]) -> Outputs:
    step, drag = np.float64(np.float32(0.05)), np.float64(np.float32(0.1))
    x, y, along, up = (given[name].astype(np.float64) for name in ("x", "y", "speed_x", "speed_y"))
    along, up = along * (1 - drag * step), up * (1 - drag * step) - 9.81 * step
    x, y = x + along * step, y + up * step
    up, y = np.where(y < 0, -0.8 * up, up), np.abs(y)
    along, x = np.where((x < 0) | (x > 10), -along, along), np.clip(x, 0, 10)
    energy = 0.5 * (along**2 + up**2) + 9.81 * y
    return {"x": x, "y": y, "speed_x": along, "speed_y": up, "energy": energy}


def ell_spmv(given: Buffers, size: Mapping[str, int]) -> Outputs:
    entries, columns = (given[name].reshape(size["most"], -1) for name in ("entries", "columns"))
    stored = np.arange(size["most"])[:, None] < given["lengths"]
    terms = entries.astype(np.float64) * given["vector"][columns]
    return {"result": np.where(stored, terms, 0).sum(axis=0)}


def dot_parts(given: Buffers, size: Mapping[str, int]) -> Outputs:
    products = given["left"].astype(np.float64) * given["right"]
    items = size["items"]
    rounds = np.pad(products, (0, -len(products) % items)).reshape(-1, items)
    return {"parts": rounds.sum(axis=0).reshape(-1, 256).sum(axis=1)}


def median(given: Buffers, size: Mapping[str, int]) -> Outputs:
    image = given["image"].reshape(size["height"], -1)
    filtered = image.copy()
    filtered[1:-1, 1:-1] = np.median(np.lib.stride_tricks.sliding_window_view(image, (3, 3)), axis=(2, 3))
    return {"filtered": filtered}


REFERENCES: Mapping[str, Callable[[Buffers, Mapping[str, int]], Outputs]] = {
    "blur": blur,
    "dotParts": dot_parts,
    "ellSpmv": ell_spmv,
    "escapeTime": escape_time,
    "gray": gray,
    "heat": heat,
    "histogram": histogram,
    "kmeans": kmeans,
    "median": median,
    "particles": particles,
}


def expected(benchmark: Benchmark, workload: Workload) -> Outputs:
    """The outputs by NumPy, in the types and shapes of the buffers."""
    found = REFERENCES[benchmark.name](workload.buffers, benchmark.preset("test").size)
    return {name: found[name].astype(workload.buffers[name].dtype).ravel() for name in workload.outputs}


def test_there_are_ten_and_none_is_of_the_suite() -> None:
    assert set(FURTHER) == set(REFERENCES)
    assert len(FURTHER) == 10
    assert not set(FURTHER) & set(SUITE)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_results_are_those_of_numpy(queue: cl.CommandQueue, name: str) -> None:
    benchmark = find_benchmark(FURTHER[name])
    workload = benchmark.workload("test")
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, benchmark)))
    assert compare(result.outputs, expected(benchmark, workload), workload) == []
    assert result.violated == ()


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", REFERENCES)
def test_the_coarsened_results_are_too(queue: cl.CommandQueue, name: str) -> None:
    benchmark = find_benchmark(FURTHER[name])
    workload = benchmark.workload("test")
    program = Program(queue.context, benchmark.source, factor=2, stride=4).build(list(benchmark.build_options))
    kernel: LaunchableKernel = program.kernel(name)
    result = run_workload(queue, workload, lambda _: kernel)
    assert compare(result.outputs, expected(benchmark, workload), workload) == []
    assert result.violated == ()


def test_no_description_is_without_its_kernel() -> None:
    for path in FURTHER.values():
        assert Path(path).with_suffix(".cl").is_file()
        assert {"test", "cpu", "gpu"} == set(find_benchmark(path).presets)
