"""Names that OpenCL gives devices, the figures behind them, and devices that nobody described."""

from __future__ import annotations

import pytest

from coarsen.models.device_descriptors import (
    DEVICE_DESCRIPTORS,
    known_descriptor,
    unknown_descriptor,
)


@pytest.mark.parametrize(
    ("called", "platform", "name"),
    [
        ("Tahiti", "AMD Accelerated Parallel Processing", "tahiti"),
        ("Cypress", "", "cypress"),
        ("GeForce GTX 480", "NVIDIA CUDA", "fermi"),
        ("Tesla C2050", "NVIDIA CUDA", "fermi"),
        ("Tesla K20c", "NVIDIA CUDA", "kepler"),
        ("NVIDIA H200", "NVIDIA CUDA", "h200"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA CUDA", "h200"),
        ("pthread-skylake-avx512-AMD EPYC", "Portable Computing Language", "pocl"),
        ("cpu-haswell-Intel(R) Core(TM) i7", "Portable Computing Language", "pocl"),
        ("AMD EPYC", "Intel(R) OpenCL", "intel"),
    ],
)
def test_devices_are_known_by_their_names(called: str, platform: str, name: str) -> None:
    found = known_descriptor(called, platform)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    ("called", "platform"),
    [
        ("Oclgrind Simulator", "Oclgrind"),
        ("NVIDIA GeForce RTX 4090", "Portable Computing Language"),
        ("Intel(R) Iris(R) Xe Graphics", "Intel(R) OpenCL Graphics"),
        ("", ""),
    ],
)
def test_other_devices_are_not(called: str, platform: str) -> None:
    assert known_descriptor(called, platform) is None


@pytest.mark.parametrize("name", list(DEVICE_DESCRIPTORS))
def test_a_descriptor_is_found_under_its_name(name: str) -> None:
    assert DEVICE_DESCRIPTORS[name].name == name


def test_an_unknown_gpu_is_like_one_of_its_vendor() -> None:
    amd = unknown_descriptor("gfx1100", is_gpu=True, vendor="Advanced Micro Devices, Inc.")
    assert (amd.is_gpu, amd.simd_width, amd.vectorises_work_items) == (True, 64, True)
    other = unknown_descriptor("RTX 4090", is_gpu=True, vendor="NVIDIA Corporation", native_vector_width=1)
    assert other.simd_width == 32
    assert not other.means("RTX 4090")


def test_an_unknown_cpu_has_the_vectors_that_it_tells_of() -> None:
    cpu = unknown_descriptor("a CPU", is_gpu=False, native_vector_width=8)
    assert (cpu.is_gpu, cpu.simd_width) == (False, 8)
    assert unknown_descriptor("a CPU", is_gpu=False).simd_width == 16
