"""Registers on GPUs that are not there: a program plays NVIDIA's assembler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coarsen.backend import registers
from coarsen.backend.registers import RegisterUse, registers_on
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

SCALE = "kernel void scale(global float *data, float by) { data[get_global_id(0)] *= by; }"
REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'scale' for 'sm_75'
ptxas info    : Function properties for scale
    48 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 21 registers, used 1 barriers, 380 bytes cmem[0]
"""

Assembler = Callable[..., None]


def lowered(source: str, options: str = "-cl-std=CL2.0") -> Kernel:
    return lower(source, None, options)


@pytest.fixture
def assembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Assembler:
    """`assembler(report, code)` puts a program named ptxas on PATH that prints a report and exits with a code.

    It fails if it is not given a PTX file and asked to tell the registers.
    """

    def install(report: str, code: int = 0) -> None:
        (tmp_path / "report").write_text(report)
        script = tmp_path / "ptxas"
        checks = 'for last; do :; done\ngrep -q "^.target" "$last" && [ "$1" = -v ] || exit 99\n'
        script.write_text(f"#!/bin/sh\n{checks}cat '{tmp_path / 'report'}' >&2\nexit {code}\n")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return install


@pytest.fixture
def no_assembler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(registers, "_IN_WHEELS", ())


def test_what_the_assembler_reports(assembler: Assembler) -> None:
    assembler(REPORT)
    assert registers_on(lowered(SCALE), "nvidia") == RegisterUse("sm_75", 21, 48)
    assert registers_on(lowered(SCALE), "sm_90").chip == "sm_90"


def test_elementary_functions_are_approximated(assembler: Assembler) -> None:
    """The PTX writer refuses them by itself, without -cl-fast-relaxed-math."""
    assembler(REPORT)
    kernel = lowered("kernel void k(global float *a) { a[0] = sin(a[1]) + exp(a[2]); }")
    assert registers_on(kernel, "nvidia").per_work_item == 21


def test_without_an_assembler_there_are_no_figures(no_assembler: None) -> None:
    with pytest.raises(DeviceError, match="not available: there is no ptxas on PATH"):
        registers_on(lowered(SCALE), "nvidia")


def test_an_assembler_of_a_wheel_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_assembler: None
) -> None:
    program = tmp_path / "nvidia" / "cuda_nvcc" / "bin" / "ptxas"
    program.parent.mkdir(parents=True)
    program.write_text("")
    monkeypatch.setattr(registers, "_IN_WHEELS", ("cuda_nvcc/bin/ptxas",))
    monkeypatch.syspath_prepend(tmp_path)
    assert registers.find_ptxas() == program


def test_what_the_assembler_does_not_take(assembler: Assembler) -> None:
    assembler("ptxas fatal   : Value 'sm_20' is not defined for option 'gpu-name'\n", code=1)
    with pytest.raises(
        DeviceError, match=r"ptxas does not take the kernel: ptxas fatal .* 'sm_20' is not defined"
    ):
        registers_on(lowered(SCALE), "sm_20")
    assembler("nothing to tell\n")
    with pytest.raises(DeviceError, match="does not say"):
        registers_on(lowered(SCALE), "nvidia")


def test_an_unknown_chip_is_named() -> None:
    with pytest.raises(InvalidInputError, match="no registers are known of 'cray'"):
        registers_on(lowered(SCALE), "cray")
    with pytest.raises(InvalidInputError, match="'sm_x' is not an architecture"):
        registers_on(lowered(SCALE), "sm_x")
