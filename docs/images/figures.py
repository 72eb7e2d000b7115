"""Draws the figures of `when-it-helps.md` from the sweeps of the package, beside this file.

python docs/images/figures.py
"""

from __future__ import annotations

from pathlib import Path

from coarsen.opencl_bench import plots, shipped_results

_CLIFFS = ("binarySearch", "reduce", "mvUncoal", "nbody", "blackscholes", "convolution")
_STRIDES = ("dwtHaar1D", "fastWalsh", "reduce", "spmv")


def main() -> None:
    """Write the two figures."""
    intel = shipped_results("intel").only(benchmarks=_CLIFFS)
    plots.save(plots.draw_curves(intel.frame(), choice="baseline"), _file("intel-cliffs.svg"))
    h200 = shipped_results("h200").only(devices=("opencl 3",), benchmarks=_STRIDES)
    plots.save(plots.draw_curves(h200.frame(), by="stride", choice="baseline"), _file("h200-strides.svg"))


def _file(name: str) -> Path:
    return Path(__file__).with_name(name)


if __name__ == "__main__":
    main()
