"""The files that a source includes, found as clang finds them, for a key that holds all that decides on a text."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

_MOST_FILES = 1000
_LARGEST_FILE = 16 << 20
# What a source can find out about files without reading them, and what differs from one compilation to the next.
_UNTOLD = r"__has_(?:include|embed)|__(?:DATE|TIME|TIMESTAMP)__"
# A source without any of these has no directive that reads files, nor anything else that is looked for.
_ANY = ("include", "import", "embed", "__has_", "__DATE", "__TIME", "??", "\\")


class IncludedFiles(NamedTuple):
    """Files that a source may include.

    Attributes:
        hashes: the SHA-256 of each, by its path.
        are_all: whether each that is named was found; if not, the compiler may have read it elsewhere.
    """

    hashes: dict[str, str]
    are_all: bool = True

    def hold(self, read: Iterable[Path]) -> bool:
        """Return True if what the compiler has read is among them.

        Args:
            read: paths without links.
        """
        known = {Path(os.path.realpath(path)) for path in self.hashes}
        return known.issuperset(read)


def included_files(source: str, folders: Sequence[Path], own: Path | None = None) -> IncludedFiles | None:
    """Return the files that a source may include.

    Of files of one name in several folders all are there, and those that a condition leaves out: a change of any
    of them may change what is read.

    Args:
        source: OpenCL C.
        folders: where included files are looked for.
        own: the source's own folder, where quoted ones are looked for first; the working directory if None.

    Returns:
        The files; None where text alone does not tell: a file that a macro names, `#embed`, `__has_include`,
        `__TIME__`.

    Raises:
        OSError: a file can't be read.
    """
    if not _reads_files(source):
        return IncludedFiles({})
    hashes: dict[str, str] = {}
    are_all = True
    left = [(source, own or Path())]
    while left:
        text, folder = left.pop()
        directives = tuple(file_directives(text))
        if re.search(_UNTOLD, joined_lines(text)) or any(
            each.word not in ("include", "import") or not each.name for each in directives
        ):
            return None
        for directive in directives:
            found = _found(directive, folder, folders)
            are_all = are_all and bool(found)
            for path in found:
                if str(path) not in hashes:
                    content = _content(path)
                    if content is None or len(hashes) == _MOST_FILES:
                        return None
                    hashes[str(path)] = hashlib.sha256(content).hexdigest()
                    # Directives are ASCII, whatever the rest is.
                    left.append((content.decode("latin-1"), path.parent))
    return IncludedFiles(hashes, are_all)


def tells_more_than_text(text: str) -> bool:
    """Return True for a text, such as that of options, with what is another in each process: `__TIME__`."""
    return "__" in text and re.search(_UNTOLD, text) is not None


def _reads_files(source: str) -> bool:
    """Return False for a source that surely reads no file; quickly, since most do not."""
    return any(word in source for word in _ANY)


def _found(directive: FileDirective, includer: Path, folders: Sequence[Path]) -> list[Path]:
    """Return the files that a directive may mean."""
    searched = (includer, *folders) if directive.is_quoted else folders
    return [path for path in (folder / directive.name for folder in searched) if path.is_file()]


def _content(path: Path) -> bytes | None:
    """Return the content of a file; None if it is too large for a header."""
    with path.open("rb") as file:
        content = file.read(_LARGEST_FILE + 1)
    return content if len(content) <= _LARGEST_FILE else None


# Directives by which OpenCL C reads files: `#include`, `#embed` and their like, however they are written.

# In place of "#" and "\\", as the C standard has them; clang knows both in OpenCL C.
_TRIGRAPHS = (("??=", "#"), ("??/", "\\"))
# Compiled when a source has such a directive: most have none.
_LINE_END = r"\r\n?"
_CONTINUED = r"\\[ \t\v\f]*\n"
_BLANK = r"(?:[ \t\v\f]|/\*.*?\*/)*"
# Wherever it stands in a line: comments and texts are not recognised, since a source could disguise them.
_DIRECTIVE = rf"(?s)(?:#|%:){_BLANK}(__include_macros|include_next|include|import|embed)\b"
_NAME = rf'(?s){_BLANK}(?:"([^"\n]*)"|<([^>\n]*)>)'


class FileDirective(NamedTuple):
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
    if not _reads_files(source):
        return
    text = joined_lines(source)
    for match in re.finditer(_DIRECTIVE, text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if line.lstrip().startswith("//") and "*/" not in line:
            continue
        name = re.compile(_NAME).match(text, match.end())
        is_quoted = name is not None and name[1] is not None
        yield FileDirective(match[1], (name[1] or name[2] or "") if name else "", is_quoted)


def joined_lines(source: str) -> str:
    """Return a source with its continued lines joined, one kind of line end, and no trigraphs."""
    text = re.sub(_LINE_END, "\n", source)
    for trigraph, letter in _TRIGRAPHS:
        text = text.replace(trigraph, letter)
    return re.sub(_CONTINUED, "", text)
