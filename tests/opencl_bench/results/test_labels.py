"""What devices are called in figures."""

from __future__ import annotations

import pytest

from coarsen.opencl_bench.results.frames import device_labels, short_device, short_platform
from tests.opencl_bench.reporting.figures.samples import INTEL, NVIDIA, POCL, frame_of, row


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("pthread-skylake-avx512-AMD EPYC", "AMD EPYC"),
        ("pthread-AMD EPYC", "AMD EPYC"),
        ("cpu-haswell-Intel(R) Xeon(R) Processor @ 2.10GHz", "Intel Xeon"),
        ("AMD EPYC 7B13 64-Core Processor", "AMD EPYC 7B13"),
        ("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz", "Intel Core i7-8700"),
        ("NVIDIA H200", "NVIDIA H200"),
        ("Tahiti", "Tahiti"),
        ("CPU", "CPU"),
    ],
)
def test_short_devices(name: str, short: str) -> None:
    assert short_device(name) == short


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Portable Computing Language", "PoCL"),
        ("Intel(R) OpenCL", "Intel"),
        ("NVIDIA CUDA", "OpenCL"),
        ("rusticl", "rusticl"),
    ],
)
def test_short_platforms(name: str, short: str) -> None:
    assert short_platform(name) == short


def test_devices_are_told_apart_by_their_platforms() -> None:
    rows = frame_of(row("mt", **place) for place in (POCL, INTEL, NVIDIA, POCL))
    assert list(device_labels(rows)) == [
        *("AMD EPYC (PoCL)", "AMD EPYC (Intel)", "NVIDIA H200 (OpenCL)", "AMD EPYC (PoCL)"),
    ]


@pytest.mark.parametrize(
    ("column", "values", "labels"),
    [
        ("form", ("opencl_c", "spirv"), ("AMD EPYC (PoCL), OpenCL C", "AMD EPYC (PoCL), SPIR-V")),
        ("driver_version", ("3.1", "6.0"), ("AMD EPYC (PoCL), driver 3.1", "AMD EPYC (PoCL), driver 6.0")),
        ("cold_cache", (False, True), ("AMD EPYC (PoCL)", "AMD EPYC (PoCL), cold cache")),
        ("platform_version", ("A", "B"), ("AMD EPYC (PoCL), A", "AMD EPYC (PoCL), B")),
        (
            "device",
            ("pthread-AMD EPYC", "basic-AMD EPYC"),
            ("AMD EPYC (PoCL), pthread-AMD EPYC", "AMD EPYC (PoCL), basic-AMD EPYC"),
        ),
    ],
)
def test_what_differs_is_named_only_where_it_must_be(
    column: str, values: tuple[object, ...], labels: tuple[str, ...]
) -> None:
    places = [POCL | {column: value} for value in values]
    rows = frame_of(row("mt", **place) for place in (*places, NVIDIA))
    assert list(device_labels(rows)) == [*labels, "NVIDIA H200 (OpenCL)"]
