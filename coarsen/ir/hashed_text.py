"""The text by which kernels are told apart in stored rows: LLVM's layout, whatever the compiler keeps of it.

Rows of years are found again by a hash of this text, so it stays as it is: with LLVM's comments about attributes
and its blank lines, which `module_text` doesn't have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_GROUP = re.compile(r"^attributes (#\d+) = \{ (.*) \}$", re.MULTILINE)
_NAMED = re.compile(r'"[^"]*"(="[^"]*")?')
_GROUP_OF = re.compile(r"(?<![\w\"])#\d+")
_HEAD = "; ModuleID = '<string>'\n"


def hashed_text(module: str) -> str:
    """Return a module's text as LLVM lays it out.

    Args:
        module: as `module_text` writes it; one that has LLVM's comments stays as it is.
    """
    if module.startswith(_HEAD):
        return module
    groups = {number: " ".join(_NAMED.sub("", words).split()) for number, words in _GROUP.findall(module)}
    return _HEAD + "\n".join(_laid_out(module.split("\n"), groups))


def _laid_out(lines: list[str], groups: dict[str, str]) -> Iterator[str]:
    before = ""
    for number, line in enumerate(lines):
        kind = _kind(line)
        if kind == "declare":
            if before:
                yield ""
            yield from _comment(line, groups)
        elif kind == "define":
            # The comment stands before the blank line that the body's surroundings end with.
            yield ""
            yield from _comment(line, groups)
            yield ""
        elif kind and before and _kind(before) != kind:
            yield ""
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        if line or _kind(follows) != "define":
            yield line
        before = line


def _kind(line: str) -> str:
    """Return what stands on a line of a module's surroundings; nothing for all others."""
    word = line.partition(" ")[0]
    if word in ("declare", "define", "attributes"):
        return word
    if line.startswith(("@", "%")):
        return line[0]
    return "named" if line.startswith("!") and not line[1:2].isdigit() else ""


def _comment(line: str, groups: dict[str, str]) -> Iterator[str]:
    found = _GROUP_OF.findall(line)
    words = groups.get(found[-1], "") if found else ""
    if words:
        yield f"; Function Attrs: {words}"
