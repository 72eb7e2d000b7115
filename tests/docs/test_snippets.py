"""What the pages tell a reader to type: programs run, options exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import coarsen
from coarsen.cli.main import COMMANDS, load_command
from tests.docs.conftest import ROOT
from tests.docs.snippets import blocks, commands

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
WITH_PROGRAMS = [
    page
    for folder in ("tutorial", "how-to")
    for page in sorted((DOCS / folder).glob("*.md"))
    if any(block.runs for block in blocks(page))
]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=name_of)
def test_programs_run(page: Path, tmp_path: Path) -> None:
    """All of a page in one process, in order, with the files that the page shows beside them."""
    parts = []
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
        elif block.runs:
            parts.append(f"# {page.name}, line {block.line}\n{block.text}")
    program = tmp_path / "program_of_the_page.py"
    program.write_text("\n".join(parts), encoding="utf-8")
    environment = {**os.environ, "COARSEN_STORE": str(tmp_path / "store.sqlite"), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, program.name], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_exist(page: Path) -> None:
    for line, words in commands(page):
        assert unknown(words) == set(), f"{name_of(page)}, line {line}"


def unknown(words: str) -> set[str]:
    """The options of a command line that its command does not have, or the command where there is no such."""
    _, *rest = words.split()
    if not rest or rest[0].startswith("-") or rest[0].isupper():
        return {word for word in rest if word not in ("--help", "-h", "--version", "COMMAND")}
    if rest[0] not in COMMANDS:
        return {rest[0]}
    given = {option for word in rest if (option := option_of(word))}
    return given - options_of(command_of(rest)) - {"--help", "-h"}


def option_of(word: str) -> str:
    """The option in a word such as `--factor=4`, "" where it is none. A short one may have its value with it."""
    if found := re.match(r"--[a-z][\w-]*", word):
        return found[0]
    return word[:2] if re.match(r"-[a-zA-Z]", word) else ""


def command_of(words: list[str]) -> Any:  # noqa: ANN401 (typer's commands have no public type)
    return load_command(words[0])


def options_of(command: Any) -> set[str]:  # noqa: ANN401
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}


def test_the_readme_names_commands() -> None:
    assert len(list(commands(ROOT / "README.md"))) > 15


def test_what_does_not_exist_is_found() -> None:
    assert unknown("coarsen apply kernel.cl --factors 4 --dim=0 -o x.cl -DX=1") == {"--factors"}
    assert unknown("coarsen results export x.csv --kernel sgemm --form cl") == {"--form"}
    assert unknown("coarsen bench --preset gpu --pack pack --cold-cached") == {"--cold-cached"}
    assert unknown("coarsen aply kernel.cl") == {"aply"}


def test_the_home_page_shows_what_the_tool_writes() -> None:
    original, coarsened = (block.text for block in blocks(DOCS / "index.md") if block.language == "c")
    assert coarsen.coarsen(original, factor=4).opencl_c == coarsened
