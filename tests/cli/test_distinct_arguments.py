"""`coarsen apply --distinct`: what is said of a kernel for arguments that point to distinct memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coarsen
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.tuning.measure.machine import UndividedError
from coarsen.tuning.measure.variant_launch import variant_launch
from coarsen.tuning.workload.benchmark import BufferArgument, Launch
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.space import TransformChoices, VariantSpace, coarsening_dimensions
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json, variant_to_json

Run = Callable[..., Any]
SOURCE = """
kernel void add(global float *a, global float *b, global float *c, int n)
{
    int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        c[i] += a[k];
    for (int k = 0; k < n; k++)
        if (a[k] > 0)
            b[i] += a[k];
}
"""
DISTINCT = Variant(coarsenings=(Coarsening(2),), transforms=Transforms(distinct=True))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "add.cl"
    path.write_text(SOURCE)
    return path


def test_the_report_has_it_as_json(file: Path, run: Run) -> None:
    outcome = run("apply", file, "--factor", 2, "--distinct", "--report", "--format", "json")
    found = json.loads(outcome.out)["distinct"]
    assert found["apart"] == [["a", "b"], ["a", "c"], ["b", "c"]]
    reasons = {each["name"]: each["reason"] and each["reason"]["code"] for each in found["accumulators"]}
    assert reasons == {"c": None, "b": "not-each-time"}
    assert {each["line"] for each in found["accumulators"]} == {6, 9}


def test_the_report_tells_what_accesses_cost_once_sums_are_kept(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "add.cl"
    file.write_text(SOURCE.split("    for (int k = 0; k < n; k++)\n        if")[0] + "}")

    def of_c(*options: str) -> list[str]:
        told = run("apply", file, "--factor", 2, "--report", *options).out
        return [line for line in told.splitlines() if " c, 4 bytes" in line]

    assert any("by loop" in line for line in of_c())
    assert of_c("--distinct") and not any("by loop" in line for line in of_c("--distinct"))


def test_a_pointer_that_may_lead_anywhere_is_a_note_and_no_assumption(run: Run, tmp_path: Path) -> None:
    source = """kernel void add(global ulong *a, global int *c)
    {
        c[get_global_id(0)] += *(global int *)a[get_global_id(0)];
    }"""
    path = tmp_path / "add.cl"
    path.write_text(source)
    made = coarsen.coarsen(source, factor=2, distinct=True)
    assert made.assumptions == ()
    assert made.distinct is not None and "not every access is known" in made.distinct.note
    assert (
        "Nothing is gained by distinct arguments"
        in run("apply", path, "--factor", 2, "--distinct", "--report").out
    )
    found = json.loads(run("apply", path, "--factor", 2, "--distinct", "--report", "--format", "json").out)
    assert found["assumptions"] == []
    assert found["distinct"]["note"] == made.distinct.note


def test_the_explanation_says_it_too(file: Path, run: Run) -> None:
    plain = run("apply", file, "--explain").out
    told = run("apply", file, "--explain", "--distinct").out
    assert told.startswith(plain) and "kept in a register" not in plain
    assert "6:14: c, in the loop at 5:5: kept in a register" in told
    assert "the memory passed for a must not overlap that for b and c" in told


def test_in_python_it_is_data() -> None:
    made = coarsen.coarsen(SOURCE, factor=2, distinct=True)
    assert made.apart == ((0, 1), (0, 2), (1, 2))
    assert made.assumptions[-1] == "the memory passed for b must not overlap that for c"
    assert coarsen.coarsen(SOURCE, factor=2).apart == ()


def test_without_it_nothing_changes() -> None:
    assert "restrict" not in coarsen.coarsen(SOURCE, factor=2).opencl_c


def test_keys_of_rows_that_are_there_stay() -> None:
    general = Variant(coarsenings=(Coarsening(2),))
    assert variant_to_json(general) == {
        "local_size": [],
        "coarsenings": [[2, 0, 1]],
        "definitions": {},
        "transforms": {
            "fast_path": "auto",
            "lock_step": "auto",
            "wide_accesses": False,
            "clean_up": True,
            "device_kind": "any",
        },
    }
    assert variant_to_json(DISTINCT)["transforms"]["distinct"] is True
    assert variant_from_json(variant_to_json(DISTINCT)) == DISTINCT
    assert str(DISTINCT).endswith("distinct arguments")


def test_a_space_has_it_where_it_is_asked_for() -> None:
    factors = tuple(coarsening_dimensions(Level.ITEM, 0, (2,), (1,)))
    general = VariantSpace((*factors, *TransformChoices().dimensions()))
    both = VariantSpace((*factors, *TransformChoices(distinct=(False, True)).dimensions()))
    assert DISTINCT not in list(general)
    assert DISTINCT in list(both) and len(list(both)) == 3
    assert both.variant(both.choice_of(DISTINCT)) == DISTINCT


def test_it_is_pasted() -> None:
    paste = paste_of_variant(DISTINCT, "add", "add.cl")
    assert "distinct=True" in paste.python
    assert paste.command.endswith("--distinct")


def test_a_buffer_that_is_passed_twice_is_not_measured() -> None:
    names = ("x", "y", "x")
    launch = Launch("add", (64,), (16,), tuple(BufferArgument(name) for name in names))
    tiled = Variant((16,), (Coarsening(2),), transforms=Transforms(tile=Tile("8")))
    for variant in (DISTINCT, tiled):
        with pytest.raises(UndividedError, match="the buffer x is passed for two arguments"):
            variant_launch(launch, variant, ())
    assert variant_launch(launch, Variant(coarsenings=(Coarsening(2),)), ()).global_size == (32,)
