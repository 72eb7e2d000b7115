"""The facts that a CPU's machine code tells."""

from __future__ import annotations

from dataclasses import asdict

from coarsen.devices.compiled.x86 import x86_code
from coarsen.models.compiled.facts import CompiledFacts


def facts_of_code(code: bytes | None) -> CompiledFacts:
    """Return the facts of a function's machine code: its size alone where there is no disassembler.

    Args:
        code: for x86-64; None where it wasn't found.
    """
    if code is None:
        return CompiledFacts()
    read = x86_code(code)
    return CompiledFacts(code_bytes=len(code), **(asdict(read) if read is not None else {}))
