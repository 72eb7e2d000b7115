"""Files are replaced in one step, which also a power failure can't halve."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

from coarsen.base import files
from coarsen.base.files import MEBIBYTE, read_file, replace_file, replace_file_by
from coarsen.errors import InvalidInputError


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


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    link.symlink_to(pipe)
    for path in (pipe, link, Path("/dev/zero")):
        for limit in (None, 2 * MEBIBYTE):
            with pytest.raises(InvalidInputError, match=f"^{path}: not a regular file$"):
                read_file(path, limit)
    with pytest.raises(InvalidInputError, match="can't be read: Is a directory"):
        read_file(tmp_path)


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(files.LARGEST_FILE + 1)
    with pytest.raises(InvalidInputError, match="it has more than 1024 MiB"):
        read_file(path)
    path.write_bytes(b"x" * MEBIBYTE)
    assert len(read_file(path, MEBIBYTE)) == MEBIBYTE


def test_a_file_written_piece_by_piece_is_whole_or_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "numbers"

    def write(file: BinaryIO, fails: bool = False) -> None:
        file.write(b"1 2 ")
        if fails:
            raise OSError(28, "no space left")
        file.write(b"3")

    replace_file_by(write, path)
    with pytest.raises(InvalidInputError, match="numbers: can't be written: no space left"):
        replace_file_by(partial(write, fails=True), path)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"1 2 3"]
