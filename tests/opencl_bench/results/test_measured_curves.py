"""Curves from measurements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.models.examples import Curve
from coarsen.opencl_bench.results.exchange.files import write_results
from coarsen.opencl_bench.results.measured_curves import curves_of_results, read_curves
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

OWN = (16, 16)  # sgemm's local size at every preset


def row(
    speedup: float,
    factor: int = 1,
    dimension: int = 0,
    stride: int = 1,
    local_size: tuple[int, ...] = OWN,
    **changes: Any,  # noqa: ANN401 (fields of several types)
) -> Measurement:
    """A comparison of sgemm that is so many times as fast as the baseline of all comparisons."""
    coarsenings = (Coarsening(factor, dimension, stride),) if factor > 1 else ()
    if changes.get("invalidity", Invalidity.CORRECT) is Invalidity.CORRECT:
        changes = {"nanoseconds": (1000,) * 3, "baseline_nanoseconds": (round(1000 * speedup),) * 3, **changes}
    return some_measurement(
        **{"candidate": Variant(local_size, coarsenings), "baseline": Variant((32, 8)), **changes}
    )


def curves(rows: Sequence[Measurement], **options: Any) -> dict[tuple[str, str, int], Curve]:  # noqa: ANN401
    return {curve.place: curve for curve in curves_of_results(rows, **options).curves}


def test_over_the_same_local_size_uncoarsened() -> None:
    found = curves(
        [row(0.5), row(1.0, 2), row(2.0, 4), row(0.25, 8), row(0.8, 2, 1), row(1.0, local_size=(32, 8))]
    )
    assert set(found) == {("sgemm", "intel", 0), ("sgemm", "intel", 1)}
    along = found["sgemm", "intel", 0]
    assert along.speedup == pytest.approx({2: 2.0, 4: 4.0, 8: 0.5})
    assert (along.best_factor, along.local_size) == (4, OWN)
    assert found["sgemm", "intel", 1].speedup == pytest.approx({2: 1.6})


def test_other_strides_local_sizes_and_roles_are_no_part_of_it() -> None:
    others = [
        row(9.0, 2, stride=8),
        row(9.0, 2, local_size=(32, 8)),
        row(9.0, 4, role=Role.CONFIRMATION),
        row(9.0, role=Role.SELECTION),
        row(9.0, 16, candidate=Variant(OWN, (Coarsening(4, 0), Coarsening(4, 1)))),
        row(9.0, 8, candidate=Variant(OWN, (Coarsening(8, 0),), (("TILE", "4"),))),
    ]
    assert curves([row(1.0), row(1.5, 2), *others])["sgemm", "intel", 0].speedup == pytest.approx({2: 1.5})


@pytest.mark.parametrize(
    "ending", [Invalidity.CONSTRAINTS, Invalidity.COMPILE, Invalidity.RUNTIME, Invalidity.CORRECTNESS]
)
def test_what_could_not_run_is_missing(ending: Invalidity) -> None:
    found = curves([row(1.0), row(1.5, 2), row(0, 4, invalidity=ending)])
    assert found["sgemm", "intel", 0].speedup == pytest.approx({2: 1.5})


def test_what_was_given_up_is_a_loss() -> None:
    found = curves([row(2.0), row(1.0, 2), row(0, 4, invalidity=Invalidity.TIMEOUT)])["sgemm", "intel", 0]
    assert found.speedup == {2: pytest.approx(0.5), 4: GIVEN_UP_SPEEDUP}
    assert found.best_factor == 1


@pytest.mark.parametrize(
    "late",
    [{"code_hash": ""}, {"reason": "no answer within 150.0 s while it was built"}],
    ids=["ours", "driver's"],
)
def test_what_was_not_compiled_in_time_is_missing(late: dict[str, Any]) -> None:
    rows = [row(2.0), row(1.0, 2), row(0, 4, invalidity=Invalidity.TIMEOUT, **late)]
    assert curves(rows)["sgemm", "intel", 0].speedup == {2: pytest.approx(0.5)}


def test_without_the_uncoarsened_launch_there_is_no_curve() -> None:
    for missing in ([], [row(0, invalidity=Invalidity.TIMEOUT)], [row(1.0, local_size=(32, 8))]):
        data = curves_of_results([*missing, row(1.5, 2)])
        assert (data.curves, len(data.notes)) == ((), 1)
        assert data.notes[0].startswith("sgemm on intel was not measured both uncoarsened and coarsened")


def test_devices_that_no_model_is_for_are_named() -> None:
    data = curves_of_results([row(1.0), row(1.5, 2), row(1.0, device="Voodoo", platform="3dfx")])
    assert len(data.curves) == 1
    assert data.notes == ("no model is for the device Voodoo (3dfx)",)


def test_of_several_forms_opencl_c() -> None:
    as_ptx = [row(1.0, form="ptx"), row(7.0, 2, form="ptx"), row(8.0, 4, form="ptx")]
    assert curves([row(1.0), row(1.5, 2), *as_ptx])["sgemm", "intel", 0].speedup == pytest.approx({2: 1.5})
    assert curves(as_ptx)["sgemm", "intel", 0].speedup == pytest.approx({2: 7.0, 4: 8.0})


def test_of_several_drivers_the_latest_run() -> None:
    later: dict[str, Any] = {"driver_version": "2025", "started_at": "2026-12-01T00:00:00+00:00"}
    found = curves([row(1.0), row(1.5, 2), row(1.0, 1, **later), row(3.0, 2, **later)])
    assert found["sgemm", "intel", 0].speedup == pytest.approx({2: 3.0})


def test_a_row_measured_again_counts_once() -> None:
    again = row(3.0, 2, started_at="2026-11-21T00:00:00+00:00")
    for rows in ([row(1.0), row(1.5, 2), again], [again, row(1.5, 2), row(1.0)]):
        assert curves(rows)["sgemm", "intel", 0].speedup == pytest.approx({2: 3.0})


def test_what_was_timed_against_another_baseline_is_left_out() -> None:
    earlier: dict[str, Any] = {"baseline": Variant((64, 4)), "started_at": "2020-01-01T00:00:00+00:00"}
    found = curves([row(1.0, **earlier), row(9.0, 8, **earlier), row(0.5), row(1.0, 2)])
    assert found["sgemm", "intel", 0].speedup == pytest.approx({2: 2.0})


def test_of_several_presets_the_newest_is_taken_and_the_others_are_named() -> None:
    early: dict[str, Any] = {"preset": "paper", "started_at": "2020-01-01T00:00:00+00:00"}
    rows = [row(1.0), row(1.5, 2), row(1.0, **early), row(2.0, 2, **early)]
    data = curves_of_results(rows)
    assert [curve.speedup for curve in data.curves] == [pytest.approx({2: 1.5})]
    assert data.notes == ("sgemm on intel: taken at preset cpu, the newest, not at paper (--preset chooses)",)
    assert curves(rows, preset="paper")["sgemm", "intel", 0].speedup == pytest.approx({2: 2.0})


def test_an_unknown_preset_names_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_results([row(1.0), row(1.5, 2), row(1.0, preset="paper")], path)
    message = f"{path}: nothing was measured at preset 'huge'; there is: cpu, paper"
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        read_curves(str(path), "huge")


def test_kernels_that_nobody_knows() -> None:
    with pytest.raises(InvalidInputError, match="the kernel 'mine' is not in the suite"):
        curves([row(1.0, benchmark="mine")])


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl", "store.sqlite"])
def test_from_any_file(tmp_path: Path, name: str) -> None:
    rows, path = [row(1.0), row(1.5, 2)], tmp_path / name
    if path.suffix == ".sqlite":
        with open_store(str(path)) as store:
            store.add_all(rows)
    else:
        write_results(rows, path)
    assert [curve.speedup for curve in read_curves(str(path)).curves] == [pytest.approx({2: 1.5})]


def test_a_file_without_any_curve_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    write_results([row(1.5, 2)], path)
    with pytest.raises(
        InvalidInputError, match=r"rows.parquet: no kernel was measured uncoarsened and coarsened; sgemm"
    ):
        read_curves(str(path))
