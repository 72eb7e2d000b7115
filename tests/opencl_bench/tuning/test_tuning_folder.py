"""What becomes of the temporary folders of tunings that were killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from coarsen.tuning.captured_tuning import LOCK, PREFIX, tuning_folder

KILLED = """\
import os, signal
from coarsen.tuning.captured_tuning import tuning_folder
with tuning_folder() as folder:
    (folder / "buffer.npy").write_bytes(b"123")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_folder_goes_with_its_tuning(temporary: Path) -> None:
    with tuning_folder() as folder:
        assert folder.parent == temporary
        assert (folder / LOCK).exists()
    assert list(temporary.iterdir()) == []


def test_folders_in_use_stay() -> None:
    with tuning_folder() as first, tuning_folder() as second:
        assert first.exists()
        assert second.exists()


def test_the_folder_of_a_killed_process_is_removed_by_the_next() -> None:
    command = [sys.executable, "-c", KILLED]
    killed = Path(subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip())
    assert (killed / "buffer.npy").exists()
    with tuning_folder():
        assert not killed.exists()


def test_what_is_not_a_tunings_stays(temporary: Path) -> None:
    target = temporary / "target"
    target.mkdir()
    (target / LOCK).write_bytes(b"")
    link, bare, linked = (temporary / f"{PREFIX}{name}" for name in ("link", "bare", "linked"))
    link.symlink_to(target)
    bare.mkdir()
    linked.mkdir()
    (linked / LOCK).symlink_to(target / LOCK)
    (temporary / f"{PREFIX}file").write_bytes(b"")
    with tuning_folder():
        pass
    assert (target / LOCK).exists()
    assert all(each.exists() for each in (link, bare, linked, temporary / f"{PREFIX}file"))
