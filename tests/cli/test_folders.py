"""Folders to be written into when long work is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coarsen.cli.options import check_folder, existing_folder
from coarsen.errors import InvalidInputError


def test_a_folder_that_cant_be_written_is_found_out_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for wrong in ("file", "file/below"):
        with pytest.raises(InvalidInputError, match=f"{wrong}: no folder can be made there: .*file is a file"):
            check_folder(tmp_path / wrong)
    check_folder(tmp_path / "one" / "two")
    assert not (tmp_path / "one").exists()
    # The administrator may write everywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InvalidInputError, match=r"one: can't be written: .* is closed to you"):
        check_folder(tmp_path / "one")


def test_a_folder_to_read_from(tmp_path: Path) -> None:
    assert existing_folder("--models", None) is None
    assert existing_folder("--models", tmp_path) == tmp_path
    with pytest.raises(InvalidInputError, match=r"--models .*none: there is no such folder"):
        existing_folder("--models", tmp_path / "none")
