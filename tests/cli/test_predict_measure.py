"""`coarsen predict --measure`: what it runs on a real device, what it takes, where the rows go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from coarsen.cli.predict_measured import most_promising
from coarsen.devices.selection import find_device
from coarsen.devices.targets import target_of
from coarsen.frontend.lower import lower
from coarsen.models.default import load_default
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Invalidity, Role
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.tuning.measured_factors import MeasuredFactor, MeasuredFactors
from coarsen.prediction import predict_kernel
from tests.cli.conftest import Run
from tests.cli.small_model import store_small_model

# Enough work for a clock to see, in a kernel whose work-items share nothing.
POWER = """\
kernel void power(global float *values, uint count)
{
    uint item = get_global_id(0);
    float value = values[item];
    for (uint i = 0; i < 64; ++i)
        value = value * value + 0.25f;
    values[item] = value;
}
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A limit that nothing exceeds: what is measured must not hang on what a made-up model finds strange.
    return store_small_model(tmp_path_factory.mktemp("models"), limit=1e9)


@pytest.fixture
def power(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel with its description beside it, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "power.cl"
    path.write_text(POWER)
    assert run("bench", "init", path.name).code == 0
    return path


def best_of(measured: Sequence[Mapping[str, Any]]) -> int:
    """The smallest factor that the clock can't tell from the fastest: within its interval, and within 5 %.

    Where some were timed again in new processes, only those compete, and factor 1.
    """
    most = max(each["processes"] for each in measured)
    correct = [each for each in measured if each["speedup"] is not None]
    eligible = [each for each in correct if each["factor"] == 1 or each["processes"] == most]
    fastest = max(eligible, key=lambda each: each["speedup"])
    least = min(fastest["speedup"], max(fastest["interval"][0], fastest["speedup"] / 1.05))
    return min(int(each["factor"]) for each in eligible if each["speedup"] >= least)


def test_the_best_of_the_measured_factors(power: Path, models: Path, run: Run) -> None:
    words = ("predict", power.name, "-d", "intel", "--measure", 2, "--preset", "test", "--models", models)
    first = run(*words, "--store", "rows.sqlite", "-f", "json")
    assert first.code == 0, first.err
    found = json.loads(first.out)
    prediction = predict_kernel(lower(power), load_default(models), target_of("intel"), 0, (64,))
    expected = sorted(most_promising(prediction, 2))
    assert [each["factor"] for each in found["measured"]] == [1, *expected]
    assert {each["invalidity"] for each in found["measured"]} == {"correct"}
    assert found["factor"] == best_of(found["measured"])
    assert (found["predicted_factor"], found["local_size"]) == (prediction.factor, [64])
    assert Path(found["store"]).resolve() == (power.parent / "rows.sqlite").resolve()
    with open_store("rows.sqlite") as store:
        rows = list(store.measurements())
    compared = [row for row in rows if row.role is Role.COMPARISON]
    assert sorted(row.candidate.factor for row in compared) == [1, *expected]
    assert {row.candidate.local_size for row in rows} == {(64,)}
    assert {coarsening.stride for row in rows for coarsening in row.candidate.coarsenings} == {1}
    assert {row.environment.platform for row in rows} == {find_device("intel").platform_name}

    again = run(*words, "--store", "rows.sqlite")
    assert again.code == 0
    lines = again.out.splitlines()
    assert lines[0].endswith(f": factor {found['factor']}, the best of those measured")
    chosen = next(each for each in found["measured"] if each["factor"] == found["factor"])
    # A tie is explained in a line of its own; whether there is one is up to the clock.
    most = max(each["processes"] for each in found["measured"])
    is_tie = any(each["speedup"] > chosen["speedup"] and each["processes"] == most for each in found["measured"])
    assert lines[2].startswith("The clock can't tell") == is_tie
    heading = 3 + is_tie
    assert lines[heading].split()[:2] == ["factor", "predicted"]
    for each in found["measured"]:
        row = next(line for line in lines[heading + 1 : heading + 7] if line.split()[0] == str(each["factor"]))
        assert f"{each['speedup']:.2f}" in row
        assert row.endswith("◀ chosen") == (each["factor"] == found["factor"])
    assert lines[-1] == f"The rows are in {power.parent / 'rows.sqlite'}"
    with open_store("rows.sqlite") as store:
        assert store.count() == len(rows), "rows that are there are not measured again"


def test_another_local_size_and_dimension_of_a_benchmark_of_the_suite(
    models: Path, tmp_path: Path, run: Run
) -> None:
    words = ("--preset", "test", "--local-size", "8x8", "--dim", 1, "--measure", 1, "--models", models)
    outcome = run("predict", "mt", "-d", "intel", *words, "--store", tmp_path / "rows", "-f", "json", "-q")
    assert (outcome.code, outcome.err) == (0, "")
    with open_store(str(tmp_path / "rows")) as store:
        candidates = {row.candidate for row in store.measurements()}
    assert {candidate.local_size for candidate in candidates} == {(8, 8)}
    assert {each.dimension for candidate in candidates for each in candidate.coarsenings} == {1}
    assert len(candidates) == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("power.cl", "-d", "tahiti"),
            4,
            "tahiti is known by model only, so nothing can be measured",
        ),
        (
            ("other.cl", "-d", "intel"),
            2,
            "other.cl: there is no other.toml beside it; coarsen bench init",
        ),
        (("power.cl", "-d", "intel", "-D", "N=1"), 2, "power.cl: its description says which kernel it is"),
        (("power.cl", "-d", "intel", "--dim", "1"), 2, "a launch with the local size 64 has no dimension 1"),
        (
            ("power.cl", "-d", "intel", "--local-size", "8x8"),
            2,
            "power: a local size has 1 number, 64 for example",
        ),
        (
            ("power.cl", "-d", "intel", "--local-size", "8x8", "--dim", "1"),
            2,
            "power: its NDRange has no dimension 1, only 0",
        ),
        (("power.cl", "-d", "intel", "--store", "no/where"), 2, "there is no folder "),
        (("power.cl", "-d", "intel", "--preset", "huge"), 2, "power: no preset 'huge'"),
    ],
)
def test_what_cant_be_measured(
    words: tuple[str, ...], code: int, message: str, power: Path, models: Path, run: Run
) -> None:
    power.with_name("other.cl").write_text(POWER)
    before = sorted(power.parent.iterdir())
    outcome = run("predict", *words, "--measure", 2, "--models", models)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.error.startswith(message)
    assert sorted(power.parent.iterdir()) == before


def test_packages_that_measuring_needs(power: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "alembic" else object())
    outcome = run("predict", power, "-d", "intel", "--measure", 1)
    assert (outcome.code, outcome.error) == (2, "measuring needs more packages: pip install 'coarsen[bench]'")


def test_wrong_results_are_shown_and_end_with_their_code(
    power: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = (
        MeasuredFactor(1, Speedup(1.0, 1.0, 1.0)),
        MeasuredFactor(2, Speedup(1.5, 1.4, 1.6)),
        MeasuredFactor(4, None, Invalidity.CORRECTNESS, "values: 3 of 64 elements wrong"),
    )
    measured = MeasuredFactors(results, (), 0)
    monkeypatch.setattr("coarsen.cli.predict_measured.measure_factors", lambda *_: measured)
    outcome = run("predict", power, "-d", "intel", "--measure", 2, "--models", models, "--store", "rows")
    assert outcome.code == 5
    assert outcome.error == "wrong results of power: factor 4: values: 3 of 64 elements wrong"
    lines = outcome.out.splitlines()
    assert lines[0].endswith(": factor 2, the best of those measured")
    assert lines[1].startswith("Measured speed-up 1.50 (1.40 to 1.60); predicted was factor ")
    row = next(line for line in lines[4:10] if line.split()[0] == "4")
    assert row.endswith("correctness: values: 3 of 64 elements wrong")


def test_a_smaller_factor_that_wins_with_the_smaller_number_is_explained(
    power: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: tuple[MeasuredFactor, ...] = (
        MeasuredFactor(1, Speedup(1.0, 1.0, 1.0)),
        MeasuredFactor(2, Speedup(1.2, 1.1, 1.3)),
        MeasuredFactor(4, Speedup(1.21, 1.15, 1.25)),
        MeasuredFactor(8, Speedup(1.22, 1.18, 1.26)),
    )
    monkeypatch.setattr("coarsen.cli.predict_measured.measure_factors", lambda *_: MeasuredFactors(results, (), 0))
    words = ("predict", power, "-d", "intel", "--measure", 3, "--models", models, "--store", "rows")
    lines = run(*words).out.splitlines()
    assert lines[0].endswith(": factor 2, the best of those measured")
    assert "The clock can't tell factor 4, factor 8 from factor 2, and the smallest one wins" in lines
    results = (results[0], MeasuredFactor(2, Speedup(1.02, 0.99, 1.04)))
    assert "The clock can't tell factor 2 from factor 1, and the smallest one wins" in run(*words).out.splitlines()
    results = (results[0], MeasuredFactor(2, Speedup(1.2, 1.1, 1.3)), MeasuredFactor(4, Speedup(1.1, 1.0, 1.2)))
    assert "The clock" not in run(*words).out
