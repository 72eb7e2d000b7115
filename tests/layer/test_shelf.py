"""What gets onto the shelf and what leaves it: rows of the sizes that have one, texts of all bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coarsen.cli.run_report import read_counts
from coarsen.devices.discovery import DeviceDescription
from coarsen.layer.log import RecordedProgram
from coarsen.layer.program import counted_run
from coarsen.layer.script import Script
from coarsen.layer.shelf import shelve
from coarsen.layer.tuning import tune_rows
from coarsen.layer.unit import SUFFIX, read_rows
from coarsen.runtime.code import pyopencl_headers
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.store.schema import Filter
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.scripts import SOURCE, compiled
from tests.layer.conftest import Build, Record, platform_of
from tests.layer.remembered_kinds import kind, remember, remember_rows
from tests.layer.shelf_files import SOURCE as SHELF_SOURCE

FOUR = Variant((), (Coarsening(4),))


@pytest.fixture
def intel(working_devices: tuple[DeviceDescription, ...], monkeypatch: pytest.MonkeyPatch) -> DeviceDescription:
    device = compiled(working_devices)
    platform_of(device, monkeypatch)
    return device


def test_what_is_forgotten_leaves_nothing(intel: DeviceDescription, tmp_path: Path) -> None:
    """The unit of the text and that of the binary which PyOpenCL keeps of it."""
    store, shelf = str(tmp_path / "store.sqlite"), tmp_path / "units" / "0"
    program = RecordedProgram("", SOURCE, f"-I {pyopencl_headers()}")
    kinds = [kind(program, "scale", intel, (1024,), (64,))]
    remember(store, intel, [(kinds[0], FOUR)])
    assert [each.reason for each in shelve(shelf, program, intel, kinds, store)] == [""]
    assert len([*shelf.glob(f"*{SUFFIX}")]) == 2
    with open_store(store) as opened:
        assert opened.remembered.forget(Filter()) == 1
    assert shelve(shelf, program, intel, kinds, store) == []
    assert [*shelf.iterdir()] == []


def test_a_size_that_does_not_divide_leaves_the_others_their_rows(
    intel: DeviceDescription, tmp_path: Path
) -> None:
    """Where the driver chooses local sizes, each size of a class has a row of its own."""
    store, shelf = str(tmp_path / "store.sqlite"), tmp_path / "units" / "0"
    program = RecordedProgram("", SOURCE, "")
    kinds = [kind(program, "scale", intel, (size,), None) for size in (1120, 1056, 1248)]
    remember(store, intel, [(kinds[1], Variant((), (Coarsening(3, stride=8),)))])
    runs, left = shelve(shelf, program, intel, kinds, store)
    assert runs.runs and not runs.reason and left.reason.startswith("not at all sizes: ")
    (unit,) = shelf.iterdir()
    assert len(read_rows(unit)) == 2
    assert shelve(shelf, program, intel, kinds[:1], store)[0].reason and not [*shelf.iterdir()]


@contextmanager
def untouched(_kernel: str, settings: Tune) -> Iterator[Tune]:
    yield settings
    raise AssertionError("everything is remembered")


@pytest.mark.parametrize(
    ("comment", "reason"),
    [("\u00e9".encode(), ""), (b"\xe9", "not in UTF-8"), (b"\0", "a byte that is zero")],
)
def test_texts_of_all_bytes(
    intel: DeviceDescription,
    record: Record,
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    comment: bytes,
    reason: str,
) -> None:
    """The layer and the shelf have one key for a text, or none."""
    source, store, shelf = tmp_path / "source.cl", str(tmp_path / "store.sqlite"), tmp_path / "units" / "0"
    monkeypatch.setenv("SOURCE", str(source))
    monkeypatch.setattr("coarsen.layer.tuning.WORTH_TUNING", 0.0)
    source.write_bytes(SHELF_SOURCE.encode() + b"// " + comment + b"\n")
    recording = record(build("start")).recording
    rows = recording.rows
    if not rows[0].program.problem:
        remember_rows(store, intel, rows, FOUR)
    (finding,) = tune_rows(rows, Tune(store=store), untouched, shelf).findings
    assert reason in " ".join((finding.reason, *recording.not_recorded))
    assert bool(finding.shelved) == shelf.exists() == (not reason)
    code, _ = counted_run(Script(str(build("start"))), build("start"), shelf, tmp_path)
    counts = read_counts(code, 0.0, shelf, [*tmp_path.glob("counts-*")])
    assert code == 0 and [each.coarsened for each in counts.kernels] == [1] * (not reason)
