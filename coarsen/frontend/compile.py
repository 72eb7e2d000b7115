"""From OpenCL C to LLVM IR as clang writes it, before any pass has run."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import find_clang
from coarsen.frontend.options import BuildOptions

_log = logging.getLogger("coarsen")
_FIXED_OPTIONS = (
    *("-x", "cl", "-target", "spir64-unknown-unknown", "-S", "-emit-llvm", "-o", "-"),
    # Optimisable IR that no pass has touched, with names and source positions.
    *("-O2", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-g", "-cl-kernel-arg-info"),
    *("-fno-color-diagnostics", "-fno-caret-diagnostics"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """OpenCL C text and, where it came from a file, its path (for messages and relative includes)."""

    text: str
    path: Path | None = None


def compile_opencl_c(source: Source, options: BuildOptions) -> str:
    """Compile to LLVM IR text.

    Raises:
        InvalidInputError: with clang's own diagnostics (file, line, column) if it does not compile.
    """
    clang = find_clang()
    arguments = [*_FIXED_OPTIONS, options.standard]
    if clang.header_folder is not None:
        arguments += ["-isystem", str(clang.header_folder)]
    if source.path is not None:
        arguments += ["-I", str(source.path.parent)]
    result = clang.run([*arguments, *options.clang_options, "-"], source.text)
    diagnostics = result.stderr.replace("<stdin>", str(source.path or "<source>")).strip()
    if result.returncode != 0:
        raise InvalidInputError(
            _errors_of(diagnostics) or f"{clang.command[0]} stopped with status {result.returncode}"
        )
    if diagnostics:
        _log.info("%s", diagnostics)
    return result.stdout


def _errors_of(diagnostics: str) -> str:
    """Clang's diagnostics from the first error on, without its closing count."""
    lines = [line for line in diagnostics.splitlines() if not line.endswith((" generated.", " errors generated."))]
    first = next((i for i, line in enumerate(lines) if "error:" in line), 0)
    return "\n".join(lines[first:])
