"""The PTX writer: text that LLVM writes, and that NVIDIA's own assembler takes where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from coarsen.backend.ptx import write_ptx
from coarsen.errors import InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.lower import lower
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel
from tests.frontend.corpus import launches

RELAXED = "-cl-fast-relaxed-math"
SUITE = Path(__file__).parents[2] / "opencl_bench" / "kernels"
NEEDS_RELAXED = {"blackscholes", "mriQ", "sobel"}
WITHOUT_IMAGES = sorted(name for name, launch in launches().items() if not launch.uses_images)


def ptx_of(source: str | Path, options: str = "", architecture: str = "sm_75") -> str:
    text = write_ptx(lower(source, options=options), architecture)
    assemble(text, architecture)
    return text


def assemble(text: str, architecture: str) -> None:
    """NVIDIA's assembler has the last word where there is one."""
    assembler = shutil.which("ptxas")
    if assembler is None:
        return
    command = [assembler, f"-arch={architecture}", "-o", "/dev/null", "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", WITHOUT_IMAGES)
def test_corpus(name: str) -> None:
    launch = launches()[name]
    options = f"{launch.options} {RELAXED}" if name == "waves" else launch.options
    text = write_ptx(lower(launch.path, name, options))
    assert f".visible .entry {name}(" in text
    assert ".extern .func" not in text
    assemble(text, "sm_75")


@pytest.mark.parametrize("path", sorted(SUITE.glob("*.cl")), ids=lambda path: path.stem)
def test_kernels_of_the_suite(path: Path) -> None:
    ptx_of(path, RELAXED if path.stem in NEEDS_RELAXED else "")


def test_coarsened_kernel() -> None:
    coarsened = coarsen_kernel(lower(SUITE / "sgemm.cl"), [Coarsening(4, 1)])
    text = write_ptx(coarsened)
    assemble(text, "sm_75")
    assert text.count("st.global") == 4


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_architecture(architecture: str) -> None:
    text = ptx_of("kernel void k(global int *a) { a[get_global_id(0)] = 1; }", "", architecture)
    assert f".target {architecture}" in text


@pytest.mark.parametrize("architecture", ["", "gfx900", "sm_", "sm_75; rm"])
def test_no_architecture(architecture: str) -> None:
    with pytest.raises(InvalidInputError, match="is not an architecture"):
        write_ptx(lower("kernel void k(global int *a) { a[0] = 1; }"), architecture)


def test_global_id_is_group_times_size_plus_local_id() -> None:
    text = ptx_of("kernel void k(global int *a) { a[get_global_id(1)] = get_global_offset(1); }")
    registers = set(re.findall(r"%(\w+\.[xyz]);", text))
    assert registers == {"ctaid.y", "ntid.y", "tid.y"}
    assert re.search(r"st\.global\.b32 \t?\[%rd\d+\], 0;", text)
    assert "a launch has no global offset" in text


def test_address_spaces() -> None:
    source = """
constant float table[4] = {1, 2, 3, 4};
kernel void k(global float *a, constant float *c, int n) {
    local float tile[32];
    float own[4] = {a[0], a[1], a[2], a[n + 4]};
    tile[get_local_id(0)] = table[n] + c[n];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[n] + own[n];
}
"""
    text = ptx_of(source)
    for access in ("st.shared", "ld.shared", "st.local", "ld.local", "ld.global.nc", "bar.sync"):
        assert access in text
    assert ".const" not in text


def test_local_argument_is_an_offset_into_shared_memory() -> None:
    source = """
kernel void k(global float *a, local float *tile, local int *marks) {
    tile[get_local_id(0)] = a[get_global_id(0)];
    marks[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = tile[get_local_id(0) ^ 1] + marks[0];
}
"""
    text = ptx_of(source)
    assert ".extern .shared .align 128 .b8 dynamic_shared_memory[]" in text
    assert "// In place of tile, marks: bytes from the start of dynamic_shared_memory" in text
    assert re.findall(r"\.param \.(\w+)", text.split("{")[0])[1:] == ["u64", "u64"]


def test_the_name_of_a_local_argument_may_begin_another_ones() -> None:
    parameters = "global float *a, local float *t, local float *t2"
    text = ptx_of(f"kernel void k({parameters}) {{ t[0] = a[0]; t2[1] = a[1]; a[2] = t[2] + t2[3]; }}")
    assert re.findall(r"\.param \.(\w+)", text.split("{")[0])[1:] == ["u64", "u64"]


def test_atomics() -> None:
    source = """
kernel void k(volatile global int *a, volatile local uint *l, volatile global long *w) {
    atomic_add(a, 3); atomic_min(&l[0], 4u); atomic_cmpxchg(a + 1, 2, 3); atom_max(w, 9L); atomic_inc(a + 2);
}
"""
    text = ptx_of(f"#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n{source}")
    for operation in ("global.add.u32", "shared.min.u32", "global.cas.b32", "global.max.s64"):
        assert re.search(rf"(?:atom|red)(?:\.\w+)*?\.{re.escape(operation)}", text), operation


@pytest.mark.parametrize("function", ["sin", "cos", "exp", "log", "log2", "exp10", "tan"])
def test_precise_functions_need_a_library(function: str) -> None:
    source = f"kernel void k(global float *a) {{\n  a[0] = {function}(a[1]);\n}}"
    with pytest.raises(RefusalError) as caught:
        ptx_of(source)
    assert caught.value.code == "ptx-unsupported"
    assert caught.value.position == SourcePosition(2, 10)
    assert caught.value.reason == (
        f"{function} has no counterpart in PTX without NVIDIA's libdevice; use native_{function} or build "
        "with -cl-fast-relaxed-math"
    )
    assert ".approx.f32" in ptx_of(source, RELAXED)
    assert ".approx.f32" in ptx_of(source.replace(f"{function}(", f"native_{function}("))


def test_doubles_have_no_approximation() -> None:
    with pytest.raises(RefusalError, match="sin on double has no counterpart in PTX"):
        ptx_of("kernel void k(global double *a) { a[0] = sin(a[1]); }", RELAXED)


@pytest.mark.parametrize(
    ("parameters", "body", "what"),
    [
        ("global int *a", 'printf("%d", a[0]);', "printf"),
        ("global float *a", "a[0] = tgamma(a[1]);", "tgamma"),
        ("global int *a", "a[0] = get_work_dim();", "get_work_dim"),
        (
            "write_only image2d_t a",
            "write_imagef(a, (int2)(0), (float4)(0));",
            "the argument 'a' of type image2d_t",
        ),
        ("sampler_t s", "", "the argument 's' of type sampler_t"),
        ("global float *a", "a[0] = __builtin_sinf(a[1]);", "the intrinsic llvm.sin.f32"),
        ("global double *a", "a[0] = __builtin_exp2(a[1]);", "the intrinsic llvm.exp2.f64"),
    ],
)
def test_refused(parameters: str, body: str, what: str) -> None:
    with pytest.raises(RefusalError) as caught:
        ptx_of(f"kernel void k({parameters}) {{ {body} }}")
    assert caught.value.reason == f"{what} has no counterpart in PTX"


@pytest.mark.parametrize("callee", ["call void %f()", 'call void asm sideeffect "nop", ""()'])
def test_unknown_calls_are_refused(callee: str) -> None:
    assembly = f"define spir_kernel void @k(ptr %f) {{\n  {callee}\n  ret void\n}}"
    with pytest.raises(RefusalError, match="has no counterpart in PTX"):
        ptx_of(assembly)
