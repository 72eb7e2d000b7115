"""What loops of C become, beside other makers of kernels: `python -m coarsen.opencl_bench.studies.c_loops`.

The functions are those of `opencl_bench/kernels/loops`. Each is run as its kernels are written, and tuned from
nothing, with and without tiles, in turns. Beside products run, where they are installed, PyTorch's (cuBLAS, TF32
off), CLBlast's, NumPy's (OpenBLAS) and, of two matrices, loopy's and Halide's (`yardsticks.py` says how); beside
all, what a copy takes within the device of as many bytes as the launches read and write, each array once for each
launch. A line of CSV for each on standard output (`opencl_bench/data/c_loops.csv`). Milliseconds are medians of
whole calls, the host's part included.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pyopencl as cl

from coarsen.devices.selection import find_device
from coarsen.dispatch.expressions import parse_expression
from coarsen.drop_in.loop_program import LoopProgram
from coarsen.loops import read_program
from coarsen.loops.launches import each_launch, extents_in
from coarsen.opencl_bench.studies.turns import Lines, Run, Way, goes_on, study
from coarsen.opencl_bench.studies.yardsticks import clblast, cublas, halide_products, installed, loopy_product
from coarsen.tuning.settings import Tune
from coarsen.tuning.workload.element_types import Array

FOLDER = Path(__file__).parent.parent / "kernels" / "loops"
_REPETITIONS = 15
# Differences from the kernels as written, relative to the largest number, that no rounding makes.
_WRONG = 1e-3
_WARM_UP = 2


@dataclass(frozen=True)
class Case:
    """A function at sizes, which `size` and `steps` stand for."""

    function: str
    sizes: Mapping[str, int]

    @property
    def name(self) -> str:
        """The function and its sizes."""
        return f"{self.function} {'×'.join(map(str, self.sizes.values()))}"


def cases(*, is_gpu: bool) -> list[Case]:
    """Return the functions with their sizes for a kind of device."""
    n, rows, cells, cube, steps = (4096, 16384, 8192, 384, 10) if is_gpu else (512, 4096, 1024, 96, 10)
    found = [Case("mm", {"n": n, "m": n, "l": n})]
    if is_gpu:
        found.append(Case("mm", {"n": 1024, "m": 1024, "l": 1024}))
    found += [Case(name, {"n": rows}) for name in ("mv", "tmv", "mvt", "gemver")]
    found += [
        Case("syrk", {"n": n // 2, "m": n // 2}),
        Case("correlation", {"n": n // 2, "m": n // 2}),
        Case("doitgen", {"nr": 8, "nq": 8, "np": n}),
        Case("mri_q", {"p_samples": 2048, "p_voxels": rows * 16}),
        Case("mri_fhd", {"samples": 2048, "voxels": rows * 16}),
        Case("jacobi_2d", {"steps": steps, "n": cells}),
        Case("fdtd_2d", {"steps": steps, "nx": cells, "ny": cells}),
        Case("heat_3d", {"steps": steps, "n": cube}),
    ]
    return found


class _Measured:
    """A case on a device: its buffers, and what runs on them."""

    def __init__(self, case: Case, queue: cl.CommandQueue, settings: Tune) -> None:
        context = queue.context
        self._case, self._context, self._queue = case, context, queue
        path = FOLDER / f"{case.function}.c"
        self._read = read_program(path, case.function)
        nest = self._read.nest
        draw = np.random.default_rng(0)
        self._contents = {
            each.name: draw.random(
                [parse_expression(text).evaluate(case.sizes) for text in extents_in(nest, each)], np.float32
            )
            for each in nest.arrays.values()
            if not each.is_local
        }
        numbers = {name: case.sizes.get(name, 0.5) for name in nest.types}
        self._buffers = {
            name: cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=contents)
            for name, contents in self._contents.items()
        }
        self._given = {**numbers, **self._buffers}
        self.runs: dict[str, Run] = {}
        self.differences: dict[str, float] = {}
        written: list[Array] = []
        for word, way in self._ways(path, settings):
            with goes_on(f"{case.name}: {word}"):
                self._fill()
                found = way.result()
                written = written or found
                self.differences[word] = _difference(written, found if isinstance(found, list) else [found])
                self.runs[word] = way.run
        self._copied = sum(self._buffers[name].size for name in self._touched(case)) / 2

    def _ways(self, path: Path, settings: Tune) -> Iterator[tuple[str, Way]]:
        """The function as it is written, first, then as it is tuned, and what others make of it."""
        context, queue, function = self._context, self._queue, self._case.function
        programs = {"written": LoopProgram(context, path, tune=None)}
        programs["tuned"] = LoopProgram(context, path, tune=settings)
        if function == "mm":
            without = replace(settings, tiles=False, store=f"{settings.store}-untiled")
            programs["tuned without tiles"] = LoopProgram(context, path, tune=without)
        for word, program in programs.items():
            given = (self._given[name] for name in program.arguments)
            yield word, Way(partial(program, queue, *given), self._read_back)
        if function not in ("mm", "mv", "tmv"):
            return
        names, sizes = ("abc", "nlm") if function == "mm" else ("ayx", "nn")
        buffers, lengths = [self._buffers[name] for name in names], [self._case.sizes[name] for name in sizes]
        a, b = (self._contents[name] for name in names[:2])
        a = a.T if function == "tmv" else a
        blas = partial(clblast, queue, buffers, lengths, is_transposed=function == "tmv")
        yield from installed(cublas=partial(cublas, a, b), clblast=blas)
        if context.devices[0].type & cl.device_type.CPU:
            yield "numpy", Way(partial(np.matmul, a, b), lambda found: found)
        if function == "mm":
            products = partial(loopy_product, queue, buffers, lengths), partial(halide_products, queue, a, b)
            yield from installed(loopy=products[0], halide=products[1])

    def _touched(self, case: Case) -> Iterator[str]:
        """The arrays of each launch, those that it reads and writes twice."""
        for launch, *_ in each_launch(self._read.launches, {**case.sizes, **self._read.macros}):
            statements = launch.kernel.kernel.statements
            for kind in ("reads", "writes"):
                found = {access.array for each in statements for access in getattr(each, kind)}
                yield from (name for name in found if name in self._buffers)

    def copy_milliseconds(self) -> float:
        """Return what a copy within the device takes of as many bytes as the launches move."""
        largest = max(self._buffers.values(), key=lambda each: each.size)
        other = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, largest.size)
        times = []
        for _ in range(_REPETITIONS):
            self._queue.finish()
            started = time.perf_counter()
            cl.enqueue_copy(self._queue, other, largest, byte_count=largest.size).wait()
            times.append(1e3 * (time.perf_counter() - started))
        return median(times) * self._copied / largest.size

    def _fill(self) -> None:
        for name, contents in self._contents.items():
            cl.enqueue_copy(self._queue, self._buffers[name], contents)

    def _read_back(self, _: object) -> list[Array]:
        found = [np.empty_like(self._contents[name]) for name in self._read.outputs]
        for name, each in zip(self._read.outputs, found, strict=True):
            cl.enqueue_copy(self._queue, each, self._buffers[name])
        return found

    def milliseconds(self) -> dict[str, float]:
        """Return the medians of all that runs, in turns."""
        times: dict[str, list[float]] = {word: [] for word in self.runs}
        for number in range(_REPETITIONS + _WARM_UP):
            self._fill()
            for word, run in self.runs.items():
                self._queue.finish()
                started = time.perf_counter()
                finish = run()
                finish() if callable(finish) else self._queue.finish()
                if number >= _WARM_UP:
                    times[word].append(1e3 * (time.perf_counter() - started))
        return {word: median(each) for word, each in times.items()}


def _difference(written: Sequence[Array], found: Sequence[Array]) -> float:
    """Return the largest difference, relative to the largest number. Raises ValueError for a wrong result."""
    pairs = zip(written, found, strict=True)
    most = max(float(np.abs(one - two).max() / max(np.abs(one).max(), 1e-30)) for one, two in pairs)
    if not most < _WRONG:
        raise ValueError(f"a wrong result: the largest difference is {most:.3g} of the largest number")
    return most


def lines(queue: cl.CommandQueue, asked: argparse.Namespace) -> Lines:
    """Yield the lines of all functions, or of those that are asked for."""
    device = find_device(asked.device)
    yield "device", "case", "what", "milliseconds", "over_written", "difference"
    for case in cases(is_gpu="gpu" in str(device.device_types).lower()):
        if asked.functions and case.function not in asked.functions:
            continue
        with goes_on(case.name), tempfile.TemporaryDirectory() as folder:
            # Nothing that was found before, nor of another size, is used.
            settings = Tune(seconds=asked.seconds, store=str(Path(folder) / "found.db"))
            found = _Measured(case, queue, settings)
            times = found.milliseconds()
            times["copy"] = found.copy_milliseconds()
            for word, each in times.items():
                gain, difference = times["written"] / each, found.differences.get(word)
                told = f"{each:.4f}", f"{gain:.3f}", "" if difference is None else f"{difference:.2g}"
                yield device.name, case.name, word, *told


if __name__ == "__main__":
    study(
        __doc__,
        lines,
        {
            "--seconds": {"type": float, "default": 60, "help": "for each kernel (60)"},
            "functions": {"nargs": "*"},
        },
    )
