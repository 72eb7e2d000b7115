"""`coarsen apply --report`: what was done to each region, as a table and as JSON; refusals as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.api import coarsen
from coarsen.cli.apply.request import Request
from coarsen.frontend.clang import Clang
from coarsen.opencl_bench.workloads.lookup import SUITE
from coarsen.transform.replicate import Replicator
from tests.cli.conftest import Run, written

Golden = Callable[[str, str], None]

# A guard around a loop that each work-item leaves when it likes, and a region that depends on data alone.
REGIONS = """\
kernel void regions(global float *values, global const int *lengths, int count, float factor)
{
    int item = get_global_id(0);
    if (item < count) {
        float sum = 0;
        for (int i = 0; i < lengths[item]; ++i)
            sum += values[i] * factor;
        values[item] = sum;
    }
    if (lengths[item] > 3)
        values[item] += 1;
}
"""
SUBGROUPS = """\
// Its sub-group's number.
kernel void groups(global uint *values)
{
    values[get_global_id(0)] = get_sub_group_id();
}
"""
TILE = """\
kernel void reverse(global int *values, local int *tile)
{
    int item = get_local_id(0);
    tile[item] = values[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    values[get_global_id(0)] = tile[get_local_size(0) - 1 - item];
}
"""
CHAIN = """\
kernel void chain(global int *a, global int *t, int n)
{
    int i = get_global_id(0);
    if (i < n)
        t[i] = 3 * a[i];
    if (i < n)
        a[i] = t[i] + 1;
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the kernels of this module; reports then name files as they are called there."""
    for name, text in (
        ("regions.cl", REGIONS),
        ("groups.cl", SUBGROUPS),
        ("reverse.cl", TILE),
        ("chain.cl", CHAIN),
    ):
        written(tmp_path, name, text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(run: Run, *words: object) -> dict[str, Any]:
    outcome = run("apply", *words, "--report", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def test_regions_as_a_table(folder: Path, run: Run, golden: Golden) -> None:
    outcome = run("apply", "regions.cl", "--factor", 4, "--report")
    assert (outcome.code, outcome.err) == (0, "")
    golden(outcome.out, "report_regions.txt")


def test_regions_as_json(folder: Path, run: Run, golden: Golden) -> None:
    outcome = run("apply", "regions.cl", "--factor", 4, "--report", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    golden(outcome.out, "report_regions.json")


def test_arrays_that_lie_otherwise_are_named(folder: Path, run: Run) -> None:
    found = report(run, "regions.cl", "--factor", 2, "--order", "values=1,0")
    (array,) = found["arrays"]
    assert (array["argument"], array["layout"], array["order"], array["shape"]) == ("values", "aos", [1, 0], None)
    assert [(each["meaning"], each["dimension"], each["like"]) for each in found["added_arguments"]] == [
        ("extent", 0, "values"),
        ("extent", 1, "values"),
    ]
    outcome = run(
        "apply", "regions.cl", "--factor", 2, "--order", "values=1,0", "--shape", "values=4,5", "--report"
    )
    assert "Arrays:\n  pack the buffer for values as aos in the order 1,0: just 4 x 5 elements" in outcome.out


def test_an_extent_of_thousands_of_digits_is_one_clear_line(folder: Path, run: Run) -> None:
    outcome = run(
        "apply", "regions.cl", "--factor", 2, "--order", "values=1,0", "--shape", f"values={'9' * 4400},2"
    )
    assert (outcome.code, outcome.err) == (2, "coarsen: error: an extent has 4400 digits; 16 are the most\n")


@pytest.mark.parametrize("name", ["spmv", "mvCoal"])
def test_benchmarks(name: str, run: Run, golden: Golden) -> None:
    outcome = run("apply", SUITE[name].kernel_file, "--factor", 8, "--report")
    assert (outcome.code, outcome.err) == (0, "")
    golden(outcome.out, f"report_{name}.txt")


def test_what_is_turned_off_is_the_reason(folder: Path, run: Run) -> None:
    off = report(run, "regions.cl", "--factor", 4, "--fast-path", "never", "--lock-step", "never")
    regions = off["coarsenings"][0]["regions"]
    assert [region["treatment"] for region in regions] == ["copies", "copies"]
    assert {region["reason"]["code"] for region in regions} == {"turned-off"}
    assert not any(region["shared"] or region["regions"] for region in regions)


def test_shared_instructions_add_up(folder: Path, run: Run) -> None:
    chosen = report(run, "regions.cl", "--factor", 4)["coarsenings"][0]

    def shared(regions: list[dict[str, Any]]) -> int:
        return sum(region["shared"] + shared(region["regions"]) for region in regions)

    assert chosen["shared"] == chosen["outside"]["shared"] + shared(chosen["regions"])
    assert chosen["outside"]["shared"] == 3 * chosen["outside"]["uniform"]


def test_each_coarsening_has_its_report(run: Run) -> None:
    words = ("--factor", 2, "--dim", 0, "--factor", 2, "--dim", 1)
    found = report(run, SUITE["sobel"].kernel_file, *words)
    assert [(each["factor"], each["dimension"]) for each in found["coarsenings"]] == [(2, 0), (2, 1)]
    # The second sees the copies that the first has made, and still knows where they stand in the source.
    lines = [{region["line"] for region in each["regions"]} for each in found["coarsenings"]]
    assert lines[0] == lines[1] == {16}


@pytest.mark.parametrize("place", ["above", "below", "header"])
def test_lines_are_the_kernels_own_where_a_helper_is_inlined(place: str, folder: Path, run: Run) -> None:
    helper = "float half_of(float x)\n{\n    return x / 2;\n}\n"
    (folder / "helper.h").write_text(helper)
    before = {"above": helper, "below": "float half_of(float x);\n", "header": '#include "helper.h"\n'}[place]
    kernel = REGIONS.replace("values[i] * factor", "half_of(values[i])")
    text = f"{before}{kernel}{helper if place == 'below' else ''}"
    found = report(run, written(folder, "helped.cl", text), "--factor", 4)["coarsenings"][0]["regions"]
    first, second = ((region["first_line"], region["last_line"]) for region in found)
    above = before.count("\n")
    assert (first, second) == ((above + 6, above + 9), (above + 11, above + 11))


def test_factor_1_has_nothing_to_report(folder: Path, run: Run) -> None:
    assert report(run, "regions.cl", "--factor", 1)["coarsenings"] == []
    heading, _, rest = run("apply", "regions.cl", "--factor", 1, "--report").out.partition("\n\n")
    assert heading == "kernel regions: not coarsened"
    assert rest.startswith("Memory: ")


def test_a_file_gets_the_report(folder: Path, run: Run) -> None:
    printed = run("apply", "regions.cl", "--factor", 4, "--report").out
    outcome = run("apply", "regions.cl", "--factor", 4, "--report", "-o", "report.txt")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert (folder / "report.txt").read_text() == printed


def test_ir_has_blocks_where_it_has_no_places(folder: Path, run: Run) -> None:
    (folder / "regions.ll").write_text(coarsen(REGIONS, factor=1).llvm_ir)
    first = report(run, "regions.ll", "--factor", 4)["coarsenings"][0]["regions"][0]
    assert (first["file"], first["line"], first["column"], first["first_line"]) == (None, None, None, None)
    assert f"block {first['block']} " in run("apply", "regions.ll", "--factor", 4, "--report").out


def test_the_roles_are_those_of_all_instructions(folder: Path, run: Run) -> None:
    words = ("apply", "regions.cl", "--factor", 4, "--any-size", "--wide-accesses", "--report", "-f", "json")
    found = json.loads(run(*words).out)
    of_replicas = [[each["instructions"] for each in role["by_replica"]] for role in found["roles"]]
    counts = [role["shared"] + sum(own) for role, own in zip(found["roles"], of_replicas, strict=True)]
    assert sum(counts) == found["instructions"]["after"]
    assert {"source", "id", "guard", "vote", "slow_path"} <= {role["role"] for role in found["roles"]}
    source = next(role for role in found["roles"] if role["role"] == "source")
    assert [each["replica"] for each in source["by_replica"]] == [0, 1, 2, 3]


def test_a_refusal_as_json(folder: Path, run: Run) -> None:
    outcome = run("apply", "groups.cl", "--factor", 2, "--report", "-f", "json")
    assert outcome.code == 3
    assert outcome.error.startswith("groups.cl:4:32: get_sub_group_id is a sub-group operation")
    assert json.loads(outcome.out) == {
        "kernel": "groups",
        "refusal": {
            "code": "sub-group",
            "reason": "get_sub_group_id is a sub-group operation",
            "file": "groups.cl",
            "line": 4,
            "column": 32,
        },
    }


def test_what_is_refused_for_any_size_as_json(folder: Path, run: Run) -> None:
    outcome = run("apply", "reverse.cl", "--factor", 2, "--any-size", "--report", "-f", "json")
    assert (outcome.code, json.loads(outcome.out)["refusal"]["code"]) == (3, "needs-whole-groups")


def test_the_table_fits_80_columns(folder: Path, run: Run) -> None:
    table, _, _ = run("apply", "regions.cl", "--factor", 4, "--report").out.partition("Why not more:")
    assert max(map(len, table.splitlines())) <= 80


def test_a_refusal_as_a_table_is_the_error(folder: Path, run: Run) -> None:
    outcome = run("apply", "groups.cl", "--factor", 2, "--report", "-o", "report.txt")
    assert (outcome.code, outcome.out) == (3, "")
    assert not (folder / "report.txt").exists()


def test_wide_accesses_are_counted(folder: Path, run: Run) -> None:
    words = ("reverse.cl", "--factor", 2, "--report")
    found = json.loads(run("apply", *words, "--wide-accesses", "-f", "json").out)["wide_accesses"]
    assert found["loads"] == 2 * found["wide_loads"] > 0
    assert f"Wide accesses: {found['loads']} loads became" in run("apply", *words, "--wide-accesses").out
    assert json.loads(run("apply", *words, "-f", "json").out)["wide_accesses"] is None


@pytest.mark.parametrize(("options", "accesses"), [((), 3), (("--no-clean-up",), 4)])
def test_the_kernel_that_is_coarsened_is_described(
    folder: Path, run: Run, options: tuple[str, ...], accesses: int
) -> None:
    """One branch is left of two equal ones, and a load takes what was stored."""
    asked = ("apply", "chain.cl", "--factor", 2, *options)
    report = json.loads(run(*asked, "--report", "--format", "json").out)
    assert len(report["memory"]["accesses"]) == accesses
    [coarsening] = report["coarsenings"]
    regions = "1 divergent region" if len(coarsening["regions"]) == 1 else "2 divergent regions"
    assert f"along dimension 0: {regions}\n" in run(*asked, "--explain").out
    assert (accesses == 3) == (len(coarsening["regions"]) == 1)


def test_clean_up_is_counted(folder: Path, run: Run) -> None:
    on = report(run, "regions.cl", "--factor", 8)["instructions"]
    off = report(run, "regions.cl", "--factor", 8, "--no-clean-up")["instructions"]
    assert off["cleaned"] is None
    assert on["cleaned"] == off["after"] - on["after"] > 0


def test_added_arguments(folder: Path, run: Run) -> None:
    words = ("reverse.cl", "--factor", 2, "--level", "group", "--any-size")
    assert report(run, *words)["added_arguments"] == [
        {
            "name": "global_size_x",
            "meaning": "global-size",
            "sentence": "the uncoarsened launch's global size along dimension 0, a ulong",
            "dimension": 0,
            "like": None,
        },
        {
            "name": "tile_1",
            "meaning": "local-memory",
            "sentence": "local memory of the size that is passed for tile",
            "dimension": None,
            "like": "tile",
        },
    ]
    outcome = run("apply", *words)
    assert outcome.err.splitlines() == [
        f"coarsen: note: pass for the added argument {name}: {sentence}"
        for name, sentence in (
            ("global_size_x", "the uncoarsened launch's global size along dimension 0, a ulong"),
            ("tile_1", "local memory of the size that is passed for tile"),
        )
    ]
    assert "// tile_1: local memory of the size that is passed for tile\nkernel void reverse(" in outcome.out


TILED = """\
kernel void turn(global float *out, global const float *in, global const float *scale, int n)
{
    local float tile[32][32];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0) * n + get_global_id(1)] = tile[x][y] * scale[0];
}
"""


def test_memory_as_a_table(folder: Path, run: Run, golden: Golden) -> None:
    written(folder, "turn.cl", TILED)
    outcome = run("apply", "turn.cl", "--factor", 2, "--dim", 1, "--local-size", "32x8", "--report")
    assert (outcome.code, outcome.err) == (0, "")
    golden(outcome.out, "report_turn.txt")


def test_memory_as_json(folder: Path, run: Run, golden: Golden) -> None:
    written(folder, "turn.cl", TILED)
    memory = report(run, "turn.cl", "--factor", 2, "--dim", 1, "--local-size", "32x8")["memory"]
    golden(json.dumps(memory, indent=2, ensure_ascii=False) + "\n", "report_turn_memory.json")


def test_memory_is_that_of_the_device(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Request, "_predicted", lambda *_: 2)
    written(folder, "turn.cl", TILED)
    for words, lanes, banks in (
        (("--device", "tahiti"), 64, 32),
        (("--device", "pocl"), 16, None),
        (("--factor", 2, "--device-kind", "cpu"), 16, None),
        (("--factor", 2), 32, 32),
    ):
        memory = report(run, "turn.cl", *words)["memory"]
        assert (memory["device"]["lanes"], memory["device"]["banks"]) == (lanes, banks)
        assert bool(memory["arrays"]) == (banks is not None)


def test_options_mean_the_same_as_arguments(folder: Path, run: Run) -> None:
    words = ("--factor", 4, "--any-size", "--fast-path", "always", "--lock-step", "never", "--no-clean-up")
    wanted = coarsen(
        REGIONS, factor=4, any_size=True, fast_path="always", lock_step="never", clean_up=False
    ).opencl_c
    assert run("apply", "regions.cl", *words, "-q").out == wanted


LOADS = """\
kernel void loads(global float *values, global const int *lengths)
{
    int item = get_global_id(0);
    float sum = 0;
    for (int i = 0; i < lengths[item]; ++i)
        sum += values[i + item] * values[2 * i + item];
    values[item] = sum;
}
"""


@pytest.mark.parametrize(("called", "kind"), [("tahiti", "gpu"), ("pocl", "cpu")])
def test_the_kind_of_device_follows_from_the_device(
    called: str, kind: str, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(folder, "loads.cl", LOADS)
    monkeypatch.setattr(Request, "_predicted", lambda *_: 4)
    kernels = {each: coarsen(LOADS, factor=4, device_kind=each).opencl_c for each in ("cpu", "gpu")}
    assert kernels["cpu"] != kernels["gpu"]
    assert run("apply", "loads.cl", "--device", called).out == kernels[kind]
    for given in ("cpu", "gpu"):
        assert run("apply", "loads.cl", "--device", called, "--device-kind", given).out == kernels[given]


def test_levels_go_with_dimensions(folder: Path, run: Run) -> None:
    words = ("--dim", 0, "--factor", 2, "--level", "group", "--dim", 0, "--factor", 4, "--level", "item")
    found = report(run, "regions.cl", *words)["coarsenings"]
    assert [(each["factor"], each["level"]) for each in found] == [(2, "group"), (4, "item")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--report", "--explain"), "give one of --explain and --report: each writes something else"),
        (("-f", "json"), "--format goes with --report"),
        (("--report", "--factor", 2, "--emit", "ll"), "give one of --report and --emit"),
        (("--explain", "--emit", "cl"), "give one of --explain and --emit: each writes something else"),
        (("--report", "--factor", 10**20), "the factor must be at most 4096, not 1000"),
        (("--factor", 2, "--level", "item", "--level", "group"), "level must have one value"),
        (("--report",), "give --factor, or --device"),
        (("--report", "--factor", 2, "--level", "warp"), "'warp' is not one of 'item', 'group'"),
        (("--factor", 2, "--local-size", "64"), "--local-size goes with --tile, --explain and --report"),
        (("--report", "--factor", 2, "--local-size", "64,1"), "--local-size takes one to three sizes"),
        (("--report", "--factor", 4, "--local-size", "6"), "a local size of 6 along dimension 0 can't be divided"),
        (("--report", "--factor", 2, "--fast-path", "often"), "'often' is not one of 'auto', 'always', 'never'"),
    ],
)
def test_bad_input(words: tuple[object, ...], message: str, folder: Path, run: Run) -> None:
    outcome = run("apply", "regions.cl", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.error


@pytest.mark.parametrize(
    ("words", "times", "code"),
    [(("--factor", 4), 1, 0), (("--factor", 2, "--any-size", "-f", "json"), 1, 0), (("--factor", 10**4), 0, 2)],
)
def test_a_report_compiles_and_coarsens_once(
    words: tuple[object, ...],
    times: int,
    code: int,
    folder: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled, replicated = counted(Clang, "run", monkeypatch), counted(Replicator, "replicate", monkeypatch)
    outcome = run("apply", "regions.cl", *words, "--report")
    assert (outcome.code, len(compiled), len(replicated)) == (code, times, times)


def test_a_prediction_and_an_explanation_compile_once(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = counted(Clang, "run", monkeypatch)
    assert run("apply", "regions.cl", "--device", "tahiti").code == 0
    assert len(compiled) == 1
    assert run("apply", "regions.cl", "--explain", "--dim", 0, "--dim", 1).code == 0
    assert len(compiled) == 2


def counted(owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The calls of a method from now on."""
    calls: list[object] = []
    original = getattr(owner, name)

    def counting(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls
