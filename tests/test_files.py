"""Files are replaced in one step, which also a power failure can't halve."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coarsen.files import replace_file


def test_the_content_is_on_the_disk_before_it_has_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    synced: list[tuple[str, str]] = []
    sync = os.fsync

    def watch(descriptor: int) -> None:
        synced.append((Path(f"/proc/self/fd/{descriptor}").readlink().suffix, path.read_text()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    replace_file(b"new", path)
    assert synced == [(".part", "old"), ("", "new")], "the file, and after the renaming its folder"
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]
