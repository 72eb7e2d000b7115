"""What is written of internal errors, to be reported: once for one error, and no passwords."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.base.bug_report import bug_message, words_of
from coarsen.base.version import installed_version
from coarsen.errors import InternalError, InvalidInputError


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def failing(name: str) -> KeyError:
    try:
        raise KeyError(name)
    except KeyError as error:
        return error


def test_an_error_that_comes_back_has_one_file(folder: Path) -> None:
    messages = [bug_message(failing(name)) for name in ("x", "x", "y", "x")]
    assert messages[0] == messages[1] == messages[3] != messages[2]
    assert len(list(folder.iterdir())) == 2
    for file in folder.iterdir():
        file.unlink()
    bug_message(failing("x"))
    assert len(list(folder.iterdir())) == 1, "one that is gone is written again"


def test_the_command_is_that_of_the_process_and_the_packages_are_those_that_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.orig_argv", ["python", "coarsen", "run", "--tune", "a program.py"])
    # A program that is run finds its own name there.
    monkeypatch.setattr("sys.argv", ["a program.py"])
    bug_message(failing("x"))
    _, packages, command, *_ = next(folder.iterdir()).read_text().splitlines()
    assert command == "command: python coarsen run --tune 'a program.py'"
    assert packages.startswith("packages: pyopencl 20") and "none" not in packages


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:se'cr&et@host:5432/db", "postgresql://me:***@host:5432/db"),
        ("postgresql://host:5432/db?password=secret&port=1", "postgresql://host:5432/db?password=***&port=1"),
        ("postgresql://host/db?user=me&sslpassword=secret", "postgresql://host/db?user=me&sslpassword=***"),
        ("sqlite:////tmp/a:b@c", "sqlite:////tmp/a:b@c"),
        ("https://host:8080/a@b", "https://host:8080/a@b"),
    ],
)
def test_a_password_is_in_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str, shown: str) -> None:
    monkeypatch.setattr("sys.orig_argv", ["coarsen", "tune", f"--store={url}"])
    bug_message(failing(f"no such store: {url}"))
    (file,) = folder.iterdir()
    details = file.read_text()
    assert "se'cr" not in details and "secret" not in details
    assert details.count(shown) == 2


def test_only_internal_errors_are_bugs() -> None:
    assert words_of(InvalidInputError("no such file")) == "no such file"
    assert words_of(InternalError("no verse")).startswith("this is a bug in coarsen: InternalError: no verse; ")


@pytest.mark.parametrize("name", ["coarsen.egg-info/PKG-INFO", "coarsen-7.8.9.dist-info/METADATA"])
def test_the_version_is_that_of_whatever_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("Metadata-Version: 2.1\nName: coarsen\nVersion: 7.8.9\n\nVersion: none\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_version() == "7.8.9"
