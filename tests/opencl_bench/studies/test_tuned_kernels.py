"""The study of tuned kernels: its ratios, what it takes for the best known, what it measures again."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.studies import tuned_kernels
from coarsen.opencl_bench.studies.best_known import known_best, known_of, merged
from coarsen.opencl_bench.studies.start_up import starts_of, summarised
from coarsen.opencl_bench.studies.tuned_kernel import measured
from coarsen.opencl_bench.studies.tuned_rows import (
    AS_IT_IS,
    CHOSEN,
    KNOWN,
    LOCAL_SIZE,
    Ratio,
    known_label,
    problem_of,
    ratio,
    read_rows,
    write_rows,
)
from coarsen.opencl_bench.studies.tuned_tables import csv_of, left_out, summary, table, write_csv
from coarsen.opencl_bench.workloads.lookup import FURTHER, SUITE, names_of
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json
from tests.opencl_bench.measurements import some_measurement


def again(**nanoseconds: float) -> dict[str, object]:
    """What a process says that timed a choice; `known_1` for the first of the best known."""
    labels = {"own": AS_IT_IS, "chosen": CHOSEN, "size": LOCAL_SIZE}
    labels |= {f"known_{place + 1}": known_label(place) for place in range(3)}
    times = {labels[name]: value for name, value in nanoseconds.items()}
    facts = {"wrong": [], "chosen": "factor 4 along dimension 0", "local_size": [64], "not_launchable": 0}
    return {**facts, "first_seconds": 0.2, "nanoseconds": times}


def row(kernel: str = "heat", **changes: object) -> dict[str, Any]:
    tuned = {"wrong": [], "first_seconds": 19.0}
    usual = {"device": "pocl", "preset": "cpu", "seconds": 20.0, "known": {}, "tuned": tuned}
    return {"kernel": kernel, **usual, "again": [again(own=2.0, chosen=1.0)], **changes}


def shown(*tables: object) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(*tables)
    return console.export_text()


def test_a_ratio_is_the_median_of_the_processes() -> None:
    found = ratio(row(again=[again(own=own, chosen=1.0) for own in (2.0, 5.0, 3.0)]), AS_IT_IS)
    assert found == Ratio(3.0, 2.0, 5.0)
    assert str(found) == "3.00 (2.00 to 5.00)"


def test_of_the_best_known_the_fastest_counts() -> None:
    first = again(own=4.0, chosen=1.0, known_1=0.75, known_2=0.625)
    second = again(own=4.0, chosen=1.0, known_1=0.25, known_2=0.625)
    assert ratio(row(again=[first, second]), KNOWN) == Ratio(0.5, 0.25, 0.75)
    assert ratio(row(again=[first, second]), LOCAL_SIZE) is None


def test_rows_that_count_for_nothing_are_named_with_their_reason() -> None:
    wrong = row("blur", tuned={"wrong": ["blurred: 3 wrong elements"], "first_seconds": 3.0})
    failed = row("mt", again=[{"failed": "no such device"}])
    rows = [row(), wrong, failed]
    assert [problem_of(each) for each in rows] == [
        "",
        "WRONG: blurred: 3 wrong elements",
        "failed: no such device",
    ]
    lines = "\n".join(left_out(rows))
    assert "blur on pocl: WRONG" in lines
    assert "mt on pocl: failed: no such device" in lines
    assert "heat on pocl: no sweep of it is known" in lines
    assert "2.000" in shown(summary(rows)) and "ten: 1" in shown(summary(rows))


def test_the_table_has_a_line_for_each_row() -> None:
    starts = {"plain": {"seconds": 0.25}, "remembered": {"seconds": 0.5}}
    text = shown(table([row(starts=starts), row("mt", tuned={"failed": "out of memory"})]))
    for wanted in ("0.25", "0.50", "factor 4 along dimension 0; 64", "failed: out of memory", "19.0"):
        assert wanted in text


def test_means_are_of_the_seventeen_the_ten_and_all() -> None:
    text = shown(summary([row("mt", again=[again(own=8.0, chosen=1.0)]), row("heat")]))
    assert all(wanted in text for wanted in ("seventeen: 1", "8.000", "ten: 1", "2.000", "all: 2", "4.000"))


def test_a_loss_to_the_local_size_is_told_where_others_can_not_be_launched() -> None:
    process = {**again(own=2.0, chosen=1.0), "not_launchable": 2}
    lines = list(left_out([row("dotParts", known={"lost to the local size": 1.25}, again=[process])]))
    assert any("1.25 times as fast" in line for line in lines)


def test_names_of_kernels() -> None:
    assert names_of("seventeen") == tuple(SUITE)
    assert names_of("ten") == tuple(FURTHER)
    assert names_of("all") == (*SUITE, *FURTHER)
    assert names_of("heat,mt,heat") == ("heat", "mt")
    with pytest.raises(InvalidInputError, match="no kernel 'heats'"):
        names_of("heat,heats")


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    assert read_rows(path) == []
    write_rows([row()], path)
    assert read_rows(path) == [row()]
    path.write_text('{"no": "rows"}')
    with pytest.raises(InvalidInputError, match=r"rows\.json holds no rows"):
        read_rows(path)


def test_what_the_file_has_is_not_measured_again(
    tmp_path: Path, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.json"
    name = device.index
    write_rows([row(device=name), row("blur", device=name, again=[{"failed": "killed"}])], path)
    asked = []

    def case(kernel: str, on: str, *_: object) -> dict[str, Any]:
        asked.append((kernel, on))
        return row(kernel, device=on)

    monkeypatch.setattr(tuned_kernels, "case", case)
    words = {"device": [name], "kernels": "heat,blur,gray", "preset": "cpu", "seconds": 20.0, "best_known": []}
    rows = tuned_kernels.measure(argparse.Namespace(**words, output=path))
    assert asked == [("blur", name), ("gray", name)]
    assert [each["kernel"] for each in rows] == ["heat", "blur", "gray"]
    assert read_rows(path) == rows


def gain(times: float, local_size: int, factor: int = 1, **changes: object) -> Measurement:
    """A measured variant of dotParts, so many times as fast as the baseline."""
    coarsenings = (Coarsening(factor, 0, 1),) if factor > 1 else ()
    given = {
        "benchmark": "dotParts",
        "kernel": "dotParts",
        "preset": "cpu",
        "baseline": Variant((512,)),
        **changes,
    }
    lasted = int(1e6 / times)
    return some_measurement(
        candidate=Variant((local_size,), coarsenings),
        nanoseconds=(lasted,) * 5,
        baseline_nanoseconds=(1_000_000,) * 5,
        **given,
    )


def test_the_best_known_are_of_any_local_size_and_of_the_programs_own() -> None:
    rows = [gain(1.0, 512), gain(0.9, 256), gain(2.0, 512, 4), gain(1.5, 256, 2), gain(1.2, 256, 4)]
    rows += [gain(9.0, 256, 8, preset="gpu"), gain(9.0, 256, 16, invalidity=Invalidity.CORRECTNESS)]
    rows += [gain(9.0, 256, 32, baseline=Variant((64,)))]
    known = known_of("dotParts", "cpu", rows)
    assert known["timed"] == 5
    assert [each["local_size"] for each in known[LOCAL_SIZE]] == [[512], [256]]
    assert known[KNOWN][:2] == [variant_to_json(rows[2].candidate), variant_to_json(rows[3].candidate)]
    assert known["lost to the local size"] == pytest.approx(2.0 / 1.5, rel=1e-3)


def test_a_confirmation_counts_more_than_the_sweep() -> None:
    """The largest of many noisy numbers is too large."""
    lucky, steady = gain(3.0, 256, 4), gain(2.0, 256, 2)
    confirmations = [
        gain(times, 256, 4, role=Role.CONFIRMATION, invocation=number)
        for number, times in enumerate((1.0, 1.2, 1.1))
    ]
    known = known_of("dotParts", "cpu", [gain(1.0, 512), lucky, steady, *confirmations])
    assert known["timed"] == 3
    assert known[KNOWN][0] == variant_to_json(steady.candidate)


def test_what_is_known_travels_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    first, second = {"pocl": {"heat": {"timed": 1}, "mt": {"timed": 2}}}, {"pocl": {"heat": {"timed": 3}}}
    path.write_text(json.dumps(merged([first, second])))
    assert known_best(["pocl"], "cpu", path) == {"pocl": {"heat": {"timed": 3}, "mt": {"timed": 2}}}
    path.write_text("[1]")
    with pytest.raises(InvalidInputError, match=r"known\.json"):
        known_best(["pocl"], "cpu", path)


@pytest.mark.compiled_devices
@pytest.mark.parametrize(("kernel", "skipped"), [("gray", 0), ("dotParts", 2)])
def test_only_what_the_drop_in_can_launch_is_timed(
    device: DeviceDescription, kernel: str, skipped: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`dotParts` adds up by work-groups, `gray` can't tell them."""
    monkeypatch.setenv("COARSEN_STORE", str(tmp_path / "store.sqlite"))
    own, other = Variant((256,), (Coarsening(2, 0, 1),)), Variant((128,), (Coarsening(2, 0, 1),))
    wanted = {
        LOCAL_SIZE: [variant_to_json(Variant((128,))), variant_to_json(Variant((256,)))],
        KNOWN: [variant_to_json(other), variant_to_json(own)],
    }
    words = {
        "kernel": kernel,
        "device": device.index,
        "preset": "test",
        "seconds": 0.0,
        "others": json.dumps(wanted),
    }
    found = measured(argparse.Namespace(**words))
    known = [known_label(place) for place in range(1 if skipped else 2)]
    assert found["wrong"] == []
    assert found["not_launchable"] == skipped
    assert isinstance(found["nanoseconds"], dict)
    assert set(found["nanoseconds"]) == {AS_IT_IS, CHOSEN, LOCAL_SIZE, *known}


@pytest.mark.compiled_devices
def test_starts_are_of_the_program_alone_and_with_coarsen(device: DeviceDescription, tmp_path: Path) -> None:
    """Also with local memory, scalars and, in the suite, macros."""
    environment = tuned_kernels.environment_in(tmp_path)
    starts = starts_of("dotParts", device.index, "test", 1, tmp_path, environment)
    assert set(starts) == {"plain", "remembered"}, starts
    assert all(set(each["parts"]) == {"import", "context", "build", "launch"} for each in starts.values())


def test_the_first_start_fills_the_caches() -> None:
    runs = [{"import": 9.0, "build": 1.0}, {"import": 0.2, "build": 0.1}, {"import": 0.4, "build": 0.1}]
    found = summarised(runs)
    assert found["first"] == 10.0
    assert found["seconds"] == pytest.approx(0.4)
    assert found["parts"] == {"import": pytest.approx(0.3), "build": pytest.approx(0.1)}


def test_a_table_in_csv_has_the_rows_that_count_sorted() -> None:
    starts = {"plain": {"seconds": 0.2251}, "remembered": {"seconds": 0.5}}
    rows = [
        row("heat", again=[again(own=2.0, chosen=1.0), again(own=3.0, chosen=1.0)], starts=starts),
        row("blur", again=[again(own=1.0, chosen=1.0, known_1=0.5, known_2=0.9)]),
        row("wrong", tuned={"failed": "killed"}),
    ]
    blur, heat = csv.DictReader(io.StringIO(csv_of(rows)))
    assert (blur["kernel"], blur["of_best_known"], blur["over_local_size"]) == ("blur", "0.500", "")
    assert (heat["over_own"], heat["over_own_least"], heat["over_own_most"]) == ("2.500", "2.000", "3.000")
    assert (heat["seconds"], heat["start_plain_seconds"], heat["local_size"]) == ("19.0", "0.225", "64")


def test_a_table_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="missing"):
        write_csv([row()], tmp_path / "missing" / "tuned.csv")
