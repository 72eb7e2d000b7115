"""The macros that a source asks for its device's version and extensions."""

from __future__ import annotations

import re

import pytest

from coarsen.api import coarsen
from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import find_clang
from coarsen.frontend.compile import Source, compilations
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros, common_macros, device_macros
from coarsen.frontend.options import BuildOptions, parse_options

STANDARDS = ("-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0")


def compiled(source: Source, options: BuildOptions, macros: DeviceMacros = PORTABLE) -> str:
    """The LLVM IR text of a source, with the fewest further extensions."""
    return next(compilations(source, options, macros))


def number(expression: str, options: str = "", macros: DeviceMacros = PORTABLE) -> int:
    """What an expression of macros comes to in a kernel."""
    code = compiled(
        Source(f"kernel void k(global int *p) {{ *p = {expression}; }}"), parse_options(options), macros
    )
    found = re.search(r"store i32 (\d+),", code)
    assert found
    return int(found[1])


def is_defined(macro: str, options: str = "", macros: DeviceMacros = PORTABLE) -> bool:
    """Whether a kernel finds a macro defined."""
    code = compiled(
        Source(
            f"kernel void k(global int *p) {{\n#ifdef {macro}\n*p = 1;\n#else\n*p = 2;\n#endif\n}}"
        ), parse_options(options), macros
    )  # fmt: skip
    return "store i32 1," in code


@pytest.mark.parametrize(
    ("standard", "version"), [("-cl-std=CL1.2", 120), ("-cl-std=CL2.0", 200), ("-cl-std=CL3.0", 300)]
)
def test_the_version_is_the_standards_where_no_device_is_named(standard: str, version: int) -> None:
    assert number("__OPENCL_VERSION__", standard) == version
    assert number("__OPENCL_C_VERSION__", standard) == version


def test_the_version_of_a_device_is_its_own() -> None:
    macros = device_macros("cl_khr_fp64", "OpenCL 2.1 LINUX")
    assert number("__OPENCL_VERSION__", macros=macros) == 210
    assert number("__OPENCL_C_VERSION__", macros=macros) == 120


def test_a_definition_of_the_users_stays() -> None:
    assert number("__OPENCL_VERSION__", "-D__OPENCL_VERSION__=110 -Werror") == 110
    assert is_defined("cl_khr_fp16", "-D cl_khr_fp16")


@pytest.mark.parametrize(
    "macro", ["cl_amd_media_ops", "cl_intel_subgroups", "cl_khr_fp16", "cl_khr_int64_base_atomics"]
)
@pytest.mark.parametrize("standard", STANDARDS)
def test_what_few_devices_have_is_not_portable(macro: str, standard: str) -> None:
    assert not is_defined(macro, standard)


@pytest.mark.parametrize("macro", ["cl_khr_fp64", "cl_khr_global_int32_base_atomics"])
def test_what_nearly_all_devices_have_is_portable(macro: str) -> None:
    assert is_defined(macro)


@pytest.mark.parametrize("standard", STANDARDS)
def test_a_device_has_what_it_reports_and_clang_knows(standard: str) -> None:
    macros = device_macros("cl_khr_fp16 cl_khr_int64_base_atomics cl_nv_fancy", "OpenCL 3.0")
    assert is_defined("cl_khr_fp16", standard, macros)
    assert is_defined("cl_khr_int64_base_atomics", standard, macros)
    assert not is_defined("cl_nv_fancy", standard, macros)
    assert not is_defined("cl_khr_fp64", standard, macros)


@pytest.mark.parametrize("standard", STANDARDS)
def test_literals_are_single_precision_where_the_device_has_no_double_one(standard: str) -> None:
    source = Source("kernel void k(global float *p) { p[0] *= 0.1; }")
    single = compiled(source, parse_options(standard), device_macros("cl_khr_fp16", "OpenCL 1.2"))
    assert "fmul float" in single and "double" not in single.partition("!")[0]
    assert "fmul double" in compiled(source, parse_options(standard))


def test_functions_that_clang_does_not_declare_are_not_promised() -> None:
    assert not is_defined("cl_intel_subgroups", macros=device_macros("cl_intel_subgroups", "OpenCL 3.0"))


@pytest.mark.parametrize("standard", STANDARDS)
def test_every_extension_that_clang_defines_is_known(standard: str) -> None:
    clang = find_clang()
    options = ["-x", "cl", "-target", "spir64-unknown-unknown", standard, *clang.header_options, "-E", "-dM", "-"]
    nothing = DeviceMacros(frozenset())
    printed = clang.run(options, nothing.prologue(standard)).stdout
    assert [line for line in printed.splitlines() if re.match(r"#define (__)?cl_", line)] == []


@pytest.mark.parametrize(
    "line",
    [
        "\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nglobal half *h = (global half *)p; h[0] = sin(h[1]);",
        "atom_add((global long *)p, 3L);",
        "p[0] = amd_bitalign(p[1], p[2], p[3]);",
        "\n#ifndef cl_khr_int64_base_atomics\n#error no atomics of 64 bits\n#endif\n",
    ],
)
def test_a_source_that_demands_an_extension_gets_it(line: str) -> None:
    code = f"kernel void k(global uint *p) {{ {line} }}"
    assert "define" in compiled(Source(code), BuildOptions())


def test_the_first_errors_are_told_where_no_extension_helps() -> None:
    code = "kernel void k(global int *p) {\n#ifdef cl_khr_fp16\nmissing_half();\n#endif\nmissing(); }"
    with pytest.raises(InvalidInputError, match=r"^<source>:5:1: error: use of undeclared identifier 'missing'\n"):
        compiled(Source(code), BuildOptions())


def test_devices_of_a_context_have_what_all_have() -> None:
    one, other = (device_macros(f"cl_khr_fp64 {each}", f"OpenCL {each[-1]}.0") for each in ("a_1", "b_3"))
    assert common_macros([one, other]) == DeviceMacros(frozenset({"cl_khr_fp64"}), 100)
    assert common_macros([one]) == one
    assert common_macros([]) == PORTABLE


def test_the_branch_that_every_device_can_run_is_coarsened() -> None:
    source = """
#ifdef cl_amd_media_ops
#define TURNED(x) amd_bitalign((x), (x), 27u)
#else
#define TURNED(x) rotate((x), 5u)
#endif
kernel void turn(global uint *p) { p[get_global_id(0)] = TURNED(p[get_global_id(0)]); }
"""
    assert "rotate(" in coarsen(source).opencl_c
    assert "amd_bitalign(" in coarsen(source, macros=device_macros("cl_amd_media_ops", "OpenCL 2.0")).opencl_c
