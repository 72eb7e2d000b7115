"""Versions are measured at every input, compiled once, and never twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs import measuring
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, measure_versions, measured_times
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings, search_versions
from coarsen.opencl_bench.sweep import engine
from coarsen.tuning.engine.observer import CollectingObserver, SweepObserver
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.processes import compiler
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Measurement, Method, Role
from coarsen.tuning.search.exhaustive import StaircaseSearcher
from coarsen.tuning.store.database import Store, open_store
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.inputs.own_benchmarks import find_benchmark
from tests.opencl_bench.steps import AT_ONCE, IN_TWO, NAME, UNSURE, definitions

pytestmark = pytest.mark.usefixtures("_own_benchmarks")

ROOT = Path(__file__).parents[3]
METHOD = Method(repetitions=3, minimum_repetitions=3, interval_width=10.0)
PRESETS = ("test", "input-1")
DEFAULT = Variant((32,), (), definitions(AT_ONCE))
IN_STEPS = Variant((64,), (), definitions(IN_TWO))
COARSENED = Variant((32,), (Coarsening(2),), definitions(IN_TWO))
OPEN = Variant((), (), definitions(IN_TWO))
WRONG = Variant((32,), (), definitions(IN_TWO, "3"))
IDLE = Variant((32,), (Coarsening(2),), definitions(AT_ONCE))
VERSIONS = (DEFAULT, IN_STEPS, COARSENED, OPEN, WRONG, IDLE)


@pytest.fixture(scope="module")
def _own_benchmarks() -> Iterator[None]:
    """The tests' benchmarks are known here and in the processes that compile and measure."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        patched.setattr(measuring, "find_benchmark", find_benchmark)
        patched.setattr(compiler, "SERVICE", "tests.opencl_bench.inputs.compile_service")
        patched.setattr(engine, "SERVICE", "tests.opencl_bench.inputs.measure_service")
        yield


@pytest.fixture(scope="module")
def pool(_own_benchmarks: None) -> Iterator[CompilePool]:
    """Processes for all tests that do not count them."""
    with CompilePool() as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "results.sqlite")) as opened:
        yield opened


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests for compilation, as they are sent."""
    requests: list[Any] = []
    send = CompilePool.ask

    def ask(pool: CompilePool, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        requests.append((request["do"], str(request.get("candidate")), str(request.get("definitions"))))
        return send(pool, request, seconds)

    monkeypatch.setattr(CompilePool, "ask", ask)
    return requests


def plan_of(device: str, benchmark: str = NAME) -> VersionsPlan:
    return VersionsPlan(benchmark, device, PRESETS, VERSIONS, DEFAULT, method=METHOD)


def endings(rows: Sequence[Measurement], preset: str) -> dict[Variant, Invalidity]:
    return {row.candidate: row.invalidity for row in rows if row.subject.preset == preset}


@pytest.mark.compiled_devices
def test_each_version_at_each_input(
    store: Store, pool: CompilePool, compiled: list[Any], device: DeviceDescription
) -> None:
    measured = measure_versions(plan_of(device.index), store, pool=pool)
    assert measured.measured == len(VERSIONS) * len(PRESETS)
    assert max(Counter(compiled).values()) == 1
    for preset in PRESETS:
        assert endings(measured.rows, preset) == {
            **dict.fromkeys((DEFAULT, IN_STEPS, COARSENED, OPEN), Invalidity.CORRECT),
            WRONG: Invalidity.CORRECTNESS,
            IDLE: Invalidity.CONSTRAINTS,
        }
    assert {(row.role, row.baseline, row.clock) for row in measured.rows} == {
        (Role.COMPARISON, DEFAULT, Clock.SPAN)
    }
    timed = [row for row in measured.rows if row.nanoseconds]
    assert {row.oracle for row in timed} == {CheckedAgainst.REFERENCE}
    for row in timed:
        assert len(row.sum_nanoseconds) == len(row.baseline_host_nanoseconds) == len(row.nanoseconds)
    again = measure_versions(plan_of(device.index), store, pool=pool)
    assert (again.measured, {row.key for row in again.rows}) == (0, {row.key for row in measured.rows})


def test_where_no_input_has_a_reference_the_default_version_vouches(store: Store, pool: CompilePool) -> None:
    measured = measure_versions(plan_of("intel", UNSURE), store, pool=pool)
    correct = {row.candidate: row.oracle for row in measured.rows if row.invalidity is Invalidity.CORRECT}
    assert correct == {
        DEFAULT: CheckedAgainst.NOTHING,
        **dict.fromkeys((IN_STEPS, COARSENED, OPEN), CheckedAgainst.DEFAULT),
    }
    assert endings(measured.rows, "input-1")[WRONG] is Invalidity.CORRECTNESS


def test_what_was_measured_is_a_matrix(store: Store, pool: CompilePool) -> None:
    plan = plan_of("intel")
    rows = measure_versions(plan, store, pool=pool).rows
    inputs = tuple(InputPoint(preset, preset, {}) for preset in PRESETS)
    seconds = measured_times(rows, inputs, VERSIONS, DEFAULT)[0].seconds
    assert seconds.shape == (2, 6)
    assert (seconds[:, :4] > 0).all() and all(value != value for value in seconds[:, 4:].flat)


def test_a_default_version_that_fails_leaves_the_others_of_that_input(store: Store, pool: CompilePool) -> None:
    plan = replace(plan_of("intel"), default=WRONG, presets=("test",))
    measured = measure_versions(plan, store, pool=pool)
    assert [row.candidate for row in measured.rows] == [WRONG]
    with pytest.raises(InvalidInputError, match="the default version runs at no input"):
        measured_times(measured.rows, [InputPoint("test", "test", {})], VERSIONS, WRONG)


def test_a_search_on_a_few_inputs_says_what_to_measure_on_all_and_keeps_its_rows(
    store: Store, pool: CompilePool
) -> None:
    plan = plan_of("intel")
    inputs = (InputPoint("test", "test", {"n": 256.0}), InputPoint("input-1", "input-1", {"n": 1024.0}))
    space = Space(factors=(1,), local_sizes=((32,), (64,)), definitions=(("PLUS", ("1",)),))
    settings = StageOneSettings(StaircaseSearcher())
    first, second = (CollectingObserver(SweepObserver()) for _ in range(2))
    found = search_versions(plan, inputs, space, store, settings, first, pool)
    # Two parameters of two values each: all are tried at both inputs, and a winner has two neighbours.
    assert found[0] == DEFAULT
    assert 3 <= len(found) <= 4 and first.measured == 8
    assert search_versions(plan, inputs, space, store, settings, second, pool) == found
    assert second.measured == 0
    measured = measure_versions(replace(plan, versions=found), store, pool=pool)
    assert (measured.measured, len(measured.rows)) == (0, 2 * len(found))


def test_where_the_default_version_fails_nothing_is_searched(store: Store, pool: CompilePool) -> None:
    inputs = (InputPoint("test", "test", {}),)
    space = Space(factors=(1,), local_sizes=((32,),), definitions=(("PLUS", ("1",)),))
    seen = CollectingObserver(SweepObserver())
    plan = replace(plan_of("intel"), default=WRONG)
    found = search_versions(plan, inputs, space, store, observer=seen, pool=pool)
    assert (found, seen.measured) == ((WRONG,), 1)
    with pytest.raises(InvalidInputError, match="no inputs"):
        search_versions(plan_of("intel"), (), space, store, pool=pool)
    with pytest.raises(InvalidInputError, match="leave the sample out"):
        search_versions(plan_of("intel"), inputs, replace(space, sample=3), store, pool=pool)
    with pytest.raises(InvalidInputError, match="leave one of them out"):
        search_versions(plan_of("intel"), inputs, replace(space, variants=(WRONG,)), store, pool=pool)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"default": COARSENED}, "the default version is the source as it is, not factor 2"),
        ({"presets": ("test", "input-7")}, "no preset 'input-7'"),
    ],
    ids=["coarsened", "preset"],
)
def test_plans_that_are_none(change: dict[str, Any], message: str, store: Store) -> None:
    with pytest.raises(InvalidInputError, match=message):
        measure_versions(replace(plan_of("intel"), **change), store)
