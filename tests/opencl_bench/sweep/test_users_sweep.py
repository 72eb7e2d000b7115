"""Sweeps of a user's kernel: what its file says is part of the keys, and may not change on the way."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.ir.graph.printer import module_text
from coarsen.ir.hashed_text import hashed_text
from coarsen.opencl_bench.sweep.several import sweep
from coarsen.opencl_bench.workloads.lookup import SUITE, find_benchmark
from coarsen.tuning.engine.observer import SweepObserver
from coarsen.tuning.engine.plan import Space, SweepPlan
from coarsen.tuning.processes.compile_service import CompileService
from coarsen.tuning.processes.compiler import CompiledSubjects, CompilePool
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Role, Subject
from coarsen.tuning.store.database import Store, open_store
from coarsen.variant.variant import Definitions, Variant
from coarsen.variant.variant_json import variant_to_json
from tests.opencl_bench.sweep.small_sweep import METHOD

# Two dimensions, a tile of a size that a macro says, a file that is included.
KERNEL = """\
# include "weight.h"
#if TILE > 8
#error "the tile is too large"
#endif
kernel void weigh(global float *output, global const float *input, int width, float bias)
{
    int x = get_global_id(0), y = get_global_id(1);
    output[y * width + x] = WEIGHT * input[y * width + x] + TILE + bias;
}
"""
FILE = """\
file = "weigh.cl"
kernel = "weigh"
outputs = ["output"]
relative_tolerance = 1e-6
[ndrange]
global_size = ["n", "n // 2"]
local_size = [8, 4]
[tunables]
TILE = [4]
[sizes.test]
n = 64
[[arguments]]
name = "output"
buffer = "float"
elements = "n * n // 2"
[[arguments]]
name = "input"
buffer = "float"
elements = "n * n // 2"
values = "uniform(-1, 1)"
[[arguments]]
name = "width"
scalar = "int"
value = "n"
[[arguments]]
name = "bias"
scalar = "float"
value = 0.5
"""
TILE = (("TILE", "4"),)
SPACE = Space(factors=(1, 2), strides=(1,), dimensions=(1,))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "results.sqlite")) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "weight.h").write_text("#define WEIGHT 2\n")
    (tmp_path / "weigh.cl").write_text(KERNEL)
    path = tmp_path / "weigh.toml"
    path.write_text(FILE)
    return path


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def plan(path: Path) -> SweepPlan:
    return SweepPlan(path, "intel", "test", space=SPACE, method=METHOD, confirms=False)


def subject(path: Path) -> Subject:
    def ir_hash(definitions: Definitions) -> str:
        told = CompileService().describe({"benchmark": str(path), "definitions": dict(definitions)})
        return str(told["ir_hash"])

    return CompiledSubjects(find_benchmark(path), "test", 0, ir_hash).of(TILE)


def selected(rows: Iterable[Measurement]) -> set[str]:
    """The keys of the rows whose baseline isn't the clock's choice."""
    return {row.key for row in rows if row.role is Role.SELECTION}


def test_all_configurations_in_two_dimensions_are_right(file: Path, store: Store, pool: CompilePool) -> None:
    first = sweep(plan(file), store, pool=pool)
    assert not first.problem
    assert {row.invalidity for row in first.rows} == {Invalidity.CORRECT}, [row.reason for row in first.rows]
    coarsened = [row for row in first.rows if row.candidate.coarsenings]
    assert {row.oracle for row in coarsened} == {CheckedAgainst.UNCOARSENED}
    changed(file, "TILE = [4]", "TILE = [4, 8]\n# another value leaves the rows of the first as they are")
    second = sweep(plan(file), store, pool=pool)
    assert selected(first.rows) < selected(second.rows)


@pytest.mark.parametrize(
    ("which", "old", "new"),
    [
        ("weigh.toml", "uniform(-1, 1)", "uniform(-1, 2)"),
        ("weigh.toml", "1e-6", "1e-5"),
        ("weigh.toml", "value = 0.5", "value = 0.25"),
        ("weigh.toml", '"n // 2"', '"n // 4"'),
        ("weigh.toml", "n = 64", "n = 32"),
        ("weight.h", "2", "3"),
        ("weigh.cl", "+ bias", "- bias"),
    ],
)
def test_another_file_is_another_subject(file: Path, which: str, old: str, new: str) -> None:
    before = subject(file)
    assert subject(file) == before
    changed(file.parent / which, old, new)
    assert subject(file) != before


def test_a_subject_does_not_depend_on_where_its_files_are(file: Path, tmp_path: Path) -> None:
    changed(file, "outputs", 'build_options = ["-cl-std=CL1.2", "-Iheaders"]\noutputs')
    (file.parent / "headers").mkdir()
    (file.parent / "weight.h").rename(file.parent / "headers" / "weight.h")
    before = subject(file)
    assert subject(Path(shutil.copytree(file.parent, tmp_path / "copy")) / file.name) == before


def test_a_subject_of_the_suite_has_the_hash_of_its_ir_alone() -> None:
    kernel = lower(SUITE["mt"].kernel_file, "mt", SUITE["mt"].build_options)
    told = CompileService().describe({"benchmark": "mt", "definitions": {}})
    assert told["ir_hash"] == hashlib.sha256(hashed_text(module_text(kernel.graph)).encode()).hexdigest()


class Meddler(SweepObserver):
    """Changes a file when the sweep has begun."""

    def __init__(self, path: Path, old: str, new: str) -> None:
        self._change = (path, old, new)

    def planned(self, benchmark: str, device: str, configurations: int) -> None:
        changed(*self._change)


@pytest.mark.parametrize(("old", "new"), [("uniform(-1, 1)", "zeros"), ("n = 64", "n = 32")])
def test_a_file_that_changes_meanwhile_ends_the_sweep(
    file: Path, store: Store, pool: CompilePool, old: str, new: str
) -> None:
    with pytest.raises(InvalidInputError, match=r"weigh\.toml has changed since the sweep began; begin again"):
        sweep(plan(file), store, Meddler(file, old, new), pool=pool)
    assert not store.count()


def test_a_kernel_that_changes_meanwhile_is_not_compiled(file: Path) -> None:
    early = CompileService()
    told = early.describe({"benchmark": str(file), "definitions": dict(TILE)})["ir_hash"]
    candidate = variant_to_json(Variant((8, 4), (), TILE))
    request = {
        "benchmark": str(file),
        "candidate": candidate,
        "form": "opencl_c",
        "machine": None,
        "ir_hash": told,
    }
    changed(file.parent / "weigh.cl", "+ bias", "- bias")
    assert "+ bias" in early.compile(request)["code"]["content"], "it keeps what it has read"
    assert CompileService().compile(request) == {"changed": True}


def test_a_macro_value_that_does_not_compile_costs_its_configurations_only(
    file: Path, store: Store, pool: CompilePool
) -> None:
    changed(file, "TILE = [4]", "TILE = [4, 16]")
    summary = sweep(plan(file), store, pool=pool)
    assert not summary.problem
    found = {row.candidate: row for row in summary.rows if row.role is Role.COMPARISON}
    for candidate, row in found.items():
        right = candidate.definitions == TILE
        assert row.invalidity is (Invalidity.CORRECT if right else Invalidity.COMPILE), row.reason
    assert Variant((8, 4), (), (("TILE", "16"),)) in found
    assert not sweep(plan(file), store, pool=pool).measured


def test_a_kernel_that_writes_nothing_proves_nothing(file: Path, store: Store, pool: CompilePool) -> None:
    changed(file, '"uniform(-1, 1)"', '"constant(0.0)"\n')
    changed(file.parent / "weigh.cl", "output[y * width + x] =", "if (width < 0) output[y * width + x] =")
    summary = sweep(plan(file), store, pool=pool)
    assert "leaves all outputs as they were" in summary.problem
    assert {row.invalidity for row in summary.rows} == {Invalidity.RUNTIME}


def test_the_hash_is_of_the_branch_that_the_device_takes(file: Path) -> None:
    source = file.with_name("weigh.cl")
    changed(source, "+ bias;", "+ bias\n#ifdef cl_khr_fp16\n+ 1\n#endif\n;")
    request = {"benchmark": str(file), "definitions": dict(TILE)}
    machines = [{"device": {"extensions": each}} for each in ("cl_khr_fp16", "cl_khr_fp64")]
    service = CompileService()
    half, double, unknown = (
        service.describe({**request, "machine": each})["ir_hash"] for each in (*machines, None)
    )
    assert half != double == unknown == service.describe(request)["ir_hash"]
