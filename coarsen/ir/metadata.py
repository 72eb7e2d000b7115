"""The metadata of a module: positions in the source, names of variables, strings and numbers out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Self

from coarsen.errors import SourcePosition
from coarsen.ir.types import unescaped

_DEFINITION = re.compile(r"^!(?P<id>\d+|[\w.]+) = (?P<body>.*)$", re.MULTILINE)
# LLVM writes a quotation mark inside of a string as `\22`.
_ITEM = re.compile(r'!"[^"]*"|!\d+|\w+ [-+.\w]+|null')
_FIELD = re.compile(r"(\w+): (!?\w+|\"[^\"]*\")")


def node_items(nodes: Mapping[str, str], reference: str) -> list[str]:
    """Return what a list among metadata nodes holds, as spelled: `!{!"a", !2, i32 4}` gives `!"a"`, `!2`, `i32 4`.

    Args:
        nodes: by their numbers.
        reference: the list's, such as `!12`.
    """
    return _ITEM.findall(nodes[reference.removeprefix("!")].partition("{")[2])


class Metadata:
    """A module's metadata.

    Args:
        nodes: the text of each node, by its number or name.
    """

    def __init__(self, nodes: Mapping[str, str]) -> None:
        self._nodes = nodes
        self._files: dict[str, str] = {}

    @classmethod
    def of_text(cls, module_text: str) -> Self:
        """Return the metadata of a module's text."""
        return cls({match["id"]: match["body"] for match in _DEFINITION.finditer(module_text)})

    def strings(self, node: str) -> tuple[str, ...]:
        """Return the string operands of a node: `!{!"a", !"b"}` gives ("a", "b")."""
        bodies = re.findall(r'!"([^"]*)"', self._nodes.get(node, ""))
        return tuple(unescaped(body).decode(errors="replace") for body in bodies)

    def integers(self, node: str) -> tuple[int, ...]:
        """Return the integer operands of a node: `!{i32 1, i32 2}` gives (1, 2)."""
        return tuple(int(number) for number in re.findall(r"\bi\d+ (-?\d+)", self._nodes.get(node, "")))

    def variable_name(self, node: str) -> str:
        """Return the name that a `DILocalVariable` node carries."""
        return self._fields(node).get("name", "").strip('"')

    def position(self, node: str) -> SourcePosition | None:
        """Return the place that a `DILocation` node names; the file only if it isn't the main one."""
        fields = self._fields(node)
        if "line" not in fields or fields["line"] == "0":
            return None
        file = self._file_of_scope(fields.get("scope", ""))
        is_main = file in (self._main_file, "<stdin>")
        return SourcePosition(int(fields["line"]), max(int(fields.get("column", 0)), 1), "" if is_main else file)

    def call_position(self, node: str) -> SourcePosition | None:
        """Return the outermost call by which inlining brought a `DILocation` in; None if none did."""
        call = self._fields(node).get("inlinedAt", "").lstrip("!")
        return (self.call_position(call) or self.position(call)) if call else None

    @cached_property
    def _main_file(self) -> str:
        for body in self._nodes.values():
            if "!DICompileUnit(" in body:
                return self._file_name(dict(_FIELD.findall(body)).get("file", ""))
        return ""

    def _file_of_scope(self, scope: str) -> str:
        if scope not in self._files:
            self._files[scope] = self._file_name(self._fields(scope.lstrip("!")).get("file", ""))
        return self._files[scope]

    def _file_name(self, reference: str) -> str:
        name = self._fields(reference.lstrip("!")).get("filename", "").strip('"')
        return unescaped(name).decode(errors="replace")

    def _fields(self, node: str) -> dict[str, str]:
        return dict(_FIELD.findall(self._nodes.get(node, "")))
