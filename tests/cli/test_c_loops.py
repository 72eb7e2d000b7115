"""C files on the command line: written as kernels, described, and asked about as kernels are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from tests.cli.conftest import Run, written
from tests.loops.test_host_header import NORM

FOLDER = Path(__file__).parents[2] / "opencl_bench" / "kernels" / "loops"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tune-c-loops.md"
SCALES = """
void half(int n, const float *restrict a, float *restrict b)
{
    for (int i = 0; i < n; i++)
        b[i] = a[i] / 2;
}

void twice(int n, const float *restrict a, float *restrict b)
{
    for (int i = 0; i < n; i++)
        b[i] = TIMES * a[i];
}
"""
TOTAL = """
void total(int n, const float *a, float *s)
{
    for (int i = 0; i < n; i++)
        *s += a[i];
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, in which a user stands."""
    monkeypatch.chdir(tmp_path)
    for path in FOLDER.glob("*.c"):
        written(tmp_path, path.name, path.read_text())
    return tmp_path


def test_the_page_shows_what_is_written(folder: Path, run: Run) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert (folder / "mm.c").read_text().partition("\n")[2].strip() in page
    outcome = run("apply", "mm.c")
    assert outcome.code == 0 and outcome.out.strip() in page
    launches = [line for line in run("apply", "fdtd_2d.c").out.splitlines() if line.startswith("//   ")]
    assert "\n".join(launches) in page


def test_kernels_of_a_c_file_are_coarsened(folder: Path, run: Run) -> None:
    outcome = run("apply", "mm.c", "--factor", 4, "--dim", 1, "-o", "mm_4.cl")
    assert outcome.code == 0
    assert "4 work-items merged along dimension 1" in (folder / "mm_4.cl").read_text()
    for words in (("--report", "--factor", 2), ("--features",), ("--explain",)):
        assert (
            run("apply", "fdtd_2d.c", *words, *(("-k", "fdtd_2d_3") if words[0] != "--explain" else ())).code == 0
        )
    assert run("apply", "fdtd_2d.c", "--factor", 2, "-o", "f.cl").code == 0
    assert {path.name for path in folder.glob("f.*.cl")} == {f"f.fdtd_2d_{number}.cl" for number in range(4)}


def test_predictions_of_kernels_of_a_c_file(folder: Path, run: Run) -> None:
    outcome = run("predict", "mm.c", "-d", "tahiti")
    assert outcome.code == 0 and outcome.out.startswith("kernel mm on tahiti")
    both = run("predict", "jacobi_2d.c", "-d", "tahiti").out
    assert "kernel jacobi_2d_0" in both and "kernel jacobi_2d_1" in both


def test_one_of_several_functions_is_named(folder: Path, run: Run) -> None:
    written(folder, "scales.c", SCALES)
    several = run("apply", "scales.c", "-D", "TIMES=2")
    assert several.code == 2
    assert several.error == "scales.c has several functions with loops: name one with --kernel: half, twice"
    assert "kernel void twice(" in run("apply", "scales.c", "-D", "TIMES=2", "-k", "twice").out
    missing = run("apply", "scales.c", "-D", "TIMES=2", "-k", "thrice")
    assert (missing.code, missing.error) == (2, "scales.c defines no function 'thrice' (did you mean twice?)")


def test_a_name_is_a_function_before_it_is_a_kernel(folder: Path, run: Run) -> None:
    scale = "void {0}(int n, float *a) {{ for (int i = 0; i < n; i++) a[i] *= {1}; }}\n"
    written(folder, "two.c", scale.format("f", 3) + scale.format("f_2", 5))
    assert "a[i] *= 5" in run("apply", "two.c", "-k", "f_2").out


def test_folders_of_headers_are_as_the_description_names_them(folder: Path, run: Run) -> None:
    (folder / "include").mkdir()
    (folder / "made").mkdir()
    written(folder / "include", "times.h", "#define TIMES 3\n")
    written(folder, "scales.c", f'#include "times.h"\n{SCALES}')
    described = run("describe", "scales.c", "-k", "twice", "-I", "include", "-o", "made/twice.toml")
    assert described.code == 0
    assert tomllib.loads((folder / "made" / "twice.toml").read_text())["c_options"] == ["-I../include"]
    assert find_benchmark(folder / "made" / "twice.toml").kernel == "twice"
    refused = run("describe", "scales.c", "-k", "half", "-I", "include", "--cl-std", "CL2.0")
    assert refused.code == 2 and refused.error.startswith(
        "--cl-std and --build-option are for kernels of OpenCL C"
    )


def test_what_the_function_is_given_is_checked(folder: Path, run: Run) -> None:
    assert run("describe", "mm.c").code == 0
    path = folder / "mm.toml"
    text = path.read_text()
    path.write_text(text.replace('shape = ["n", "m"]', 'shape = ["n", "m - 1"]'))
    with pytest.raises(InvalidInputError, match="c has 2450 elements, and the C function accesses 2500"):
        find_benchmark(path).workload("test")
    path.write_text(text.replace('value = "l"', "value = 7"))
    workload = find_benchmark(path).workload("test")
    assert np.isfinite(workload.expected()["c"]).all()


def test_what_has_no_parallel_loop_is_refused(folder: Path, run: Run) -> None:
    written(folder, "sum.c", TOTAL)
    outcome = run("apply", "sum.c")
    assert outcome.code == 3 and outcome.error.endswith("[no-parallel-loop]")
    assert run("apply", "sum.c", "--factor", 2).code == 3


@pytest.mark.parametrize("name", ["mm", "fdtd_2d", "doitgen"])
def test_descriptions(folder: Path, run: Run, name: str) -> None:
    assert run("describe", f"{name}.c").code == 0
    paths = sorted(folder.glob(f"{name}*.toml"))
    for path in paths:
        check_kernel_of(path)
    again = run("describe", f"{name}.c")
    assert again.code == 2 and "is there already; --force overwrites it" in again.error
    benchmark = find_benchmark(paths[-1])
    workload = benchmark.workload("test")
    expected = workload.expected()
    assert expected.keys() == {*workload.outputs}
    # The function computes something, on copies.
    assert any(not np.array_equal(expected[each], workload.buffers[each]) for each in workload.outputs)


def test_descriptions_of_a_sum_over_everything(folder: Path, run: Run) -> None:
    written(folder, "norm.c", NORM)
    assert run("describe", "norm.c").code == 0
    paths = sorted(folder.glob("norm*.toml"))
    found = [find_benchmark(path) for path in paths]
    assert [(each.kernel, {*each.tunables}) for each in found] == [
        (f"norm_{number}", {f"SPLIT_{number}", f"GROUP_SIZE_{number}"}) for number in range(2)
    ]
    for path in paths:
        check_kernel_of(path)
    # Each kernel had the same macros once.
    paths[1].write_text(re.sub(r"(SPLIT|GROUP_SIZE)_1", r"\1", paths[1].read_text()))
    with pytest.raises(InvalidInputError, match=r"parameters: SPLIT is for no kernel .* describe --force"):
        find_benchmark(paths[1])
    head = run("apply", "norm.c").out.split("#ifndef")[0]
    assert "within SPLIT_0, SPLIT_1 or 8192 of" in head and "but of SPLIT_0, SPLIT_1 there are as many:" in head


def test_a_description_of_one_kernel_and_macros(folder: Path, run: Run) -> None:
    written(folder, "scales.c", SCALES)
    assert run("describe", "scales.c", "-k", "twice", "-D", "TIMES=3", "-o", "twice.toml").code == 0
    described = tomllib.loads((folder / "twice.toml").read_text())
    assert (described["file"], described["function"], described["c_options"]) == (
        "scales.c",
        "twice",
        ["-DTIMES=3"],
    )
    workload = find_benchmark(folder / "twice.toml").workload("test")
    np.testing.assert_array_equal(workload.expected()["b"], 3 * workload.buffers["a"])


def test_lanes_of_a_sum_are_a_parameter(folder: Path, run: Run) -> None:
    assert run("describe", "mv.c").code == 0
    benchmark = find_benchmark(folder / "mv.toml")
    assert benchmark.tunables == {"SPLIT": ("1", "8", "32", "64", "256"), "GROUP_SIZE": ("64", "256")}
    eight = (("GROUP_SIZE", "64"), ("SPLIT", "8"))
    assert benchmark.local_size_of is not None and benchmark.local_size_of(eight) == (8, 8)
    (launch,) = benchmark.launches("test", (8, 8), eight)
    assert (launch.global_size, launch.local_size) == ((8, 104), (8, 8))
    asked = run("apply", "mv.c", "--define", "SPLIT=64", "--factor", 2, "--dim", 1, "--level", "group")
    assert asked.code == 0 and "reqd_work_group_size(64, 1, 1)" in asked.out
    for word, message in (("SPLIT=x", "SPLIT is a number of work-items, not 'x'"), ("GROUP_SIZE=9", "")):
        refused = run("apply", "mv.c", "-D", word, "-D", "SPLIT=2" if not message else "n_=1")
        assert refused.code == 2 and refused.error == (message or "GROUP_SIZE must be a multiple of SPLIT: 9, 2")


def test_keys_for_c_files_are_for_c_files(folder: Path, run: Run) -> None:
    kernel = "kernel void k(global float *a) { a[get_global_id(0)] = 1; }"
    written(folder, "k.cl", kernel)
    assert run("describe", "k.cl").code == 0
    path = folder / "k.toml"
    path.write_text(path.read_text().replace('file = "k.cl"', 'file = "k.cl"\nfunction = "k"'))
    outcome = run("tune", "k.toml")
    assert outcome.code == 2 and "function: it is for C files, and k.cl is none" in outcome.error
