"""`coarsen predict --measure`: what it runs on a real device, what it takes, where the rows go."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.models.launch.expected_improvement import Expected
from coarsen.opencl_bench.sweep.promising_variants import MeasuredVariant, MeasuredVariants
from coarsen.tuning.engine.finalists import decide
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import Invalidity, Role
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Decision
from coarsen.tuning.workload.captured_launch import CapturedBuffer, CapturedLaunch, write_launch
from coarsen.tuning.workload.launch_list import PassedScalar
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind, Transforms, device_kind_of
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_from_json
from tests.cli.conftest import Run
from tests.cli.small_launch_model import store_small_launch_model

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


OWN = Variant((64,))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_small_launch_model(tmp_path_factory.mktemp("models"))


@pytest.fixture
def power(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The description of a kernel, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "power.cl"
    path.write_text(POWER)
    assert run("describe", path.name).code == 0
    return path.with_suffix(".toml")


def test_the_best_of_the_measured_variants(power: Path, models: Path, run: Run) -> None:
    words = ("predict", power.name, "-d", "intel", "--measure", 2, "--preset", "test", "--models", models)
    first = run(*words, "--store", "rows.sqlite", "-f", "json")
    assert first.code == 0, first.err
    found = json.loads(first.out)
    measured = found["measured"]
    assert [each["invalidity"] for each in measured] == ["correct", "correct"]
    variants = [variant_from_json(each["variant"]) for each in measured]
    own = variant_from_json(found["own_launch"])
    assert own == Variant((64,)) and own not in variants and len(set(variants)) == 2
    assert variant_from_json(found["choice"]) in (own, *variants)
    assert all(
        each["expected"]["low"] <= each["expected"]["ratio"] <= each["expected"]["high"] for each in measured
    )
    assert Path(found["store"]).resolve() == (power.parent / "rows.sqlite").resolve()
    with open_store("rows.sqlite") as store:
        rows = list(store.measurements())
    # Those of one second come in any order; what breaks a constraint is a row, and no measurement.
    ran = [row for row in rows if row.role is Role.COMPARISON and row.invalidity is not Invalidity.CONSTRAINTS]
    assert len(ran) == len(variants) and {row.candidate for row in ran} == {*variants}
    assert {row.baseline for row in rows if row.role is not Role.SELECTION} == {own}
    assert {row.environment.platform for row in rows} == {find_device("intel").platform_name}
    again = run(*words, "--store", "rows.sqlite")
    assert again.code == 0
    lines = again.out.splitlines()
    # On a busy machine nothing is called the best.
    assert lines[0].removesuffix(", the best measured").endswith(f": {found['choice_text']}")
    assert any(line.startswith("the launch as it is ") for line in lines)
    for each in measured:
        assert any(f"{each['speedup']['ratio']:.2f} ({each['speedup']['low']:.2f} to" in line for line in lines)
    marked = [line for line in lines if line.endswith("◀ chosen")]
    assert marked[0].startswith(found["choice_text"])
    assert lines[-1] == f"The rows are in {power.parent / 'rows.sqlite'}"
    with open_store("rows.sqlite") as store:
        assert store.count() == len(rows), "rows that are there are not measured again"


def test_along_one_dimension_factors_are_measured(models: Path, tmp_path: Path, run: Run) -> None:
    words = ("--preset", "test", "--local-size", "8x8", "--dim", "1", "--measure", 2, "--models", models)
    outcome = run("predict", "mt", "-d", "intel", *words, "--store", tmp_path / "rows", "-f", "json", "-q")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert found["own_launch"]["local_size"] == [8, 8]
    variants = [variant_from_json(each["variant"]) for each in found["measured"]]
    possible = [Variant((8, 8), (Coarsening(factor, 1),)) for factor in (2, 4, 8)]
    assert len(variants) == 2 and all(replace(each, transforms=Transforms()) in possible for each in variants)
    if found["factor"] > 1:
        assert variants[0].factor == found["factor"]


def test_the_launch_model_measures_the_launches_that_it_predicted_its_choice_first(
    device: DeviceDescription, power: Path, run: Run
) -> None:
    words = ("predict", "power.toml", "-d", device.index, "--preset", "test", "--store", "rows.sqlite")
    outcome = run(*words, "--measure", 3, "-f", "json", "-q")
    if device_kind_of(device.device_types) is DeviceKind.ANY:
        assert outcome.code == 4 and "does not say whether it is a CPU or a GPU" in outcome.error
        return
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    predicted = [variant_from_json(each["variant"]) for each in found["launches"]]
    choice = variant_from_json(found["predicted_choice"]["variant"])
    measured = [variant_from_json(each["variant"]) for each in found["measured"]]
    assert len(measured) == len(set(measured)) == 3 and set(measured) <= set(predicted)
    own = variant_from_json(found["own_launch"])
    assert choice == own or measured[0] == choice
    assert variant_from_json(found["choice"]) in (own, *measured)
    # One answer: what was measured is marked, what was predicted is not.
    text = run(*words, "--measure", 3, "-q").out
    assert text.count("◀ chosen") == 1
    assert f"Predicted before measuring, among {len(predicted)} launches: " in text


def test_with_a_store_alone_the_usual_number_is_measured(
    power: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[object] = []

    def remember(*given: object) -> MeasuredVariants:
        counts.append(given[4])
        return MeasuredVariants(OWN, (), decide({}, OWN))

    monkeypatch.setattr("coarsen.cli.predict.measured.measure_promising", remember)
    outcome = run("predict", "power.toml", "-d", "intel", "--store", "rows.sqlite", "--preset", "test")
    assert (outcome.code, counts) == (0, [6])
    assert outcome.out.splitlines()[-1] == f"The rows are in {power.parent / 'rows.sqlite'}"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("power.toml", "-d", "tahiti"),
            4,
            "tahiti is known by model only, so nothing can be measured",
        ),
        (
            ("other.cl", "-d", "intel"),
            2,
            "there are no inputs: `coarsen describe` writes",
        ),
        (("power.toml", "-d", "intel", "-D", "N=1"), 2, "power.toml: its description says which kernel it is"),
        (("power.toml", "-d", "intel", "--dim", "1"), 2, "a launch with the local size 64 has no dimension 1"),
        (
            ("power.toml", "-d", "intel", "--local-size", "8x8"),
            2,
            "power: a local size is 1 positive number",
        ),
        (("power.toml", "-d", "intel", "--store", "no/where"), 2, "there is no folder "),
        (("power.toml", "-d", "intel", "--preset", "huge"), 2, "power: no preset 'huge'"),
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
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "sqlalchemy" else object())
    outcome = run("predict", power, "-d", "intel", "--measure", 1)
    assert (outcome.code, outcome.error) == (2, "measuring needs more packages: pip install 'coarsen[bench]'")


def answered(monkeypatch: pytest.MonkeyPatch, decision: Decision, *variants: MeasuredVariant) -> None:
    """Let these variants have been measured, and that be chosen."""
    measured = MeasuredVariants(OWN, variants, decision)
    monkeypatch.setattr("coarsen.cli.predict.measured.measure_promising", lambda *_: measured)


def coarsened(factor: int) -> Variant:
    return Variant((64,), (Coarsening(factor),))


def measured(
    factor: int, speedup: Speedup | None, invalidity: Invalidity = Invalidity.CORRECT, reason: str = ""
) -> MeasuredVariant:
    return MeasuredVariant(coarsened(factor), Expected(-0.1, 0.2), speedup, invalidity, reason)


def test_wrong_results_are_shown_and_end_with_their_code(
    power: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = measured(4, None, Invalidity.CORRECTNESS, "values: 3 of 64 elements wrong")
    gain = Speedup(1.5, 1.45, 1.55)
    decision = Decision(coarsened(2), gain, None, 1, (1.5, 1.0))
    answered(monkeypatch, decision, measured(2, gain), wrong)
    outcome = run("predict", power, "-d", "intel", "--measure", 2, "--models", models, "--store", "rows")
    assert outcome.code == 5
    reason = "factor 4 along dimension 0, local size 64: values: 3 of 64 elements wrong"
    assert outcome.error == f"wrong results of power: {reason}"
    lines = outcome.out.splitlines()
    assert lines[0].endswith(": factor 2 along dimension 0, the best measured")
    assert lines[1] == "Measured speed-up over the launch as it is: 1.50 (1.45 to 1.55), in one process"
    row = next(line for line in lines if line.startswith("factor 4 along dimension 0"))
    assert row.endswith("correctness: values: 3 of 64 elements wrong")


def test_where_nothing_is_chosen_that_is_said(
    power: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("predict", power, "-d", "intel", "--measure", 3, "--models", models, "--store", "rows")
    answered(monkeypatch, decide({}, OWN), measured(2, Speedup(1.02, 0.99, 1.04)))
    lines = run(*words).out.splitlines()
    assert "None of the measured variants is faster than the launch as it is" in lines
    # Nor is the launch as it is the best measured where the machine was too busy to tell.
    doubtful = Speedup(3.0, 1.5, 6.0)
    answered(monkeypatch, replace(decide({}, OWN), doubtful=doubtful), measured(2, doubtful))
    lines = run(*words).out.splitlines()
    assert lines[0].endswith(": the launch as it is") and lines[1].startswith("As it is: the machine is busy")


def test_of_a_recorded_launch_the_command_to_paste_names_no_file_that_apply_does_not_take(
    power: Path, models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = CapturedBuffer(np.ones(1024, np.float32).view(np.uint8))
    arguments = (content, PassedScalar(np.uint32(1024).tobytes()))
    recorded = power.with_suffix(".npz")
    write_launch(CapturedLaunch(POWER, (), "power", (1024,), (64,), arguments), recorded, "power")
    gain = Speedup(1.5, 1.45, 1.55)
    answered(monkeypatch, Decision(coarsened(2), gain, None, 1, (1.5, 1.0)), measured(2, gain))
    words = ("-d", "intel", "--measure", 1, "--models", models, "--store", "rows")
    commands = [run("predict", file, *words).out for file in (recorded, power)]
    assert ["coarsen apply FILE.cl --kernel power" in each for each in commands] == [True, False]
    assert "coarsen apply power.cl --kernel power" in commands[1]
