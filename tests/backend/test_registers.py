"""Registers on GPUs that are not there: LLVM's AMDGPU back end, and a program that plays NVIDIA's assembler."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from coarsen.backend import registers
from coarsen.backend.amdgpu import amdgpu_assembly
from coarsen.backend.registers import (
    RegisterUse,
    amd_registers,
    nvidia_registers,
    registers_on,
)
from coarsen.cost.register_pressure import maximum_live_words
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel
from tests.frontend.corpus import launches

SCALE = "kernel void scale(global float *data, float by) { data[get_global_id(0)] *= by; }"
FACTORS = (1, 8)
WITHOUT_IMAGES = sorted(name for name, launch in launches().items() if not launch.uses_images)
REPORT = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'scale' for 'sm_75'
ptxas info    : Function properties for scale
    48 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 21 registers, used 1 barriers, 380 bytes cmem[0]
"""
MANY_VALUES = " + ".join(f"data[i + {k}] * data[i * {k}]" for k in range(60))

Assembler = Callable[..., None]


def lowered(source: str, options: str = "-cl-std=CL2.0") -> Kernel:
    return lower(source, None, options)


@cache
def benchmark_kernel(name: str) -> Kernel:
    return lower(SUITE[name].source, SUITE[name].kernel, SUITE[name].build_options)


@cache
def tahiti_use(name: str, factor: int) -> RegisterUse:
    coarsening = Coarsening(factor, SUITE[name].dimensions[-1])
    return amd_registers(coarsen_kernel(benchmark_kernel(name), [coarsening]))


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


# AMD.


@pytest.mark.parametrize("name", SUITE)
def test_every_benchmark_has_figures(name: str) -> None:
    uses = [tahiti_use(name, factor) for factor in FACTORS]
    for use in uses:
        assert 2 <= use.per_work_item <= 256
        assert 1 <= (use.scalar or 0) <= 104
        assert 1 <= (use.occupancy or 0) <= 10
    assert uses[1].per_work_item >= uses[0].per_work_item


def test_the_estimate_ranks_kernels_as_their_registers_do() -> None:
    """Rank correlation (Spearman) of estimated live words with registers on tahiti, a pair per factor."""
    estimates, registers = [], []
    for name, driver in SUITE.items():
        analysed = analyse(benchmark_kernel(name), driver.dimensions[-1])
        estimates += [maximum_live_words(analysed, factor) for factor in FACTORS]
        registers += [tahiti_use(name, factor).per_work_item for factor in FACTORS]
    assert spearmanr(estimates, registers).statistic > 0.7


@pytest.mark.parametrize("name", WITHOUT_IMAGES)
def test_builtins_of_the_corpus_have_a_form(name: str) -> None:
    launch = launches()[name]
    assert amd_registers(lower(launch.path, name, launch.options)).per_work_item >= 1


def test_the_code_is_that_of_the_kernel() -> None:
    """A load, a multiplication and a store, and the arguments from constant memory: nothing is left out."""
    assembly = amdgpu_assembly(lowered(SCALE), "tahiti")
    instructions = re.findall(
        r"^\t([a-z]\w+)", assembly.partition("scale:")[2].partition("s_endpgm")[0], re.MULTILINE
    )
    assert instructions.count("buffer_load_dword") == instructions.count("buffer_store_dword") == 1
    assert sum(name.startswith("v_mul_f32") for name in instructions) == 1
    assert not any("swappc" in name for name in instructions)


def test_coarsening_takes_registers_and_places_of_wavefronts() -> None:
    once, eightfold = (tahiti_use("fastWalsh", factor) for factor in FACTORS)
    assert eightfold.per_work_item > 3 * once.per_work_item
    assert (eightfold.occupancy or 0) < (once.occupancy or 0) == 10


def test_a_large_array_is_scratch() -> None:
    body = "float kept[512]; for (int j = 0; j < 512; ++j) kept[j] = data[j]; data[0] = kept[(int)data[1]];"
    assert amd_registers(lowered(f"kernel void k(global float *data) {{ {body} }}")).scratch_bytes >= 4 * 512
    assert amd_registers(lowered(SCALE)).scratch_bytes == 0


@pytest.mark.parametrize(
    "body",
    [
        "local int count; count = 0; barrier(1); atomic_inc(&count); barrier(1); data[get_group_id(0)] = count;",
        "constant_table",
        "float *p = (float *)(data + get_global_id(0)); *p = *p * 2;",
        "event_t e = async_work_group_copy(tile, data, 64, 0); wait_group_events(1, &e); data[0] = tile[5];",
        "data[get_global_linear_id()] = tile[get_local_id(get_local_size(0) > 9)] + structure.numbers[2];",
        "structure.numbers[(int)data[0] & 3] = data[1]; data[2] = structure.numbers[(int)data[3] & 3];",
        "float kept[5] = {1, 2, 3, 4, 9}; data[0] = kept[(int)data[1]];",
        "int part; data[0] = sin(data[1]) + pow(data[2], 2.5f) + frexp(data[3], &part) + hypot(data[4], 1);",
    ],
    ids=["local", "constant", "generic", "copy", "linear", "by value", "initial values", "math"],
)
def test_address_spaces_and_builtins(body: str) -> None:
    body = body.replace("constant_table", "data[get_global_id(0)] = table[get_local_id(0) & 3] * numbers[0];")
    source = f"""
        typedef struct {{ float numbers[4]; }} Structure;
        constant float table[4] = {{1, 2, 3, 5}};
        kernel void k(global float *data, local float *tile, constant float *numbers, Structure structure)
        {{ {body} }}"""
    assert amd_registers(lowered(source)).per_work_item >= 1


def test_names_that_look_like_something_else() -> None:
    source = """
        constant char text[] = "a ptr is";
        struct s { float numbers[4]; };
        kernel void k(global float *data, struct s s2, struct s s, int n)
        {
            int i = 0;
        ptr:
            data[get_global_id(0)] += s.numbers[i & 3] + s2.numbers[i] + text[i];
            if (++i < n)
                goto ptr;
        }"""
    assert amd_registers(lowered(source)).per_work_item >= 1


def test_a_demanded_work_group_limits_the_registers() -> None:
    """Of 1024 work-items in a group, 16 wavefronts must find room at once: a quarter of the registers each."""
    body = f"int i = get_global_id(0); data[i] = {MANY_VALUES};"
    attribute = "__attribute__((reqd_work_group_size(1024, 1, 1)))"
    demanding = amd_registers(lowered(f"kernel {attribute} void k(global float *data) {{ {body} }}"))
    assert demanding.per_work_item <= 64
    assert (demanding.occupancy or 0) >= 4


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('kernel void k(global int *a) { printf("%d", a[0]); }', "1:32: printf has no form on AMD's GCN here"),
        ("kernel void k(global double *a) { a[0] = sin(a[1]); }", "1:42: sin has no form on AMD's GCN here"),
        (
            "kernel void k(read_only image2d_t a, global int *b) { b[0] = get_image_width(a); }",
            "the argument 'a' of type image2d_t has no form on AMD's GCN here",
        ),
        (
            "kernel void k(global int *a, local int *b, int c) { int *p = c ? (int *)a : (int *)b; *p = 1; }",
            "LLVM's AMDGPU back end gave up: ",
        ),
    ],
    ids=["printf", "double", "image", "generic pointer"],
)
def test_what_has_no_form_is_refused(source: str, reason: str) -> None:
    with pytest.raises(RefusalError) as refusal:
        amd_registers(lowered(source))
    assert refusal.value.code == "registers-unsupported"
    assert str(refusal.value).startswith(reason)


def test_an_unknown_chip_is_named() -> None:
    with pytest.raises(InvalidInputError, match="there is no GCN chip 'tahitian'; there is: tahiti, "):
        amd_registers(lowered(SCALE), "tahitian")
    with pytest.raises(InvalidInputError, match="no registers are known of 'cray'"):
        registers_on(lowered(SCALE), "cray")


# NVIDIA.


def test_what_the_assembler_reports(assembler: Assembler) -> None:
    assembler(REPORT)
    assert nvidia_registers(lowered(SCALE)) == RegisterUse("sm_75", 21, None, None, 48)
    assert registers_on(lowered(SCALE), "nvidia") == nvidia_registers(lowered(SCALE), "sm_75")
    assert registers_on(lowered(SCALE), "sm_90").chip == "sm_90"


def test_elementary_functions_are_approximated(assembler: Assembler) -> None:
    """The PTX writer refuses them by itself, without -cl-fast-relaxed-math."""
    assembler(REPORT)
    kernel = lowered("kernel void k(global float *a) { a[0] = sin(a[1]) + exp(a[2]); }")
    assert nvidia_registers(kernel).per_work_item == 21


def test_without_an_assembler_there_are_no_figures(no_assembler: None) -> None:
    with pytest.raises(DeviceError, match="not available: there is no ptxas on PATH"):
        nvidia_registers(lowered(SCALE))


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
        nvidia_registers(lowered(SCALE), "sm_20")
    assembler("nothing to tell\n")
    with pytest.raises(DeviceError, match="does not say"):
        nvidia_registers(lowered(SCALE))
