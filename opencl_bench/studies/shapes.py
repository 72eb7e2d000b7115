"""Products of matrices of one size with a vector: `python -m coarsen.opencl_bench.studies.shapes -d DEVICE`.

A `Reduce` of rows, as it chooses and in each of its fixed versions, in turns; CLBlast's where it is installed
(Debian's libclblast1), PyTorch's (cuBLAS, TF32 off) where it finds a GPU. Matrices have 2²⁰, 2²² or 2²⁴ floats, in
4 rows to a quarter of these; shapes of rows between powers of two are for judging alone. A line of CSV for each
shape and each of these on standard output: microseconds of a call, medians of 15 rounds, the host's part included;
how many times as fast as what is chosen, with quartiles, and as the fastest. Versions that take 20 times as long
as the fastest are left out. `--tune 12` tunes for 12 shapes first.

After TMV of Samadi et al., "Adaptive Input-aware Compilation for Graphics Engines" (PLDI 2012).
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.opencl_bench.studies.reductions import fixed
from coarsen.opencl_bench.studies.turns import COMPARED, Way, compared, correct, goes_on, study
from coarsen.opencl_bench.studies.yardsticks import clblast, cublas
from coarsen.stream.reduce import Reduce

FIXED: tuple[Mapping[str, int], ...] = (
    {"FORM": 1, "LOCAL": 32},
    {"FORM": 1, "LOCAL": 32, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 8},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 64},
    {"GROUPS": 1, "LOCAL": 16, "LANES": 4},
    {"GROUPS": 1, "LOCAL": 32, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 256, "LANES": 4},
    {"GROUPS": 64, "LOCAL": 1, "LANES": 8},
    {"GROUPS": 64, "LOCAL": 256, "LANES": 4, "ACCESS": 1},
)


def product() -> Reduce:
    """Return the product of a matrix and a vector."""
    return Reduce(
        "a + b",
        identity="0",
        map="m[row][i] * v[i]",
        arguments="const float *m, const float *v",
        rows="rows",
        length="width",
    )


def shapes(total: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the rows and the width of matrices, and whether these are for judging alone."""
    for k in range(2, total.bit_length() - 2):
        yield 2**k, total // 2**k, False
        if k % 2:
            rows = int(1.37 * 2**k)
            yield rows, total // rows, True


def arrays_of(queue: cl.CommandQueue, rows: int, width: int) -> tuple[list[cl.array.Array], Any]:
    """Return a matrix and a vector, and their product."""
    draw = np.random.default_rng((rows, width))
    m, v = (draw.uniform(-1, 1, size).astype(np.float32) for size in ((rows, width), width))
    return [cl.array.to_device(queue, each) for each in (m, v)], m.astype(np.float64) @ v


def measured(queue: cl.CommandQueue, chosen: Reduce, total: int) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each shape and each way."""
    others = {_words(values): fixed(product(), values, queue.device) for values in FIXED}
    for rows, width, is_judging in shapes(total):
        with goes_on(f"{rows}×{width}"):
            there, wanted = arrays_of(queue, rows, width)
            ways = {name: Way(partial(each, queue, *there)) for name, each in {"chosen": chosen, **others}.items()}
            buffers = [each.base_data for each in (*there, cl.array.zeros(queue, rows, np.float32))]
            ways |= dict(clblast(queue, buffers, (rows, width)))
            ways |= dict(cublas(*(each.get() for each in there)))
            runs = correct(f"{rows}×{width}", ways, wanted, 2e-5 * width, ways.keys() - others.keys())
            for line in compared(queue, runs):
                yield queue.device.name.strip(), rows, width, is_judging, *line


def _words(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def lines(queue: cl.CommandQueue, asked: Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of all shapes."""
    yield "device", "rows", "width", "judging", *COMPARED
    chosen = product()
    if asked.tune:
        chosen.tune(asked.device, largest=max(asked.totals), inputs=asked.tune)
    for total in asked.totals:
        yield from measured(queue, chosen, total)


if __name__ == "__main__":
    study(
        __doc__,
        lines,
        {
            "--totals": {"nargs": "*", "type": int, "default": (1 << 20, 1 << 22, 1 << 24), "help": "floats"},
            "--tune": {"type": int, "help": "how many shapes to tune for before; none if left out"},
        },
    )
