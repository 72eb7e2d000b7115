"""What may be captured without being asked for follows from memory and disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from coarsen.tuning.recording import most_captured_bytes

GIB = 1 << 30


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with 64 GiB of memory and 40 GiB free on its disk."""
    monkeypatch.setattr(os, "sysconf", lambda name: 4096 if name == "SC_PAGE_SIZE" else 64 * GIB // 4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=40 * GIB))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(("device_bytes", "most"), [(16 * GIB, GIB), (140 * GIB, 4 * GIB)])
def test_the_smaller_memory_counts(device_bytes: int, most: int, tmp_path: Path) -> None:
    assert most_captured_bytes(device_bytes, tmp_path) == most


@pytest.mark.usefixtures("host")
def test_a_full_disk_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2 * GIB))
    assert most_captured_bytes(140 * GIB, tmp_path) == GIB // 2


def test_a_system_that_does_not_say_leaves_the_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sysconf_names", {})
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=40 * GIB))
    assert most_captured_bytes(16 * GIB, tmp_path) == GIB
