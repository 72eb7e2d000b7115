"""One sweep at a time measures on a device; a lock that can't be had costs no sweep."""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.processes.device_lock import FOLDER_VARIABLE, device_lock


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache"


def described(name: str, index: str = "0:0", kind: str = "gpu") -> DeviceDescription:
    device = SimpleNamespace(device_types=(kind,), platform_name="a platform", name=name, index=index)
    return cast("DeviceDescription", device)


CPU = described("PoCL", kind="cpu")


def is_waited_for(held: DeviceDescription = CPU, wanted: DeviceDescription = CPU) -> bool:
    """Whether the second lock can't be had while the first one is held."""
    got = threading.Event()

    def get() -> None:
        with device_lock(wanted):
            got.set()

    with ThreadPoolExecutor(1) as pool:
        with device_lock(held):
            future = pool.submit(get)
            waited = not got.wait(0.2)
        future.result(10)
    return waited


def test_a_device_has_one_lock_and_all_processors_share_one() -> None:
    assert is_waited_for(described("H200"), described("H200"))
    assert not is_waited_for(described("H200"), described("H200", "0:1"))
    assert is_waited_for(CPU, described("Intel", "1:0", "cpu"))


def test_where_the_cache_cannot_be_written_to_another_folder_serves(cache: Path) -> None:
    cache.write_text("a file, where no folder can be made")
    assert is_waited_for()


def test_the_folder_can_be_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "shared"))
    assert is_waited_for()
    assert (tmp_path / "shared" / "cpu").exists()
    assert not cache.exists()


def test_where_nothing_can_be_written_to_there_is_no_lock(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.write_text("a file, where no folder can be made")
    monkeypatch.setattr("tempfile.tempdir", str(cache))
    with caplog.at_level(logging.WARNING, "coarsen"):
        start = time.monotonic()
        assert not is_waited_for()
        assert time.monotonic() - start < 5
    assert "no lock keeps other sweeps from this device" in caplog.text


def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "precious"
    other.write_text("untouched")
    (cache / "coarsen" / "locks").mkdir(parents=True)
    (cache / "coarsen" / "locks" / "cpu").symlink_to(other)
    with device_lock(CPU):
        assert other.read_text() == "untouched"
    assert is_waited_for(), "another folder serves"


@pytest.mark.parametrize(("waiting", "holder"), [(1234, "another thread of this program"), (99, "process 1234")])
def test_whoever_waits_is_told_for_whom(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, waiting: int, holder: str
) -> None:
    monkeypatch.setattr("coarsen.tuning.processes.device_lock.SILENT_SECONDS", 0.05)
    # Whoever holds it signs first.
    numbers = itertools.chain([1234], itertools.repeat(waiting))
    monkeypatch.setattr(
        "coarsen.tuning.processes.device_lock.os", SimpleNamespace(**{**vars(os), "getpid": lambda: next(numbers)})
    )
    with caplog.at_level(logging.WARNING, "coarsen"):
        assert is_waited_for()
    (record,) = caplog.records
    assert record.getMessage() == f"{holder} measures on this device; waiting until it has ended"
