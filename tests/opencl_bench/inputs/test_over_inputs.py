"""A described kernel is tuned over its inputs on a device, and what comes of it is a tuned file that chooses."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.choosing import asked_values
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.frontend.source_text import source_hash_of
from coarsen.opencl_bench import tune_inputs
from coarsen.opencl_bench.inputs import over_inputs
from coarsen.opencl_bench.inputs.described import described_points, described_versions
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.evidence import evidence_of
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, measure_versions
from coarsen.opencl_bench.inputs.over_inputs import OverInputs, listed_presets, tune_over_inputs
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.engine.observer import CollectingObserver, SweepObserver
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.records.measurement import CheckedAgainst, Invalidity, Method
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant import Variant
from tests.dispatch.files import chooser
from tests.opencl_bench.workloads.described.row_sums import KERNEL, write_sums

DECLARED = """\
[parameters]
BLKSZ = [32]
PARTS = [2]
LU = [1]

[inputs]
ranges = { height = [64, 256], width = [1, 64] }
multiples = { height = 64 }
count = 2

[sizes.test]"""
METHOD = Method(repetitions=3, minimum_repetitions=3, interval_width=10.0)
SETTINGS = OverInputs(space=Space(factors=(1, 2), strides=(1,)), method=METHOD)


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The file of a kernel with two implementations and four inputs, which are listed."""
    path = write_sums(tmp_path, ("[sizes.test]", DECLARED))
    list_inputs(path)
    return path


def variant(implementation: str) -> Variant:
    macros = {"BLKSZ": "32", "IMPL": implementation, "LU": "1", "PARTS": "2"}
    return Variant((32,), definitions=tuple(macros.items()))


def test_points_have_the_features_of_their_launches(described: Path) -> None:
    description, benchmark = read_description(described), read_benchmark(described)
    presets = listed_presets(description, None)
    assert len(presets) == 2
    points = described_points(description, benchmark, presets)
    assert [point.features["length"] for point in points] == [benchmark.presets[p].size["width"] for p in presets]
    assert [point.features["rows"] for point in points] == [benchmark.presets[p].size["height"] for p in presets]
    assert len({point.group for point in points}) == 2
    with pytest.raises(InvalidInputError, match=r"inputs\.count: 2 inputs are listed: write count = 5"):
        listed_presets(description, 5)


def test_a_file_without_features_is_told_what_to_add(tmp_path: Path) -> None:
    removed = [("#pragma coarsen input length = width\n", ""), ('[features]\nrows = "height"\n', "")]
    path = write_sums(tmp_path, *removed)
    with pytest.raises(InvalidInputError, match=r"features: none are there to choose by; add \[features\]"):
        described_points(read_description(path), read_benchmark(path), ("test",))


def test_launches_of_versions_are_told_by_the_arguments(described: Path) -> None:
    at_once, in_parts = described_versions(read_description(described), (variant("0"), variant("1")))
    assert at_once.launches == (TunedLaunch("sum", ("height",)),)
    assert in_parts.launches == (
        TunedLaunch(
            "sum_parts", ("PARTS", "height"), ("PARTS", "BLKSZ // 2"), (), ("parts", "values", "height", "width")
        ),
        TunedLaunch("finish", ("height",), ("1",), (), ("sums", "parts")),
    )
    assert in_parts.scratch == (("parts", "(height * PARTS) * 4"),)


@pytest.mark.compiled_devices
def test_versions_whose_scratch_differs_are_compared(device: DeviceDescription, tmp_path: Path) -> None:
    path = write_sums(tmp_path)
    versions = [replace(variant("1"), definitions=(*variant("1").definitions[:3], ("PARTS", n))) for n in "24"]
    plan = VersionsPlan(path, device.index, ("test",), tuple(versions), variant("0"), METHOD)
    with open_store(str(tmp_path / "rows.sqlite")) as store:
        rows = measure_versions(plan, store).rows
    assert [row.candidate for row in rows] == [variant("0"), *versions]
    assert {(row.invalidity, row.oracle) for row in rows[1:]} == {(Invalidity.CORRECT, CheckedAgainst.DEFAULT)}


def test_a_sequence_whose_size_is_no_argument_is_refused(tmp_path: Path) -> None:
    path = write_sums(tmp_path, ("[sizes.test]", DECLARED), ('value = "height"', 'value = "height + 0"'))
    with pytest.raises(InvalidInputError, match="no argument of sum has the value of 'height'"):
        described_versions(read_description(path), (variant("0"), variant("1")))


@pytest.mark.compiled_devices
def test_a_busy_machine_is_measured_again_and_nothing_is_chosen_on_it(
    device: DeviceDescription, described: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widest = "coarsen.tuning.measure.speedup.WIDEST"
    with open_store(str(described.with_suffix(".sqlite"))) as store:
        tune_over_inputs(described, device, store, SETTINGS)
        monkeypatch.setattr(widest, -1.0)
        seen = CollectingObserver(SweepObserver())
        with pytest.raises(DeviceError, match=r"the machine is busy: the intervals of (\d+) of \1 measurements"):
            tune_over_inputs(described, device, store, SETTINGS, seen)
        # A few are measured again only as long as there is time; with none left there are two versions.
        monkeypatch.setattr(over_inputs, "_MOST_DOUBTFUL", 1)
        short = tune_over_inputs(described, device, store, replace(SETTINGS, seconds=1e-9))
        assert short.measured == 0 and len(short.times.versions) == 2
        monkeypatch.setattr(widest, math.inf)
        assert seen.measured > 0 and tune_over_inputs(described, device, store, SETTINGS).measured == 0


@pytest.mark.parametrize(("stored", "measured"), [(0, 4), (1, 5), (2, 6), (8, 8)])
def test_rows_of_the_store_do_not_tell_how_long_others_take(
    stored: int, measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of eight versions at two inputs each row takes 10 seconds; there are 89."""
    versions, seconds = tuple(Variant((k + 1,)) for k in range(8)), [0.0]
    known = {(each, preset) for each in versions[:stored] for preset in ("a", "b")}

    def measure(plan: VersionsPlan, _: object, observer: CollectingObserver, **__: object) -> CollectingObserver:
        found = CollectingObserver(observer)
        for row in ((each, preset) for each in plan.versions for preset in plan.presets):
            seconds[0] += 0.01 if row in known else 10
            kept: Any = SimpleNamespace(candidate=row[0], compile_seconds=4.0, measure_seconds=6.0)
            found.stored(kept, row not in known)
            known.add(row)
        return found

    monkeypatch.setattr(over_inputs, "measure_versions", measure)
    monkeypatch.setattr(over_inputs, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    monkeypatch.setattr(over_inputs, "is_uncertain", lambda _: False)
    plan, store = VersionsPlan("", "", ("a", "b"), versions, Variant((9,))), SimpleNamespace()
    collector, pool = CollectingObserver(SweepObserver()), SimpleNamespace()
    rows = over_inputs._measured(plan, cast(Any, store), collector, cast(Any, pool), 89)
    assert len({row.candidate for row in rows}) == measured


@pytest.mark.compiled_devices
def test_tuning_makes_a_file_that_chooses_for_every_input(device: DeviceDescription, described: Path) -> None:
    with open_store(str(described.with_suffix(".sqlite"))) as store:
        tuned = tune_over_inputs(described, device, store, SETTINGS)
        again = tune_over_inputs(described, device, store, SETTINGS)
    assert tuned.measured > 0 and again.measured == 0
    assert again.file.to_bytes() == tuned.file.to_bytes()
    store_path = described.with_suffix(".sqlite")
    from_python = tune_inputs(described, device.index, space=SETTINGS.space, method=METHOD, store=store_path)
    assert from_python.to_bytes() == tuned.file.to_bytes()
    file = TunedFile.from_bytes(tuned.file.to_bytes())
    assert (file.kernel, file.device, file.source_hash) == ("sum", device.name, source_hash_of(KERNEL))
    assert file.arguments[2] == KernelArgument("height", ArgumentKind.WHOLE)
    assert file.versions[file.default].variant == variant("0")
    # Coarsened where it is one launch; two launches run as they are written.
    assert all(dict(v.definitions)["IMPL"] == "0" for v in tuned.times.versions if v.is_coarsened)
    # The default, and what won with its neighbours: of the three that there are, which ones depends on the times.
    assert 2 <= len(tuned.times.versions) <= 3
    asked, choose = asked_values(file), chooser(file)
    for point in tuned.times.inputs:
        version = choose({name: point.features.get(name, 1.0) for name in asked.inputs})
        assert version is not None and 0 <= version < len(file.versions)
    kept = evidence_of(file).times
    assert kept.inputs == tuned.times.inputs and (kept.seconds == tuned.times.seconds).all()
