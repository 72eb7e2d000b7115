"""`coarsen apply --explain`: the marks of each line, as text and on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.api import coarsen, explain
from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.remarks.explanation import Explanation, explain_kernel
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Level

Run = Callable[..., Any]
Golden = Callable[[str, str], None]


def explained(source: str, dimension: int = 0, kernel: str | None = None) -> Explanation:
    return explain_kernel(analyse(lower(source, kernel), dimension), source)


def gutters(explanation: Explanation) -> list[str]:
    return [line.marks.gutter for line in explanation.lines]


@pytest.mark.parametrize(("name", "dimension"), [("reduce", 0), ("blackscholes", 0), ("sgemm", 1)])
def test_benchmarks(name: str, dimension: int, run: Run, golden: Golden) -> None:
    outcome = run("apply", SUITE[name].kernel_file, "--explain", "--dim", dimension)
    assert (outcome.code, outcome.err) == (0, "")
    golden(outcome.out, f"explain_{name}_{dimension}.txt")


def test_each_mark() -> None:
    source = """\
int twice(int number)
{
    return 2 * number;
}

kernel void marks(global int *values, local int *tile, int count)
{
    int item = get_local_id(0);
    int group = get_group_id(0) + count;
    tile[item] = twice(item);
    if (tile[item] > 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < group)
        values[item] = 1;
    while (item < tile[item])
        item += group;
    values[group] = item;
}
"""
    marks = gutters(explained(source))
    assert marks == [
        *("", "", "D", "", "", "", ""),
        *("D", ".", "D", "DU", "B", "."),
        *("D  >1", "D  1", "D  >2", "D  2", "D", "."),
    ]


def test_a_place_in_the_group_is_the_same_for_merged_groups(run: Run, tmp_path: Path) -> None:
    source = "kernel void part(global int *values)\n{\n    if (get_local_id(0) < 4)\n        values[0] = 1;\n}\n"
    assert gutters(explained(source)) == ["", "", "D  >1", ".  1", "."]
    assert gutters(explain_kernel(analyse(lower(source), 0, Level.GROUP), source)) == ["", "", ".", ".", "."]
    kernel = tmp_path / "part.cl"
    kernel.write_text(source)
    heading = run("apply", kernel, "--explain", "--level", "group").out.splitlines()[0]
    assert heading == "kernel part, work-groups coarsened along dimension 0: no divergent region"


def test_the_other_dimension_is_uniform() -> None:
    source = "kernel void row(global int *values)\n{\n    values[get_global_id(0)] = 1;\n}\n"
    assert gutters(explained(source, 0)) == ["", "", "D", "."]
    assert gutters(explained(source, 1)) == ["", "", ".", "."]


def test_a_helper_with_its_regions_is_marked_where_it_stands() -> None:
    source = """\
void store(global int *values, int item)
{
    if (item > 3)
        values[item] = item;
}

kernel void calls(global int *values)
{
    store(values, get_global_id(0));
    store(values, 2 * get_global_id(0));
}
"""
    explanation = explained(source)
    assert explanation.regions == 2
    assert gutters(explanation)[2:4] == ["D  >1,>2", "D  1,2"]


def test_included_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "store.h").write_text("void store(global int *values, int item)\n{\n    values[item] = item;\n}\n")
    source = '#include "store.h"\nkernel void calls(global int *values) { store(values, get_local_id(0)); }\n'
    explanation = explain_kernel(analyse(lower(source, None, ["-I", str(tmp_path)]), 0), source)
    assert [(Path(line.file).name, line.number, line.marks.gutter) for line in explanation.elsewhere] == [
        ("store.h", 3, "D")
    ]
    assert "store.h:3: D" in str(explanation)


def test_ir_is_marked_where_there_is_no_source(scale: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "scale.ll"
    file.write_text(coarsen(scale, factor=1).llvm_ir)
    outcome = run("apply", file, "--explain")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "kernel scale, coarsened along dimension 0: 1 divergent region"
    assert any("| define " in line and "@scale" in line for line in lines)
    marked = {line.split("|")[1].strip(): line.split("|")[0].split()[1:] for line in lines if "|" in line}
    assert next(marks for text, marks in marked.items() if text.startswith("store ")) == ["D", "1"]
    assert next(marks for text, marks in marked.items() if text.startswith("br i1")) == ["D", ">1"]
    assert marked["ret void"] == ["."]


def test_ir_and_source_agree_on_regions(scale: Path) -> None:
    analysed = analyse(lower(scale), 0)
    assert explain_kernel(analysed, None).regions == explain_kernel(analysed, scale.read_text()).regions == 1


def test_a_terminal_gets_colours(scale: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run("apply", scale, "--explain").out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = run("apply", scale, "--explain").out
    assert "\x1b[1;31m" in coloured
    assert "values[item] *= factor;" in coloured
    assert len(coloured.splitlines()) == len(plain.splitlines())


def test_each_dimension_is_explained(scale: Path, tmp_path: Path, run: Run) -> None:
    output = tmp_path / "explained.txt"
    outcome = run("apply", scale, "--explain", "--dim", 0, "--dim", 1, "-o", output)
    assert (outcome.code, outcome.out) == (0, "")
    headings = [line for line in output.read_text().splitlines() if line.startswith("kernel scale,")]
    assert headings == [
        "kernel scale, coarsened along dimension 0: 1 divergent region",
        "kernel scale, coarsened along dimension 1: no divergent region",
    ]


PRODUCT = """\
kernel void product(global const float *a, global const float *b, global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[y * n + k] * b[k * n + x] * c[x & 7];
    c[y * n + x] = sum;
}
"""


def test_what_tiles_would_save_is_explained(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "product.cl"
    file.write_text(PRODUCT)
    outcome = run("apply", file, "--explain", "--local-size", "16x16")
    assert outcome.code == 0
    heading, *lines = outcome.out.rpartition("\nTiles")[2].splitlines()
    assert heading == " of 16 trips (--tile 16), in work-groups of 16×16×1:"
    copied = "256 elements (1024 bytes), read 16 times each by a work-group: 15360 bytes are saved"
    assert lines == [
        f"  a is copied in the loop at 5:1: {copied}",
        f"  b is copied in the loop at 5:1: {copied}",
        "  c is read from global memory in the loop at 5:1: c is written here; only an array that the kernel only "
        "reads can be copied or placed",
    ]
    merged = run("apply", file, "--explain", "--local-size", "16x16", "--factor", 2, "--tile", 8).out
    assert "Tiles of 8 trips (--tile 8), in work-groups of 16×16×1 before coarsening:" in merged
    assert "read 8 times each by a work-group" in merged


def test_tiles_are_those_of_the_kind_of_device_and_of_the_size_that_is_demanded(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "rows.cl"
    file.write_text(PRODUCT.replace("b[k * n + x]", "b[x * n + k]"))
    asked = ("apply", file, "--explain", "--local-size", "16x16")
    assert "rows padded by 1" in run(*asked).out
    assert "padded" not in run(*asked, "--device-kind", "cpu").out
    assert "give --local-size to see what they would save" in run(*asked[:3], "--device-kind", "gpu").out
    outcome = run(*asked[:4], "16x3", "--factor", 2, "--dim", 1)
    assert outcome.code == 2 and "a local size of 3 along dimension 1 can't be divided" in outcome.err
    file.write_text(PRODUCT.replace("kernel void", "kernel __attribute__((reqd_work_group_size(8, 8, 1))) void"))
    assert "in work-groups of 8×8×1:" in run(*asked).out


def test_why_there_is_no_tile_is_explained(scale: Path, run: Run) -> None:
    asked = ("apply", scale, "--explain", "--device-kind", "gpu")
    assert "Tiles" not in run(*asked).out
    told = run(*asked, "--local-size", "64").out
    assert "  none: no loop counts by a number up to a bound that stays the same" in told


def test_from_python_it_is_what_the_command_prints(run: Run) -> None:
    path = SUITE["sgemm"].kernel_file
    printed = run("apply", path, "--explain", "--dim", 1).out
    assert str(explain(path, dim=1)) == str(explain(path.read_text(), dim=1)) == printed


def test_from_python_llvm_ir_has_its_own_lines_marked() -> None:
    assembly = coarsen(SUITE["mt"].kernel_file).llvm_ir
    assert any("define" in line.text for line in explain(assembly).lines)


@pytest.mark.parametrize("wrong", [{"dim": 3}, {"dim": [0, 1]}, {"level": "wave"}])
def test_from_python_bad_input_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        explain(SUITE["mt"].kernel_file, **wrong)


def test_with_a_factor_lines_are_marked_with_what_came_of_them(run: Run) -> None:
    kernel = SUITE["spmv"].kernel_file
    plain = run("apply", kernel, "--explain")
    outcome = run("apply", kernel, "--explain", "--factor", 4, "--any-size")
    assert (outcome.code, outcome.err) == (0, "")
    assert not any(mark in plain.out for mark in ("×", "coarsened, "))
    marks = {
        line.partition("|")[2].strip(): line.partition("|")[0].split()[1:] for line in outcome.out.splitlines()
    }
    assert marks["int row = get_global_id(0);"] == ["D", "i"]
    # The guard of any size has taken the condition in: the vote is the guard's.
    assert marks["if (row < row_count) {"] == ["D", ">1", "×4", "l"]
    assert marks["float sum = 0.0f;"] == []
    assert marks["result[row_permutation[row]] = sum;"] == ["D", "1", "×4", "s"]
    assert "coarsened, of no line: what keeps work-items out that the original launch did not have" in outcome.out
    assert "  v   coarsened, a vote whether all replicas go the same way" in outcome.out.splitlines()


def test_what_memory_accesses_cost_on_a_gpu_is_said_for_gpus(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "k.cl"
    file.write_text("kernel void k(global float *o, int n) { o[get_global_id(0) * n] = 3; }")
    for options in ([], ["--device-kind", "cpu"], ["--device-kind", "any"]):
        assert "Memory:" not in run("apply", str(file), "--explain", *options).out
    assert "Memory: 32 lanes" in run("apply", str(file), "--explain", "--device-kind", "gpu").out
    assert explain(file).memory == ()
    assert explain(file, device_kind="gpu").memory
