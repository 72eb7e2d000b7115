"""Folders to be written into when long work is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coarsen.cli.options import existing_folder, prepared_folder
from coarsen.errors import InvalidInputError


def test_what_is_still_empty_is_taken_away(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), prepared_folder(tmp_path / "one" / "two"):
        assert (tmp_path / "one" / "two").is_dir()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_stays_and_so_does_what_was_there(tmp_path: Path) -> None:
    with prepared_folder(tmp_path / "one" / "two"):
        (tmp_path / "one" / "two" / "file").touch()
    assert (tmp_path / "one" / "two" / "file").exists()
    (tmp_path / "empty").mkdir()
    with prepared_folder(tmp_path / "empty"), prepared_folder(None):
        pass
    assert (tmp_path / "empty").is_dir()


def test_a_folder_that_cant_be_written_is_found_out_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    wrong = prepared_folder(tmp_path / "file")
    with pytest.raises(InvalidInputError, match="file: no folder can be made there: File exists"):
        wrong.__enter__()
    # The administrator may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    wrong = prepared_folder(tmp_path)
    with pytest.raises(InvalidInputError, match="can't be written: Permission denied"):
        wrong.__enter__()


def test_a_folder_to_read_from(tmp_path: Path) -> None:
    assert existing_folder("--models", None) is None
    assert existing_folder("--models", tmp_path) == tmp_path
    with pytest.raises(InvalidInputError, match=r"--models .*none: there is no such folder"):
        existing_folder("--models", tmp_path / "none")
