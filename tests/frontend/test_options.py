"""Build options in every form that PyOpenCL takes, and that they reach clang."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.frontend.options import parse_options
from coarsen.ir.graph.printer import instruction_text

STORES_VALUE = "kernel void store(global int *out) { out[0] = VALUE; }"


@pytest.mark.parametrize(
    "options",
    [
        "-D VALUE=7",
        "-DVALUE=7",
        "-w -D VALUE=7 -cl-mad-enable",
        '-D "VALUE=7"',
        "-D VALUE='7'",
        ["-D", "VALUE=7"],
        ["-D VALUE=7"],
        ["-DVALUE=7"],
        ["-D VALUE=7 -w", "-cl-mad-enable"],
        [b"-DVALUE=7"],
        ("-DVALUE=8", "-U", "VALUE", "-DVALUE=7"),
    ],
)
def test_definition_reaches_clang(options: str | list[str]) -> None:
    kernel = lower(STORES_VALUE, options=options)
    assert any(instruction_text(i).startswith("store i32 7,") for i in kernel.instructions())


def test_definition_without_value_is_one() -> None:
    kernel = lower(STORES_VALUE, options="-D VALUE")
    assert any(instruction_text(i).startswith("store i32 1,") for i in kernel.instructions())


def test_definition_with_blanks_stays_one_word() -> None:
    assert parse_options('-D "SUM=a + b"').clang_options == ("-DSUM=a + b",)


@pytest.mark.parametrize("split", [True, False])
def test_include_folder_with_blanks(tmp_path: Path, split: bool) -> None:
    folder = tmp_path / "my headers"
    folder.mkdir()
    (folder / "value.h").write_text("#define VALUE 9\n")
    options = ["-I", str(folder)] if split else [f"-I{folder}"]
    kernel = lower(f'#include "value.h"\n{STORES_VALUE}', options=options)
    assert any(instruction_text(i).startswith("store i32 9,") for i in kernel.instructions())


def test_include_beside_the_source(tmp_path: Path) -> None:
    (tmp_path / "value.h").write_text("#define VALUE 11\n")
    source = tmp_path / "store.cl"
    source.write_text(f'#include "value.h"\n{STORES_VALUE}')
    assert any(instruction_text(i).startswith("store i32 11,") for i in lower(source).instructions())


@pytest.mark.parametrize("version", ["CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"])
def test_standard_defines_the_version(version: str) -> None:
    source = "kernel void store(global int *out) { out[0] = __OPENCL_C_VERSION__; }"
    number = version.removeprefix("CL").replace(".", "") + "0"
    stores = [
        instruction_text(i)
        for i in lower(source, options=f"-cl-std={version}").instructions()
        if i.opcode == "store"
    ]
    assert stores[0].startswith(f"store i32 {number},")


def test_standard_is_1_2_unless_chosen() -> None:
    assert parse_options().standard == "-cl-std=CL1.2"


def test_options_are_sorted_by_who_needs_them() -> None:
    parsed = parse_options(
        "-DN=4 -cl-fast-relaxed-math -cl-nv-maxrregcount=32 -cl-std=CL2.0 -g -cl-kernel-arg-info"
    )
    assert parsed.standard == "-cl-std=CL2.0"
    assert parsed.clang_options == ("-DN=4", "-cl-fast-relaxed-math")
    assert parsed.device_options == ("-cl-fast-relaxed-math", "-cl-nv-maxrregcount=32")


def test_single_precision_constants_are_the_front_ends_alone() -> None:
    assert parse_options("-cl-single-precision-constant").device_options == ()


def test_relaxed_math_marks_operations() -> None:
    source = "kernel void scale(global float *x) { x[0] = x[0] * 2.5f; }"
    (product,) = [i for i in lower(source, options="-cl-fast-relaxed-math").instructions() if i.opcode == "fmul"]
    assert {"nnan", "ninf", "afn"} <= {*product.flags} or "fast" in product.flags


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("--loud", "'--loud'"),
        ("-cl-std=", "'-cl-std='"),
        ("-x cuda", "'-x'"),
        ("-o elsewhere", "'-o'"),
        ("-target x86_64", "'-target'"),
        ("N=4", "'N=4'"),
        ("-D", "-D has no value"),
        (["-I"], "-I has no value"),
        ('-D "N=4', "No closing quotation"),
    ],
)
def test_unknown_or_incomplete_option(options: str | list[str], part: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_options(options)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_standard_that_clang_does_not_know() -> None:
    with pytest.raises(InvalidInputError, match=r"invalid value 'CL9\.9'"):
        lower(STORES_VALUE, options="-cl-std=CL9.9 -DVALUE=1")
