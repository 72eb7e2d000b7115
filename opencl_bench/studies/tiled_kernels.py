"""What tuning finds from nothing, with tiles and without: `python -m coarsen.opencl_bench.studies.tiled_kernels`.

Kernels as plain as users write them, each with a launch of its own in work-groups of 16 × 16 or 256. A line of CSV
for each on standard output (`opencl_bench/data/tiles.csv`). Where PyTorch finds a GPU, products run in turns with
its product in single precision (cuBLAS, TF32 off), too.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from coarsen.devices.discovery import open_device
from coarsen.devices.drivers import prepare_loader
from coarsen.devices.selection import find_device
from coarsen.drop_in.ahead import tune
from coarsen.drop_in.program import Program
from coarsen.tuning.progress import TimeOverError
from coarsen.tuning.settings import Tune

if TYPE_CHECKING:
    import pyopencl as cl

_REPETITIONS = 20
_WARM_UP = 3
_HEAD = "kernel void k(global const {0} *a, global const {0} *b, global float *c, {1})"
_IDS = "int j = get_global_id(0), i = get_global_id(1);"
_EACH = "for (int k = 0; k < n; ++k)"
_INSIDE = f"{_IDS} if (i < n && j < n)"


@dataclass(frozen=True)
class Plain:
    """A kernel over arrays a, b and c, whose extents and that of the launch are products of n; ints are n."""

    body: str
    size: int
    cells: str = "n*n"
    results: str = "n*n"
    launch: tuple[str, ...] = ("n", "n")
    local: tuple[int, ...] = (16, 16)
    element: str = "float"
    scalars: str = "float alpha, float beta, int n"

    @property
    def source(self) -> str:
        """Its OpenCL C."""
        return f"{_HEAD.format(self.element, self.scalars)}\n{{ {self.body} }}\n"

    def count(self, text: str, n: int) -> int:
        """Return one of its extents for a size."""
        return math.prod(int(part) if part.isdigit() else n for part in text.split("*"))


KERNELS = {
    "sgemm": Plain(
        f"{_IDS} float s = 0; {_EACH} s += a[j + k*lda] * b[i + k*ldb];"
        " c[j + i*ldc] = c[j + i*ldc]*beta + alpha*s;",
        4096,
        scalars="int lda, int ldb, int ldc, int n, float alpha, float beta",
    ),
    "product": Plain(f"{_IDS} float s = 0; {_EACH} s += a[i*n + k]*b[k*n + j]; c[i*n + j] = s;", 2048),
    "gemm": Plain(
        f"{_INSIDE} {{ c[i*n + j] *= beta; {_EACH} c[i*n + j] += alpha*a[i*n + k]*b[k*n + j]; }}",
        2048,
    ),
    "2mm": Plain(
        f"{_INSIDE} {{ c[i*n + j] = 0; {_EACH} c[i*n + j] += alpha*a[i*n + k]*b[k*n + j]; }}",
        2048,
    ),
    "syrk": Plain(
        f"{_INSIDE} {{ c[i*n + j] *= beta; {_EACH} c[i*n + j] += alpha*a[i*n + k]*a[j*n + k]; }}",
        2048,
    ),
    "syr2k": Plain(
        f"{_INSIDE} {{ c[i*n + j] *= beta; {_EACH} {{ c[i*n + j] += alpha*a[i*n + k]*b[j*n + k];"
        " c[i*n + j] += alpha*b[i*n + k]*a[j*n + k]; } }",
        2048,
    ),
    "correlation": Plain(
        "int j = get_global_id(0); if (j < n - 1) { c[j*n + j] = 1;"
        " for (int i = j + 1; i < n; ++i) { c[j*n + i] = 0;"
        f" {_EACH} c[j*n + i] += a[k*n + j]*a[k*n + i]; c[i*n + j] = c[j*n + i]; }} }}",
        1024,
        launch=("n",),
        local=(256,),
    ),
    "covariance": Plain(
        f"{_INSIDE} {{ float s = 0; {_EACH} s += a[k*n + i]*a[k*n + j]; c[i*n + j] = s/(n - 1); }}",
        2048,
    ),
    "distances": Plain(
        f"{_IDS} float s = 0; for (int k = 0; k < 64; ++k) {{ float d = a[i*64 + k] - a[j*64 + k]; s += d*d; }}"
        " c[i*n + j] = sqrt(s);",
        2048,
        cells="64*n",
    ),
    "nbody": Plain(
        f"int i = get_global_id(0); float4 p = a[i]; float x = 0, y = 0, z = 0; {_EACH} {{"
        " float4 q = a[k]; float u = q.x - p.x, v = q.y - p.y, w = q.z - p.z, r = rsqrt(u*u + v*v + w*w + 0.01f);"
        " float m = q.w*r*r*r; x += u*m; y += v*m; z += w*m; } c[3*i] = x; c[3*i + 1] = y; c[3*i + 2] = z;",
        32768,
        cells="4*n",
        results="3*n",
        launch=("n",),
        local=(256,),
        element="float4",
    ),
    "stencil5": Plain(
        f"{_IDS} if (j > 0 && j < n - 1 && i > 0 && i < n - 1) c[i*n + j] = alpha*a[i*n + j]"
        " + beta*(a[i*n + j - 1] + a[i*n + j + 1] + a[(i - 1)*n + j] + a[(i + 1)*n + j]);",
        4096,
    ),
    "stencil7": Plain(
        f"{_IDS} if (j > 0 && j < n - 1 && i > 0 && i < n - 1) for (int z = 1; z < n - 1; ++z)"
        " c[(z*n + i)*n + j] = alpha*a[(z*n + i)*n + j] + beta*(a[(z*n + i)*n + j - 1] + a[(z*n + i)*n + j + 1]"
        " + a[(z*n + i - 1)*n + j] + a[(z*n + i + 1)*n + j]"
        " + a[((z - 1)*n + i)*n + j] + a[((z + 1)*n + i)*n + j]);",
        256,
        cells="n*n*n",
        results="n*n*n",
        local=(32, 4),
    ),
    "convolution": Plain(
        f"{_IDS} float s = 0; for (int k = -8; k <= 8; ++k) s += a[i*n + clamp(j + k, 0, n - 1)]*b[k + 8];"
        " c[i*n + j] = s;",
        4096,
    ),
}
COLUMNS = (
    *(
        "kernel",
        "n",
        "device",
        "tiles",
        "ratio",
        "low",
        "high",
        "own_ms",
        "best_ms",
        "trials",
        "seconds",
        "choice",
    ),
    *("tflops", "cublas_tflops"),
)
PRODUCTS = ("sgemm", "product", "gemm")


def main() -> int:
    """Tune each kernel that is asked for, with tiles and without, and print the rows."""
    options = _options()
    prepare_loader()
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for name in options.kernels or KERNELS:
        for tiles in (True, False):
            try:
                writer.writerow(_row(name, options, tiles))
            except TimeOverError as error:
                print(f"{name}, tiles: {tiles}: {error}", file=sys.stderr)
            sys.stdout.flush()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Tunes plain kernels with tiles and without.")
    parser.add_argument("device", help="as for coarsen tune: intel, pocl, nvidia")
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help=f"all if none is named: {', '.join(KERNELS)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each tuning")
    parser.add_argument("--size", type=int, help="n; each kernel's own if it is left out")
    options = parser.parse_args()
    unknown = [name for name in options.kernels if name not in KERNELS]
    if unknown:
        parser.error(f"there is no kernel {unknown[0]!r}")
    return options


def _row(name: str, options: argparse.Namespace, tiles: bool) -> dict[str, Any]:
    import pyopencl as cl

    plain = KERNELS[name]
    n = options.size or plain.size
    device = find_device(options.device)
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    values = {"alpha": np.float32(1.5), "beta": np.float32(0.5)}
    scalars = [values.get(each.split()[-1], np.int32(n)) for each in plain.scalars.split(",")]
    arguments = [*_buffers(context, plain, n), *scalars]
    sizes, local = tuple(plain.count(extent, n) for extent in plain.launch), plain.local
    with tempfile.TemporaryDirectory() as folder:
        settings = Tune(seconds=options.seconds, tiles=tiles, store=str(Path(folder) / "found.db"))
        kernel = Program(context, plain.source, tune=False).build().k
        found = tune(kernel, queue, sizes, local, *arguments, settings=settings)
        own, best = (nanoseconds / 1e6 for nanoseconds in found.decision.nanoseconds)
        row = {
            "kernel": name,
            "n": n,
            "device": device.name,
            "tiles": "yes" if tiles else "no",
            **{key: round(value, 4) for key, value in asdict(found.decision.doubtful or found.speedup).items()},
            "own_ms": round(own, 4),
            "best_ms": round(best, 4),
            "trials": found.trials,
            "seconds": round(found.seconds, 1),
            "choice": "uncertain" if found.doubt else str(found.choice),
        }
        tuned = Program(context, plain.source, tune=settings).build().k
        is_compared = name in PRODUCTS and tiles
        turns = _in_turns(lambda: tuned(queue, sizes, local, *arguments), n) if is_compared else None
    return {**row, "tflops": turns and turns[0], "cublas_tflops": turns and turns[1]}


def _buffers(context: cl.Context, plain: Plain, n: int) -> Iterator[cl.Buffer]:
    import pyopencl as cl

    draw, flags = np.random.default_rng(0), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    for extent in (plain.cells, plain.cells, plain.results):
        yield cl.Buffer(context, flags, hostbuf=draw.random(plain.count(extent, n), dtype=np.float32))


def _in_turns(launched: Callable[[], cl.Event], n: int) -> tuple[float, float] | None:
    """The TFLOPS of a product and of cuBLAS', in turns; None without a GPU that PyTorch knows."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = False
    event_of: Any = torch.cuda.Event
    left, right = (torch.rand(n, n, device="cuda") for _ in range(2))
    ours, theirs = [], []
    for _ in range(_REPETITIONS):
        event = launched()
        event.wait()
        ours.append((event.profile.end - event.profile.start) / 1e9)
        begin, end = (event_of(enable_timing=True) for _ in range(2))
        begin.record()
        torch.mm(left, right)
        end.record()
        torch.cuda.synchronize()
        theirs.append(begin.elapsed_time(end) / 1e3)
    operations = 2 * n**3 / 1e12
    own, other = (round(operations / median(times[_WARM_UP:]), 2) for times in (ours, theirs))
    return own, other


if __name__ == "__main__":
    sys.exit(main())
