"""Frames as `exchange.frames.frame` makes them, without measurements: by hand, and a large one from a seed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from coarsen.variant.coarsening import Coarsening, configuration
from coarsen.variant.variant import Variant

POCL: dict[str, Any] = {
    "device": "pthread-skylake-avx512-AMD EPYC",
    "vendor": "AuthenticAMD",
    "platform": "Portable Computing Language",
    "platform_version": "OpenCL 3.0 PoCL 3.1+debian",
    "driver_version": "3.1+debian",
}
INTEL: dict[str, Any] = {
    "device": "AMD EPYC",
    "vendor": "Intel(R) Corporation",
    "platform": "Intel(R) OpenCL",
    "platform_version": "OpenCL 3.1 LINUX",
    "driver_version": "2026.22.10.0.01_160000",
}
NVIDIA: dict[str, Any] = {
    "device": "NVIDIA H200",
    "vendor": "NVIDIA Corporation",
    "platform": "NVIDIA CUDA",
    "platform_version": "OpenCL 3.0 CUDA 12.8",
    "driver_version": "570.86",
}
KERNELS = (
    *("binarySearch", "blackscholes", "convolution", "dwtHaar1D", "fastWalsh", "floydWarshall", "mriQ", "mt"),
    *("mtLocal", "mvCoal", "mvUncoal", "nbody", "reduce", "sgemm", "sobel", "spmv", "stencil"),
)
_COARSENINGS = ("factors", "dimension", "stride")
_ANY_ROW: Mapping[str, Any] = {
    "kernel": "scale",
    "preset": "test",
    "seed": 0,
    **INTEL,
    "compute_units": 2,
    "form": "opencl_c",
    "role": "comparison",
    "factors": "",
    "dimension": "",
    "stride": "",
    "local_size": "64",
    "definitions": "",
    "baseline_local_size": "64",
    "invalidity": "correct",
    "reason": "",
    "oracle": "reference",
    "repetitions": 9,
    "cold_cache": False,
    "compile_seconds": 0.1,
    "measure_seconds": 0.2,
    "timed_seconds": 0.1,
    "started_at": "2026-11-20T12:00:00+00:00",
    "invocation": 0,
}


def row(benchmark: str, factor: int = 1, speedup: float | None = 1.0, **columns: object) -> dict[str, Any]:
    """A row with an interval of ± 2 %; no speed-up where None is given, the invalidity then being `runtime`."""
    coarsened = {"factors": str(factor), "dimension": "0", "stride": "1"} if factor > 1 else {}
    gain = np.nan if speedup is None else speedup
    failed = {"invalidity": "runtime", "reason": "the driver crashed"} if speedup is None else {}
    entry = {
        **_ANY_ROW,
        **coarsened,
        **failed,
        "benchmark": benchmark,
        "factor": factor,
        "speedup": gain,
        "low": gain * 0.98,
        "high": gain * 1.02,
        **columns,
    }
    entry = _words(entry) | entry
    entry.setdefault("tie", bool(entry["low"] <= 1 <= entry["high"]))
    entry.setdefault("key", str(zlib.crc32(repr(sorted(entry.items(), key=str)).encode())))
    entry.setdefault("arrays", "")
    return entry


def _words(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The texts and numbers that follow from a configuration."""
    extents = tuple(int(extent) for extent in entry["local_size"].split("×"))
    definitions = tuple(
        (name, value) for name, value in (each.split("=") for each in entry["definitions"].split())
    )
    numbers = [[int(number) for number in filter(None, entry[name].split(","))] for name in _COARSENINGS]
    coarsenings = configuration(Coarsening(*each) for each in zip(*numbers, strict=True))
    macros = "".join(f", -D {definition}" for definition in entry["definitions"].split())
    return {
        "configuration": str(Variant(extents, coarsenings, definitions)),
        "launch": entry["local_size"] + macros,
        "baseline": entry["baseline_local_size"],
        "work_items": math.prod(extents),
    }


def frame_of(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """The rows as a frame."""
    return pd.DataFrame(list(rows))


def sweep_frame(devices: Iterable[Mapping[str, str]] = (POCL, INTEL, NVIDIA), seed: int = 0) -> pd.DataFrame:
    """The sweep of the seventeen kernels on devices: about forty configurations each, some of them failed."""
    generator = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for device in devices:
        for kernel in KERNELS:
            rows += _kernel_rows(kernel, device, generator)
    return frame_of(rows)


def _kernel_rows(
    kernel: str, device: Mapping[str, str], generator: np.random.Generator
) -> Iterable[dict[str, Any]]:
    best_doublings, gain, spread = (
        generator.uniform(0, 4.5),
        generator.normal(0.2, 0.7),
        generator.uniform(0.1, 0.5),
    )
    common = {**device, "baseline_local_size": "64"}
    for local_size in (16, 64, 256):
        worse = 0.0 if local_size == 64 else -abs(generator.normal(0, spread))
        yield row(kernel, 1, 2.0**worse, local_size=str(local_size), **common)
        for factor, stride in ((f, s) for f in (2, 4, 8, 16, 32) for s in (1, 8, 32)):
            columns = {**common, "local_size": str(local_size), "stride": str(stride)}
            shape = gain - 0.25 * (np.log2(factor) - best_doublings) ** 2 * abs(gain)
            ratio = 2.0 ** (shape + worse + generator.normal(0, spread) * (0.3 + 0.1 * (stride > 1)))
            yield _coarsened(kernel, factor, stride, local_size, ratio, columns, generator)


def _coarsened(
    kernel: str,
    factor: int,
    stride: int,
    local_size: int,
    ratio: float,
    columns: dict[str, Any],
    generator: np.random.Generator,
) -> dict[str, Any]:
    if factor * stride > local_size:
        return row(kernel, factor, None, **columns | {"invalidity": "constraints"})
    if generator.random() < 0.03 + 0.02 * (factor > 8):
        invalidity = generator.choice(["timeout", "compile", "runtime", "correctness"])
        return row(kernel, factor, None, **columns | {"invalidity": str(invalidity)})
    width = abs(generator.normal(0.02, 0.02))
    return row(kernel, factor, ratio, **columns | {"low": ratio * (1 - width), "high": ratio * (1 + width)})
