"""Products of matrices of one size with a vector: `python -m coarsen.opencl_bench.studies.shapes -d DEVICE`.

A `Reduce` of rows, as it chooses and in each of its fixed versions, in turns; CLBlast's where it is installed
(Debian's libclblast1), PyTorch's (cuBLAS, TF32 off) where it finds a GPU. Matrices have 2²⁰, 2²² or 2²⁴ floats, in
4 rows to a quarter of these; shapes of rows between powers of two are for judging alone. A line of CSV for each
shape and each of these on standard output: microseconds of a call, medians of 15 rounds, the host's part included.
Versions that take 20 times as long as the fastest are left out. `--tune 12` tunes for 12 shapes first.

After TMV of Samadi et al., "Adaptive Input-aware Compilation for Graphics Engines" (PLDI 2012).
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.devices.discovery import open_device
from coarsen.devices.drivers import prepare_loader
from coarsen.devices.selection import find_device
from coarsen.opencl_bench.streams.products import product
from coarsen.opencl_bench.streams.yardsticks import CLBlast, in_turns
from coarsen.opencl_bench.studies.reductions import fixed
from coarsen.stream.reduce import Reduce

# Versions that take so many times as long as the fastest are left out.
_MOST = 20
FIXED: tuple[Mapping[str, int], ...] = (
    {"FORM": 1, "LOCAL": 32},
    {"GROUPS": 1, "LOCAL": 1, "LANES": 8},
    {"GROUPS": 1, "LOCAL": 32, "LANES": 1},
    {"GROUPS": 1, "LOCAL": 256, "LANES": 4},
    {"GROUPS": 64, "LOCAL": 1, "LANES": 8},
    {"GROUPS": 64, "LOCAL": 256, "LANES": 4, "ACCESS": 1},
)


def shapes(total: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the rows and the width of matrices, and whether these are for judging alone."""
    for k in range(2, total.bit_length() - 2):
        yield 2**k, total // 2**k, False
        if k % 2:
            rows = int(1.37 * 2**k)
            yield rows, total // rows, True


def measured(queue: cl.CommandQueue, chosen: Reduce, total: int) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each shape and each way."""
    others = {_words(values): fixed(product(), values, queue.device) for values in FIXED}
    generator, device = np.random.default_rng(total), queue.device.name.strip()
    for rows, width, is_judging in shapes(total):
        m, v = (generator.uniform(-1, 1, size).astype(np.float32) for size in ((rows, width), width))
        there = [cl.array.to_device(queue, each) for each in (m, v)]
        runs: dict[str, Callable[[], Any]] = {
            name: partial(each, queue, *there) for name, each in {"chosen": chosen, **others}.items()
        }
        wanted = m.astype(np.float64) @ v
        seconds = {}
        for name, run in runs.items():
            run().get()
            start = time.perf_counter()
            found = run().get()
            seconds[name] = time.perf_counter() - start
            if not np.allclose(found, wanted, rtol=1e-3, atol=2e-5 * width):
                sys.exit(f"{rows}×{width}: {name} has {found[:4]}…, and NumPy {wanted[:4]}…")
        runs = {name: runs[name] for name, each in seconds.items() if each < _MOST * min(seconds.values())}
        with suppress(OSError):
            runs["clblast"] = partial(CLBlast(queue).product, *there, cl.array.zeros(queue, rows, np.float32))
        runs |= _cublas(m, v)
        for name, times in in_turns(queue, runs).items():
            yield device, rows, width, is_judging, name, f"{np.median(times):.4g}"


def _words(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _cublas(m: Any, v: Any) -> Iterator[tuple[str, Callable[[], Any]]]:  # noqa: ANN401 (arrays of NumPy's)
    """PyTorch's product; nothing where it finds no GPU."""
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    there = [torch.from_numpy(each).cuda() for each in (m, v)]

    def run() -> None:
        torch.mv(*there)
        # The queue that is waited for is not PyTorch's.
        torch.cuda.synchronize()

    yield "cublas", run


def main() -> None:
    """Measure, and print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-d", "--device", required=True)
    parser.add_argument("--totals", nargs="*", type=int, default=(1 << 20, 1 << 22, 1 << 24), help="floats")
    parser.add_argument("--tune", type=int, help="how many shapes to tune for before; none if left out")
    asked = parser.parse_args()
    prepare_loader()
    context = cl.Context([open_device(find_device(asked.device))])
    queue = cl.CommandQueue(context)
    chosen = product()
    if asked.tune:
        chosen.tune(asked.device, largest=max(asked.totals), inputs=asked.tune)
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(("device", "rows", "width", "judging", "what", "microseconds"))
    for total in asked.totals:
        for line in measured(queue, chosen, total):
            lines.writerow(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
