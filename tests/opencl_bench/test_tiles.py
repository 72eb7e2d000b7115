"""The page about tiles has the figures of the stored rows, and its kernels have tiles where it says so."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.pipeline import run_pipeline
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant

BENCH = Path(__file__).parents[2] / "opencl_bench"
NAMES = {"NVIDIA H200": "H200", "AMD EPYC": "Intel", "pthread-skylake-avx512-AMD EPYC": "PoCL"}
WITHOUT = {"correlation", "stencil5", "stencil7"}

_HEAD = "kernel void k(global const {0} *a, global const {0} *b, global float *c, {1})"
_IDS = "int j = get_global_id(0), i = get_global_id(1);"
_EACH = "for (int k = 0; k < n; ++k)"
_INSIDE = f"{_IDS} if (i < n && j < n)"


@dataclass(frozen=True)
class Plain:
    """A kernel over arrays a, b and c, as plain as users write them; ints are n."""

    body: str
    local: tuple[int, ...] = (16, 16)
    element: str = "float"
    scalars: str = "float alpha, float beta, int n"

    @property
    def source(self) -> str:
        """Its OpenCL C."""
        return f"{_HEAD.format(self.element, self.scalars)}\n{{ {self.body} }}\n"


KERNELS = {
    "sgemm": Plain(
        f"{_IDS} float s = 0; {_EACH} s += a[j + k*lda] * b[i + k*ldb];"
        " c[j + i*ldc] = c[j + i*ldc]*beta + alpha*s;",
        scalars="int lda, int ldb, int ldc, int n, float alpha, float beta",
    ),
    "product": Plain(f"{_IDS} float s = 0; {_EACH} s += a[i*n + k]*b[k*n + j]; c[i*n + j] = s;"),
    "gemm": Plain(
        f"{_INSIDE} {{ c[i*n + j] *= beta; {_EACH} c[i*n + j] += alpha*a[i*n + k]*b[k*n + j]; }}",
    ),
    "2mm": Plain(
        f"{_INSIDE} {{ c[i*n + j] = 0; {_EACH} c[i*n + j] += alpha*a[i*n + k]*b[k*n + j]; }}",
    ),
    "syrk": Plain(
        f"{_INSIDE} {{ c[i*n + j] *= beta; {_EACH} c[i*n + j] += alpha*a[i*n + k]*a[j*n + k]; }}",
    ),
    "syr2k": Plain(
        f"{_INSIDE} {{ c[i*n + j] *= beta; {_EACH} {{ c[i*n + j] += alpha*a[i*n + k]*b[j*n + k];"
        " c[i*n + j] += alpha*b[i*n + k]*a[j*n + k]; } }",
    ),
    "correlation": Plain(
        "int j = get_global_id(0); if (j < n - 1) { c[j*n + j] = 1;"
        " for (int i = j + 1; i < n; ++i) { c[j*n + i] = 0;"
        f" {_EACH} c[j*n + i] += a[k*n + j]*a[k*n + i]; c[i*n + j] = c[j*n + i]; }} }}",
        local=(256,),
    ),
    "covariance": Plain(
        f"{_INSIDE} {{ float s = 0; {_EACH} s += a[k*n + i]*a[k*n + j]; c[i*n + j] = s/(n - 1); }}",
    ),
    "distances": Plain(
        f"{_IDS} float s = 0; for (int k = 0; k < 64; ++k) {{ float d = a[i*64 + k] - a[j*64 + k]; s += d*d; }}"
        " c[i*n + j] = sqrt(s);",
    ),
    "nbody": Plain(
        f"int i = get_global_id(0); float4 p = a[i]; float x = 0, y = 0, z = 0; {_EACH} {{"
        " float4 q = a[k]; float u = q.x - p.x, v = q.y - p.y, w = q.z - p.z, r = rsqrt(u*u + v*v + w*w + 0.01f);"
        " float m = q.w*r*r*r; x += u*m; y += v*m; z += w*m; } c[3*i] = x; c[3*i + 1] = y; c[3*i + 2] = z;",
        local=(256,),
        element="float4",
    ),
    "stencil5": Plain(
        f"{_IDS} if (j > 0 && j < n - 1 && i > 0 && i < n - 1) c[i*n + j] = alpha*a[i*n + j]"
        " + beta*(a[i*n + j - 1] + a[i*n + j + 1] + a[(i - 1)*n + j] + a[(i + 1)*n + j]);",
    ),
    "stencil7": Plain(
        f"{_IDS} if (j > 0 && j < n - 1 && i > 0 && i < n - 1) for (int z = 1; z < n - 1; ++z)"
        " c[(z*n + i)*n + j] = alpha*a[(z*n + i)*n + j] + beta*(a[(z*n + i)*n + j - 1] + a[(z*n + i)*n + j + 1]"
        " + a[(z*n + i - 1)*n + j] + a[(z*n + i + 1)*n + j]"
        " + a[((z - 1)*n + i)*n + j] + a[((z + 1)*n + i)*n + j]);",
        local=(32, 4),
    ),
    "convolution": Plain(
        f"{_IDS} float s = 0; for (int k = -8; k <= 8; ++k) s += a[i*n + clamp(j + k, 0, n - 1)]*b[k + 8];"
        " c[i*n + j] = s;",
    ),
}


def rows() -> list[dict[str, str]]:
    with (BENCH / "data" / "tiles.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def lines() -> Iterator[str]:
    """The table: how many times as fast as its own launch each kernel is, without tiles and with them."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows():
        key = NAMES[row["device"]], row["kernel"], row["n"]
        found.setdefault(key, {})[row["tiles"]] = float(row["ratio"])
    for (device, kernel, n), ratios in found.items():
        if len(ratios) == 2:
            gain = ratios["yes"] / ratios["no"]
            yield f"| {device} | `{kernel}` | {n} | {ratios['no']:.2f} | {ratios['yes']:.2f} | {gain:.2f} |"


def test_the_page_has_the_figures_of_the_rows() -> None:
    page = (BENCH / "README.md").read_text()
    for line in lines():
        assert line in page
    for row in rows():
        if row["tflops"]:
            share = float(row["tflops"]) / float(row["cublas_tflops"])
            assert f"**{share:.2f}** at {row['n']}²" in page, row


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_have_tiles_where_the_page_says_so(name: str) -> None:
    plain = KERNELS[name]
    local = tuple(2 * extent if place == 0 else extent for place, extent in enumerate(plain.local))
    variant = Variant(local, (Coarsening(2, stride=16),), transforms=Transforms(tile=Tile("16"), distinct=True))
    try:
        made = run_pipeline(lower(plain.source, "k"), variant)
    except RefusalError:
        made = None
    assert (made is not None) == (name not in WITHOUT)
