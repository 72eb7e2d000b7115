"""A file of JSON lines that programs add to, one after the other or at the same time.

A line is written at once, so that lines of several processes never mix. The last line of a program that was killed
while it wrote may be cut off: it is taken off the file, and the others stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class KeptLines:
    """The lines of a file, and more to come.

    Args:
        path: of the file; it need not be there yet.
        first_names: each line is an object whose first name is one of these.

    Attributes:
        found: the objects that were there.

    Raises:
        OSError: the file can't be read or written.
        ValueError: it has another line.
    """

    def __init__(self, path: Path, first_names: Sequence[str]) -> None:
        self._path = path
        self._starts = tuple(f'{{"{name}": ' for name in first_names)
        path.touch()
        text = path.read_text(encoding="utf-8")
        whole, end, last = text.rpartition("\n")
        if last and self._is_cut_off(last):
            os.truncate(path, len(f"{whole}{end}".encode()))
            last = ""
        elif last:
            self._write("\n")
        self.found = tuple(self._object(line) for line in [*whole.splitlines(), *filter(None, [last])])

    def add(self, line: Mapping[str, Any]) -> None:
        """Add an object as a line. Raises OSError."""
        self._write(f"{json.dumps(line)}\n")

    def _is_cut_off(self, line: str) -> bool:
        """Tell whether a line without an end begins as one of these."""
        try:
            json.loads(line)
        except ValueError:
            return any(line.startswith(start) or start.startswith(line) for start in self._starts)
        return False

    def _object(self, line: str) -> Mapping[str, Any]:
        if not line.startswith(self._starts):
            raise ValueError(f"not a line of this program: {line[:20]!a}")
        found: Mapping[str, Any] = json.loads(line)
        return found

    def _write(self, text: str) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
