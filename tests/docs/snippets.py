"""Fenced blocks of Markdown pages, and the commands in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A fence may be indented, in a list or a tab; it ends with as many marks as it began with.
_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<header>[^\n`]*)\n(?P<body>.*?)^ *(?P=fence) *$", re.DOTALL | re.MULTILINE
)
_TITLE = re.compile(r'title="(?P<title>[^"]+)"')
_COMMAND = re.compile(r"^\s*(?P<prompt>\$ )?(?P<words>coarsen .*)$")
_SHELL, _OUTPUT = ("sh", "bash"), ("console", "text", "")


@dataclass(frozen=True)
class Block:
    """A fenced block; `language` is the first word of its header, `line` where its text begins, from 1."""

    language: str
    header: str
    text: str
    line: int

    @property
    def title(self) -> str:
        """The file that it shows, "" where it shows none."""
        found = _TITLE.search(self.header)
        return found["title"] if found else ""

    @property
    def runs(self) -> bool:
        """Whether it is Python that a reader is to run."""
        return self.language == "python" and ".no-run" not in self.header and not self.title


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        header = found["header"].strip()
        language = re.match(r"[{ .]*(\w*)", header)
        line = text.count("\n", 0, found.start("body")) + 1
        yield Block(language[1] if language else "", header, textwrap.dedent(found["body"]), line)


def commands(page: Path) -> Iterator[tuple[int, str]]:
    """The lines that call `coarsen`, those that a backslash continues put together, without comments; and those
    that stand in tables."""
    for number, row in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if row.startswith("|"):
            yield from ((number, words) for words in re.findall(r"`(coarsen [a-z][^`|<>]*)`", row))
    for block in blocks(page):
        if block.language not in (*_SHELL, *_OUTPUT):
            continue
        for number, line in enumerate(block.text.replace("\\\n", "  ").splitlines()):
            found = _COMMAND.match(line)
            # Where output is shown too, commands have a prompt.
            if found and (found["prompt"] or block.language in _SHELL):
                yield block.line + number, re.split(r"\s#|[|;&>]", found["words"])[0]
