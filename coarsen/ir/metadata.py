"""The metadata behind a module's functions: source positions out of it, debug information stripped from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from coarsen.errors import SourcePosition
from coarsen.ir.strings import unescaped

_DEFINITION = re.compile(r"^!(?P<id>\d+|[\w.]+) = (?P<body>.*)$", re.MULTILINE)
_REFERENCE = re.compile(r"!(\d+)\b")
_FIELD = re.compile(r"(\w+): (!?\w+|\"[^\"]*\")")
_KEPT_ATTACHMENTS = frozenset(
    {"tbaa", "llvm.loop", "fpmath", "range", "nonnull"}
    | {"reqd_work_group_size", "work_group_size_hint", "vec_type_hint", "intel_reqd_sub_group_size"}
)
_ATTACHMENT = re.compile(r",? !([\w.]+) !(\d+)\b")


class Metadata:
    """A module's numbered and named metadata nodes, by their text."""

    def __init__(self, module_text: str) -> None:
        self._nodes: Mapping[str, str] = {
            match["id"]: match["body"] for match in _DEFINITION.finditer(module_text)
        }

    def strings(self, node: str) -> tuple[str, ...]:
        """The string operands of a node: `!{!"a", !"b"}` gives ("a", "b")."""
        bodies = re.findall(r'!"([^"]*)"', self._nodes.get(node, ""))
        return tuple(unescaped(body).decode(errors="replace") for body in bodies)

    def integers(self, node: str) -> tuple[int, ...]:
        """The integer operands of a node: `!{i32 1, i32 2}` gives (1, 2)."""
        return tuple(int(number) for number in re.findall(r"\bi\d+ (-?\d+)", self._nodes.get(node, "")))

    def variable_name(self, node: str) -> str:
        """The name that a `DILocalVariable` node carries."""
        return self._fields(node).get("name", "").strip('"')

    def position(self, node: str) -> SourcePosition | None:
        """The place that a `DILocation` node names; the file only where it isn't the main one."""
        fields = self._fields(node)
        if "line" not in fields or fields["line"] == "0":
            return None
        file = self._file_of_scope(fields.get("scope", ""))
        is_main = file in (self._main_file, "<stdin>")
        return SourcePosition(int(fields["line"]), max(int(fields.get("column", 0)), 1), "" if is_main else file)

    def call_position(self, node: str) -> SourcePosition | None:
        """The place of the outermost call that brought a `DILocation` in by inlining; None where none did."""
        call = self._fields(node).get("inlinedAt", "").lstrip("!")
        return (self.call_position(call) or self.position(call)) if call else None

    def without_debug(self, kept_text: str, attributes: str = "") -> str:
        """The definitions that `kept_text` and the named nodes still reach, debug information left out."""
        named = {key: body for key, body in self._nodes.items() if not key.isdigit() and key != "llvm.dbg.cu"}
        reachable = self._reachable([kept_text, *named.values()])
        lines = [f"!{key} = {body}" for key, body in named.items()]
        lines += [f"!{key} = {self._without_locations(self._nodes[key])}" for key in sorted(reachable, key=int)]
        return attributes + "\n".join(lines) + "\n"

    def _reachable(self, roots: Iterable[str]) -> set[str]:
        reachable: set[str] = set()
        pending = list(roots)
        while pending:
            for key in _REFERENCE.findall(pending.pop()):
                if key not in reachable and not self._is_debug(key):
                    reachable.add(key)
                    pending.append(self._nodes.get(key, ""))
        return reachable

    def _is_debug(self, key: str) -> bool:
        return "!DI" in self._nodes.get(key, "").partition("(")[0]

    def _without_locations(self, body: str) -> str:
        """A loop's node without the `DILocation`s that say where the loop stands."""
        kept = [
            part
            for part in body.rstrip("}").split("{", 1)[-1].split(", ")
            if not (part.startswith("!") and part[1:].isdigit() and self._is_debug(part[1:]))
        ]
        return f"{body.split('{', 1)[0]}{{{', '.join(kept)}}}" if "{" in body else body

    @cached_property
    def _main_file(self) -> str:
        for body in self._nodes.values():
            if "!DICompileUnit(" in body:
                return self._file_name(dict(_FIELD.findall(body)).get("file", ""))
        return ""

    def _file_of_scope(self, scope: str) -> str:
        return self._file_name(self._fields(scope.lstrip("!")).get("file", ""))

    def _file_name(self, reference: str) -> str:
        name = self._fields(reference.lstrip("!")).get("filename", "").strip('"')
        return unescaped(name).decode(errors="replace")

    def _fields(self, node: str) -> dict[str, str]:
        return dict(_FIELD.findall(self._nodes.get(node, "")))


def strip_attachments(line: str) -> str:
    """An instruction's or function's line without debug, aliasing-scope and other droppable attachments."""
    if " !" not in line:
        return line
    return _ATTACHMENT.sub(
        lambda match: match.group() if match[1] in _KEPT_ATTACHMENTS or "kernel_arg" in match[1] else "", line
    )


def debug_node(line: str) -> str:
    """The number of the `DILocation` attached to an instruction's line, or empty."""
    match = re.search(r"!dbg !(\d+)", line) if "!dbg" in line else None
    return match[1] if match else ""
