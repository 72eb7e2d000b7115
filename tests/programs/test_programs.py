"""The command that runs other people's kernels and programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from tests.programs import __main__ as programs

KERNELS = """\
kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }
kernel void waits(volatile global int *lock) { while (atomic_cmpxchg(lock, 0, 1)) ; atomic_xchg(lock, 0); }
kernel void next(global int *a) { a[get_global_id(0)] += 1; }
"""
# Stands in for coarsen: writes a text that no device builds.
WRITES_NONSENSE = "import pathlib, sys; pathlib.Path(sys.argv[-1]).write_text('kernel void twice(global int *')"


@pytest.fixture
def run(device: DeviceDescription, tmp_path: Path) -> programs.Run:
    return programs.Run(device, tmp_path, limit=120.0)


def wrong(run: programs.Run, source: str, folder: Path) -> list[str]:
    file, texts = folder / "kernels.cl", folder / "texts"
    file.write_text(source)
    texts.mkdir()
    return [*programs.wrong_texts(file, run, texts)]


def test_several_kernels_some_of_them_refused_are_right(run: programs.Run, tmp_path: Path) -> None:
    assert wrong(run, KERNELS, tmp_path) == []
    # The first way merges nothing, so that none waits for another.
    written = {path.name for path in (tmp_path / "texts").glob("[1-9]/*")}
    assert written == {"coarsened.twice.cl", "coarsened.next.cl"}


def test_what_no_device_builds_is_wrong(
    run: programs.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "COARSEN", (sys.executable, "-c", WRITES_NONSENSE))
    assert len(wrong(run, KERNELS, tmp_path)) == len(programs.WAYS)


def test_what_the_device_does_not_build_as_it_is_is_left_out(run: programs.Run, tmp_path: Path) -> None:
    assert wrong(run, "kernel void twice(global int *", tmp_path) == []
