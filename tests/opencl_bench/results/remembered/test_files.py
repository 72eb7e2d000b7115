"""Remembered choices in files: nothing is lost, and a file is read whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.errors import InvalidInputError
from coarsen.tuning.remembered import choice_json
from coarsen.tuning.remembered.choice_json import read_choices, write_choices
from tests.opencl_bench.remembered_choices import AS_IT_IS, CHOICE, some_choice

CHOICES = [CHOICE, AS_IT_IS, some_choice(kernel="naïve \x1b[31m")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "choices.json"
    write_choices(CHOICES, path)
    return path


def message(path: Path) -> str:
    """The one line with which a file is refused, without its name."""
    with pytest.raises(InvalidInputError) as caught:
        read_choices(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


def test_what_is_written_is_read_back(file: Path) -> None:
    assert read_choices(file) == CHOICES
    lines = file.read_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ('{"format": 1, "remembered": [', "]}", 5)


def test_no_choices(tmp_path: Path) -> None:
    write_choices([], tmp_path / "none.json")
    assert read_choices(tmp_path / "none.json") == []


def test_a_choice_that_is_not_in_its_normal_form_leaves_the_file_as_it_was(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(InvalidInputError):
        write_choices([CHOICE, some_choice(ir_hash="none")], file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.99])
def test_a_truncated_file(file: Path, share: float) -> None:
    content = file.read_bytes().rstrip()
    file.write_bytes(content[: int(len(content) * share)])
    assert message(file).startswith("not a JSON file: ")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 100_000, b'{"format": 1' + b"0" * 5000 + b"}"])
def test_what_is_no_json(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert message(file).startswith("not a JSON file: ")


def entry(number: int, **fields: Any) -> Callable[[dict[str, Any]], None]:  # noqa: ANN401
    return lambda document: document["remembered"][number].update(fields)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            lambda document: document.pop("format"),
            "not a file of remembered choices; 'coarsen results export --remembered'",
        ),
        (lambda document: document.update(more=1), "not a file of remembered choices"),
        (lambda document: document.update(format=2), "its format is '2'; this program reads format 1 alone"),
        (lambda document: document.update(format=True), "its format is 'True'"),
        (lambda document: document.update(remembered={}), "its field 'remembered' is not a list"),
        (
            lambda document: document["remembered"].append(7),
            "choice 4: the remembered choice is not a JSON object",
        ),
        (
            lambda document: document["remembered"].append(document["remembered"][1]),
            "choices 2 and 4 have one key",
        ),
        (entry(1, kernel="other"), "choice 2: the remembered choice's key '"),
        (entry(2, device="\x1b[2J"), "choice 3: the remembered choice's key '"),
        (entry(0, trials="many"), "choice 1: the field 'trials' of the remembered choice must be"),
        (entry(0, variant={"__class__": "os.system"}), "choice 1: not a configuration: {'__class__'"),
    ],
)
def test_an_edited_file(file: Path, edit: Callable[[dict[str, Any]], None], expected: str) -> None:
    document = json.loads(file.read_text())
    edit(document)
    file.write_text(json.dumps(document))
    assert message(file).startswith(expected)


def test_too_large_files(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_json, "MOST_CHOICES", 2)
    assert message(file) == "it has 3 choices; 2 are the most"
    monkeypatch.setattr(choice_json, "LARGEST_FILE", 1000)
    assert "which is no file of this kind" in message(file)
