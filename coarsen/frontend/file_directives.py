"""Directives by which OpenCL C reads files: `#include`, `#embed` and their like, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

# In place of "#" and "\\", as the C standard has them; clang knows both in OpenCL C.
_TRIGRAPHS = (("??=", "#"), ("??/", "\\"))
_LINE_END = re.compile(r"\r\n?")
_CONTINUED = re.compile(r"\\[ \t\v\f]*\n")
_BLANK = r"(?:[ \t\v\f]|/\*.*?\*/)*"
# Wherever it stands in a line: comments and texts are not recognised, since a source could disguise them.
_DIRECTIVE = re.compile(rf"(?:#|%:){_BLANK}(__include_macros|include_next|include|import|embed)\b", re.DOTALL)
_NAME = re.compile(rf'{_BLANK}(?:"([^"\n]*)"|<([^>\n]*)>)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileDirective:
    """A directive that reads a file. `name` is empty where a macro gives it; quoted ones are looked for first in
    the folder of the file that has the directive.
    """

    word: str
    name: str
    is_quoted: bool = False

    @property
    def danger(self) -> str:
        """Say why it may read any file of this machine, as the end of a sentence; empty where it may not."""
        path = PurePosixPath(self.name.replace("\\", "/"))
        if self.word == "embed":
            return "puts a file into the code"
        if not self.name:
            return "reads a file that a macro names"
        if path.is_absolute() or ".." in path.parts:
            return f"reads {self.name[:60]!a}, outside of the kernel's folder"
        return ""


def file_directives(source: str) -> Iterator[FileDirective]:
    """Yield the directives that read files, some of which may be in comments or texts."""
    text = joined_lines(source)
    for match in _DIRECTIVE.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if line.lstrip().startswith("//") and "*/" not in line:
            continue
        name = _NAME.match(text, match.end())
        is_quoted = name is not None and name[1] is not None
        yield FileDirective(match[1], (name[1] or name[2] or "") if name else "", is_quoted)


def joined_lines(source: str) -> str:
    """Return a source with its continued lines joined, one kind of line end, and no trigraphs."""
    text = _LINE_END.sub("\n", source)
    for trigraph, letter in _TRIGRAPHS:
        text = text.replace(trigraph, letter)
    return _CONTINUED.sub("", text)
