"""What is tuned with warm caches is looked at with cold ones, at three inputs; nothing is chosen by that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import JSON, TunedFile
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.models.inputs.times import Ending
from coarsen.opencl_bench.inputs import baselines
from coarsen.opencl_bench.inputs.baselines import cold_check, cold_points
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.evidence import ColdTimes, evidence_of, with_caches
from coarsen.opencl_bench.inputs.measuring import MeasuredVersions, VersionsPlan
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, tune_over_inputs
from coarsen.opencl_bench.inputs.worth import ColdChange, cold_changes, cold_lines
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import Invalidity, Measurement, Method
from coarsen.tuning.store.database import Filter, Store, open_store
from coarsen.variant.variant import Variant
from tests.opencl_bench.inputs.test_left_open import described
from tests.opencl_bench.measurements import some_measurement
from tests.opencl_bench.reporting.tuned_files import VERSIONS, tuned

PLAN = VersionsPlan("sgemm", "intel", (), VERSIONS, VERSIONS[0])
NAMES = ("input-1", "input-256", "input-65536")
# Of each input, the times of the three versions over the default's. As it was tuned, the first is the fastest at
# the first two inputs, the second at the last.
RATIOS = ((1.0, 0.5, 2.0), (1.0, 1.01, 2.0), (1.0, 0.97, 0.95))


def rows_of(ratios: tuple[tuple[float, ...], ...] = RATIOS) -> dict[tuple[str, Variant], Measurement]:
    """The rows of all versions at the three inputs."""
    return {
        (name, version): some_measurement(
            preset=name,
            candidate=version,
            baseline=VERSIONS[0],
            nanoseconds=(round(1000 * ratio),) * 2,
            baseline_nanoseconds=(1000, 1000),
        )
        for name, own in zip(NAMES, ratios, strict=True)
        for version, ratio in zip(VERSIONS, own, strict=True)
    }


def checked(
    monkeypatch: pytest.MonkeyPatch,
    rows: Mapping[tuple[str, Variant], Measurement],
    problems: Mapping[str, str] | None = None,
) -> tuple[tuple[ColdTimes, dict[Variant, str]], VersionsPlan]:
    """What a check makes of rows, and what it asked to measure."""
    asked: list[VersionsPlan] = []

    def measure(plan: VersionsPlan, *_: object, **__: object) -> MeasuredVersions:
        asked.append(plan)
        return MeasuredVersions(tuple(rows.values()), len(rows), problems or {})

    monkeypatch.setattr(baselines, "measure_versions", measure)
    found = cold_check(tuned(), evidence_of(tuned()).times, PLAN, cast(Store, None))
    return found, asked[0]


def with_check(monkeypatch: pytest.MonkeyPatch) -> TunedFile:
    """A tuned file with a check."""
    (cold, _), _ = checked(monkeypatch, rows_of())
    return TunedFile.from_bytes(with_caches(tuned(), cold=cold).to_bytes())


def test_the_least_the_middle_and_the_largest_input_are_checked() -> None:
    assert tuple(point.name for point in cold_points(evidence_of(tuned()).times)) == NAMES
    few = evidence_of(tuned()).times.of_inputs([3, 0])
    assert [point.name for point in cold_points(few)] == ["input-1", "input-4096"]


def test_the_files_versions_are_measured_there_with_flushed_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = checked(monkeypatch, rows_of())
    assert asked == replace(PLAN, presets=NAMES, versions=VERSIONS, method=Method(cold_cache=True))


def test_where_another_version_is_the_fastest_beyond_noise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = cold_changes(with_check(monkeypatch))
    assert [(each.input, each.warm, each.cold, each.changes) for each in changes] == [
        ("input-1", 0, 1, True),
        ("input-256", 0, 0, False),
        ("input-65536", 1, 2, False),
    ]
    assert changes[0].gain == pytest.approx(2)
    assert list(cold_lines(changes)) == [
        "With flushed caches, another version is the fastest at 1 of 3 inputs that were looked at:",
        "    input-1: version 1 is the fastest, 2.00 times as fast as version 0, which is otherwise",
        "    input-256: version 0 is the fastest, or within noise of it, as otherwise",
        "    input-65536: version 1 is the fastest, or within noise of it, as otherwise",
    ]


def test_nothing_is_chosen_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    file = with_check(monkeypatch)
    assert replace(file, evidence=tuned().evidence) == tuned()


def test_what_fails_then_is_as_bad_as_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of()
    slow = replace(rows["input-1", VERSIONS[1]], invalidity=Invalidity.TIMEOUT, reason="too long")
    (cold, _), _ = checked(monkeypatch, {**rows, ("input-1", VERSIONS[1]): slow})
    assert cold.times is not None
    assert math.isnan(cold.times.seconds[0][1]) and cold.times.endings[0][1] == Ending.FAILED
    assert not cold_changes(with_caches(tuned(), cold=cold))[0].changes


def with_wrong(
    rows: Mapping[tuple[str, Variant], Measurement], cell: tuple[str, Variant]
) -> dict[tuple[str, Variant], Measurement]:
    """Rows with flushed caches, of which one is wrong."""
    cold = {each: replace(row, method=Method(cold_cache=True)) for each, row in rows.items()}
    return cold | {cell: replace(cold[cell], invalidity=Invalidity.CORRECTNESS, reason="wrong: values")}


def test_wrong_results_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    (_, wrong), _ = checked(monkeypatch, with_wrong(rows_of(), ("input-256", VERSIONS[2])))
    assert wrong == {VERSIONS[2]: "input-256, caches flushed: wrong: values"}


def test_a_default_version_that_is_wrong_then_ends_the_tuning(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(VerificationError, match="has wrong results at input-256, caches flushed: wrong: values; "):
        checked(monkeypatch, with_wrong(rows_of(), ("input-256", VERSIONS[0])))


def test_an_input_at_which_the_default_does_not_run_then_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    (cold, _), _ = checked(monkeypatch, rows_of(), {"input-256": "timeout: too long"})
    assert cold.times is not None
    assert [point.name for point in cold.times.inputs] == ["input-1", "input-65536"]
    changes = cold_changes(with_caches(tuned(), cold=cold))
    assert changes[-1] == ColdChange("input-256", reason="timeout: too long")
    assert str(changes[-1]) == "input-256: not timed, for the default version does not run: timeout: too long"
    (nowhere, _), _ = checked(monkeypatch, rows_of(), dict.fromkeys(NAMES, "gone"))
    file = TunedFile.from_bytes(with_caches(tuned(), cold=nowhere).to_bytes())
    assert [each.reason for each in cold_changes(file)] == ["gone"] * 3


def test_files_without_a_check_say_nothing() -> None:
    assert cold_changes(tuned()) == () and list(cold_lines(())) == [] and not evidence_of(tuned()).is_cold
    assert tuned().to_bytes() == with_caches(tuned()).to_bytes()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], "keeps no times of its tuning that can be read"),
        ({"inputs": ["input-1"]}, r"that can be read \(there is no '"),
        (
            {"inputs": ["input-7"], "seconds": [[1, 1, 1]], "endings": [[0, 0, 0]], "left_out": {}},
            "with flushed caches are of other inputs or versions",
        ),
        (
            {"inputs": ["input-1"], "seconds": [[1, 1]], "endings": [[0, 0]], "left_out": {}},
            "with flushed caches are of other inputs or versions",
        ),
    ],
)
def test_what_is_no_check_is_refused(value: JSON, message: str) -> None:
    file = replace(tuned(), evidence={**tuned().evidence, "cold_check": value})
    with pytest.raises(InvalidInputError, match=message):
        cold_changes(file)


def test_a_check_of_cold_caches_with_cold_caches_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="for a tuning with warm ones"):
        OverInputs(method=Method(cold_cache=True), cold_check=True)


@pytest.mark.compiled_devices
def test_a_device_is_checked_after_the_tuning(device: DeviceDescription, tmp_path: Path) -> None:
    path = described(tmp_path)
    list_inputs(path)
    method = Method(repetitions=1, minimum_repetitions=1)
    settings = OverInputs(space=Space(factors=(1,), strides=(1,)), method=method, cold_check=True)
    with open_store(str(path.with_suffix(".sqlite"))) as store:
        found = tune_over_inputs(path, device, store, settings)
        rows = store.measurements(Filter())
        assert tune_over_inputs(path, device, store, settings).measured == 0
        warm = tune_over_inputs(path, device, store, replace(settings, cold_check=False))
    cold = [row for row in rows if row.method.cold_cache]
    names = {point.name for point in cold_points(found.times)}
    versions = [version.variant for version in found.file.versions]
    assert {row.subject.preset for row in cold} == names
    assert len(cold) == len(names) * len(versions) and {row.candidate for row in cold} == {*versions}
    assert replace(found.file, evidence=warm.file.evidence) == warm.file
    kept: Any = dict(found.file.evidence)
    del kept["cold_check"]
    assert kept == warm.file.evidence
    assert {each.input for each in cold_changes(found.file)} == names
