"""Functions that nobody has read yet: a signature and lines, and the names in them.

    define void @f(i32 %x) #0 {        UnreadFunction("f", "define void @f(i32 %x) #0", ("  call void @g(…)", …))
      call void @g(i32 %x)        ─▶   mentioned: g
      ret void                         called: g, once
    }

A source has helpers and kernels that a kernel doesn't need, and what clang writes before any pass has run is
several times as long as the normal form. So of a source's module only names are read, and of kernels signatures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

# A name after `@`, or a string, in which nothing is a name.
_NAME_OR_STRING = re.compile(r'@(?:(?P<plain>[-a-zA-Z$._0-9]+)|"(?P<quoted>[^"]*)")|"[^"]*"')
_INDENTATION = "  "


@dataclass(frozen=True)
class UnreadFunction:
    """A function with a body.

    Attributes:
        name: without `@`, as LLVM spells it between quotes where it needs them.
        definition: its `define` line, without the brace.
        body: the lines up to the closing brace.
    """

    name: str
    definition: str
    body: tuple[str, ...]

    @cached_property
    def mentioned(self) -> Counter[str]:
        """The names of variables and functions in it, its own before the arguments left out, and how often."""
        found = Counter(names_in(self.definition))
        found[self.name] -= 1
        for line in self.body:
            if "@" in line:
                found.update(names_in(line))
        return +found

    @cached_property
    def called(self) -> Counter[str]:
        """The names of the functions that it calls, and at how many places."""
        return Counter(name for line in self.body if "call " in line for name in _callee(line))

    @property
    def length(self) -> int:
        """The number of instructions: labels stand at the start of a line, debug records are indented further."""
        return sum(line.startswith(_INDENTATION) and line[2:3] not in (" ", ";", "#", "") for line in self.body)

    @property
    def is_kernel(self) -> bool:
        """Return True for a function that a launch may name."""
        return "spir_kernel" in self.definition.partition("@")[0].split()


def names_in(text: str) -> Iterator[str]:
    """Yield the names of variables and functions in LLVM's text, one after the other."""
    for match in _NAME_OR_STRING.finditer(text):
        name = match["plain"] or match["quoted"]
        if name is not None:
            yield name


def _callee(line: str) -> Iterator[str]:
    """Yield the name of the function that a line calls; nothing for a call through a pointer."""
    _, _, call = line.partition("call ")
    match = _NAME_OR_STRING.search(call, max(call.find("@"), 0))
    name = match and (match["plain"] or match["quoted"])
    if match is not None and name is not None and call.startswith("(", match.end()):
        yield name
