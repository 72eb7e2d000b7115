"""The signature of a kernel whose source is made up, broken into lines."""

from __future__ import annotations

from collections.abc import Iterable

_WIDTH = 110


def signature_lines(kernel: str, declarations: Iterable[str]) -> list[str]:
    """Return the lines of a kernel's signature, up to its closing parenthesis.

    Args:
        kernel: its name.
        declarations: those of its parameters.
    """
    start = f"kernel void {kernel}("
    lines = [start]
    for number, declaration in enumerate(declarations):
        separator = "" if number == 0 else ", "
        if len(lines[-1]) + len(separator) + len(declaration) > _WIDTH:
            lines[-1] += separator.rstrip()
            lines.append(" " * len(start) + declaration)
        else:
            lines[-1] += separator + declaration
    lines[-1] += ")"
    return lines
