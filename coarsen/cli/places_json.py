"""Places in a kernel's source as JSON: `file`, `line` and `column`, null where they aren't known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coarsen.cli.kernel_input import is_ir_file
from coarsen.errors import SourcePosition


def place_json(position: SourcePosition | None, file: Path) -> dict[str, Any]:
    """Return the keys of a place; `file` is what the user named."""
    if position is None:
        return {"file": None, "line": None, "column": None}
    own = None if is_ir_file(file) else str(file)
    return {"file": position.file or own, "line": position.line, "column": position.column}
