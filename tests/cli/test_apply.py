"""`coarsen apply`: what it writes, where, and what it says beside it."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from coarsen.api import coarsen
from coarsen.cli.apply.options import Stage
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.pipeline import STAGES

Run = Callable[..., Any]
SPIRV_MAGIC = b"\x03\x02\x23\x07"


def test_opencl_c_goes_to_standard_output(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--factor", 4)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == coarsen(scale, factor=4).opencl_c


def test_llvm_ir_can_be_read_again(scale: Path, tmp_path: Path, run: Run) -> None:
    once = tmp_path / "once.ll"
    assert run("apply", scale, "--factor", 2, "--emit", "ll", "-o", once).code == 0
    twice = run("apply", once, "--factor", 2, "--dim", 1, "--emit", "ll")
    assert twice.code == 0
    assert "spir_kernel void @scale" in twice.out


def test_spirv_goes_to_a_file(scale: Path, tmp_path: Path, run: Run) -> None:
    output = tmp_path / "scale.spv"
    outcome = run("apply", scale, "--factor", 2, "--emit", "spv", "-o", output)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert output.read_bytes().startswith(SPIRV_MAGIC)


@pytest.mark.parametrize("form", ["cl", "spv"])
def test_the_standard_that_atomics_need_is_told(form: str, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "flags.cl"
    file.write_text(
        "kernel void flags(global atomic_int* flags, global int* out)\n"
        "{\n    out[get_global_id(0)] = atomic_load(&flags[get_global_id(0)]);\n}\n"
    )
    outcome = run("apply", file, "--factor", 2, "--cl-std", "CL2.0", "--emit", form, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert "build it with -cl-std=CL2.0" in outcome.err


def test_spirv_is_kept_from_a_terminal(scale: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    outcome = run("apply", scale, "--factor", 2, "--emit", "spv")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == "binary output does not go to a terminal; name a file with -o"


def test_an_output_file_keeps_its_permissions_and_its_link(scale: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "target.cl"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.cl"
    link.symlink_to(target)
    assert run("apply", scale, "--factor", 2, "-o", link).code == 0
    assert link.is_symlink()
    assert "scale" in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_output_file_has_the_usual_permissions(scale: Path, tmp_path: Path, run: Run) -> None:
    previous = os.umask(0o027)
    try:
        assert run("apply", scale, "--factor", 2, "-o", tmp_path / "new.cl").code == 0
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "new.cl").stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.cl", "scale.cl"]


def test_a_device_file_is_written_to(scale: Path, run: Run) -> None:
    assert run("apply", scale, "--factor", 2, "-o", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_several_dimensions_with_strides(scale: Path, run: Run) -> None:
    words = ("--factor", 2, "--dim", 0, "--stride", 4, "--factor", 3, "--dim", 2, "--stride", 1)
    outcome = run("apply", scale, *words)
    assert outcome.code == 0
    assert outcome.out == coarsen(scale, factor=(2, 3), dim=(0, 2), stride=(4, 1)).opencl_c


def test_build_options_reach_the_front_end(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "with blanks"
    folder.mkdir()
    (folder / "amount.h").write_text("#define AMOUNT (BASE + 1)\n")
    kernel = tmp_path / "add.cl"
    kernel.write_text(
        '#include "amount.h"\nkernel void add(global TYPE *values) { values[get_global_id(0)] += AMOUNT; }\n'
    )
    options = ("-D", "TYPE=unsigned int", "-D", "BASE=40", "-I", folder, "--cl-std", "CL2.0")
    outcome = run("apply", kernel, "--factor", 2, "--emit", "ll", *options, "--build-option", "-cl-mad-enable")
    assert (outcome.code, outcome.err) == (0, "")
    assert "add i32" in outcome.out and ", 41" in outcome.out


def test_a_standard_that_the_source_needs_is_noted(tmp_path: Path, run: Run) -> None:
    kernel = tmp_path / "either.cl"
    kernel.write_text(
        """kernel void either(global int *out, local int *tile, int which) {
            int *from = which ? (int *)out : (int *)tile;
            out[get_global_id(0)] = from[get_global_id(0)];
        }"""
    )
    outcome = run("apply", kernel, "--factor", 2, "--cl-std", "CL2.0", "-o", tmp_path / "coarsened.cl")
    assert (outcome.code, outcome.err) == (0, "coarsen: note: build it with -cl-std=CL2.0\n")
    assert run("apply", kernel, "--factor", 2, "--cl-std", "CL2.0", "--emit", "ll").err == ""


def test_assumptions_are_noted(halves: Path, run: Run) -> None:
    outcome = run("apply", halves, "--factor", 2)
    assert outcome.code == 0
    assert outcome.err == (
        f"coarsen: note: {halves}:5:22: a barrier depends on this condition: taken as the same for "
        "the whole work-group\n"
    )
    assert run("apply", halves, "--factor", 2, "-q").err == ""


def test_the_factor_is_predicted_for_a_device(scale: Path, run: Run) -> None:
    sgemm = SUITE["sgemm"].kernel_file
    predicted = run("predict", sgemm, "--device", "pocl", "--dim", "1", "--no-measure", "-f", "json")
    factor = json.loads(predicted.out)["factor"]
    assert factor > 1
    outcome = run("apply", sgemm, "--device", "PoCL", "--dim", "1")
    assert (outcome.code, outcome.out) == (0, coarsen(sgemm, factor=factor, dim=1, device_kind="cpu").opencl_c)
    assert outcome.err == (
        f"coarsen: note: predicted factor {factor} along dimension 1 for PoCL, by the launch model; "
        "`coarsen predict` answers with a whole launch\n"
    )
    # A device of the publication is answered by its cascade, here as by `coarsen predict`.
    predicted = run("predict", scale, "--device", "tahiti", "-f", "json")
    factor = json.loads(predicted.out)["factor"]
    outcome = run("apply", scale, "--device", "tahiti")
    assert outcome.err == (
        f"coarsen: note: predicted factor {factor} along dimension 0 for tahiti, by its cascade\n"
    )


def test_what_runs_alone_reads_like_the_source(run: Run) -> None:
    """Names that clang made up have no place in the slow path either: `values[index]`, not `i8_alone`."""
    text = run("apply", SUITE["spmv"].kernel_file, "--factor", 4).out
    alone = {name.removesuffix("_2") for name in re.findall(r"\w+_alone\w*", text)}
    assert alone == {"diagonal_alone", "index_alone", "length_alone", "row_alone", "sum_alone"}


def test_prediction_takes_one_dimension(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--device", "tahiti", "--dim", 0, "--dim", 1)
    assert (outcome.code, outcome.error) == (2, "a factor is predicted along one dimension; give --dim once")


def test_stages_are_shown_on_standard_error(scale: Path, run: Run) -> None:
    plain = run("apply", scale, "--factor", 2)
    outcome = run("apply", scale, "--factor", 2, "--print-after", "lower", "--print-after", "normalise")
    assert outcome.out == plain.out
    assert [line for line in outcome.err.splitlines() if line.startswith("; after")] == [
        "; after lower",
        "; after normalise",
    ]
    assert outcome.err.count("define ") == 2


def test_only_stages_of_the_pipeline_can_be_shown() -> None:
    assert {*Stage} <= set(STAGES)


def test_the_time_of_each_stage(scale: Path, run: Run) -> None:
    outcome = run("apply", scale, "--factor", 2, "--distinct", "--wide-accesses", "--long-indices", "-v")
    # It has no loop to tile.
    stages = [stage for stage in STAGES if stage != "tile"]
    assert [line.split()[0] for line in outcome.err.splitlines()] == [*stages, "total"]
    assert all(line.endswith(" ms") for line in outcome.err.splitlines())


def test_bitcode_is_read(scale: Path, tmp_path: Path, run: Run) -> None:
    assembly = coarsen(scale, factor=1).llvm_ir
    bitcode = tmp_path / "scale.bc"
    bitcode.write_bytes(llvm.parse_assembly(assembly, llvm.create_context()).as_bitcode())
    outcome = run("apply", bitcode, "--factor", 2, "--emit", "ll")
    assert outcome.code == 0
    assert "spir_kernel void @scale" in outcome.out


def test_a_definition_chooses_the_value_of_a_declared_parameter(tmp_path: Path, run: Run) -> None:
    """As `coarsen results show` names versions; a plain `#define` of the source would win over `-D`."""
    path = tmp_path / "scale.cl"
    path.write_text(
        """\
#define rows 5
#define columns 6
#pragma coarsen select IMPL rows,columns
#define IMPL rows
#pragma coarsen values 3,4
#define TIMES 3
kernel void scale(global int *x)
{
#if IMPL == columns
    x[get_global_id(0)] *= 10 * TIMES;
#else
    x[get_global_id(0)] *= 100 * TIMES;
#endif
}
"""
    )
    products = {
        (): "300",
        ("-D", "IMPL=5"): "300",
        ("-D", "IMPL=6"): "30",
        ("-D", "IMPL=6", "-D", "TIMES=4"): "40",
    }
    for options, product in products.items():
        result = run("apply", str(path), "--factor", "2", *options)
        assert re.search(rf"\b{product}\b", result.out), (options, result.out, result.err)


def test_words_that_nothing_defines_are_refused_with_the_line(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "scale.cl"
    path.write_text(
        """\
#pragma coarsen select IMPL rows,columns
kernel void scale(global int *x)
{
#if IMPL == columns
    x[0] = 1;
#endif
}
"""
    )
    result = run("apply", str(path), "--factor", "2", "-D", "IMPL=0")
    assert result.code == 2 and result.error.startswith(f"{path}:1: 'rows' is defined nowhere in the source")


@pytest.mark.parametrize(
    ("words", "is_warned"),
    [((), True), (("--device-kind", "cpu"), False), (("--lock-step", "never"), False), (("--emit", "ptx"), False)],
)
def test_short_loops_in_lock_step_are_told(
    words: tuple[str, ...], is_warned: bool, tmp_path: Path, run: Run
) -> None:
    file = tmp_path / "twice.cl"
    file.write_text(
        "kernel void twice(global const uint *data, global uint *out)\n{\n"
        "    uint id = get_global_id(0), p = 1;\n"
        "    for (uint i = 0; i < data[id] % 7u; i++)\n        p = 2 * i;\n    out[id] = p;\n}\n"
    )
    outcome = run("apply", file, "--factor", 2, *words)
    assert outcome.code == 0
    assert ("twice.cl:4:" in outcome.err) == is_warned
    assert ("Intel's CPU compiler gets some of these wrong" in outcome.err) == is_warned
