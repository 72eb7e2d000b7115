"""From OpenCL C to LLVM IR as clang writes it, before any pass has run."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import HEADERS, Clang, find_clang
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.options import BuildOptions
from coarsen.ir.opencl.queries import NEWER_QUERIES

if TYPE_CHECKING:
    import subprocess

_log = logging.getLogger("coarsen")
_FIXED_OPTIONS = (
    *("-x", "cl", "-target", "spir64-unknown-unknown", "-S", "-emit-llvm", "-o", "-"),
    # Optimisable IR that no pass has touched, with names and source positions.
    *("-O2", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-g", "-cl-kernel-arg-info"),
    "-fno-color-diagnostics",
)
# What OpenCL C 2.0 brought, as clang says that it does not know it.
_NEWER = re.compile(
    r"error: (?:use of undeclared identifier|unknown type name|implicit declaration of function) '(?:"
    r"work_group_(?:barrier|all|any|broadcast|(?:reduce|scan_inclusive|scan_exclusive)_(?:add|min|max))|"
    rf"{'|'.join(query.value for query in NEWER_QUERIES)}|to_(?:global|local|private)|get_fence|ctz|"
    r"atomic_(?:\w+_explicit|u?int|u?long|float|double|flag|init|load|store|exchange|compare_exchange_\w+|fetch_\w+|"
    r"flag_\w+|work_item_fence)|memory_(?:order|scope)\w*|pipe|(?:read|write)_pipe|reserve_id_t)'"
    r"|error: OpenCL C version 1\.2 does not support the 'generic' type qualifier"
)
_NEWER_HINT = (
    "this is compiled as OpenCL C 1.2, the default; --cl-std CL2.0 (-cl-std=CL2.0 in Python) may be meant"
)


@dataclass(frozen=True, slots=True)
class Source:
    """OpenCL C text and, where it came from a file, its path (for messages and relative includes)."""

    text: str
    path: Path | None = None


def compilations(source: Source, options: BuildOptions, macros: DeviceMacros) -> Iterator[str]:
    """Compile with the macros of a device, and with more and more extensions beside these.

    Args:
        source: the text.
        options: the build options.
        macros: what the source may find out about its device.

    Yields:
        The LLVM IR text for each of them with which the source compiles; clang runs when it is asked for.

    Raises:
        InvalidInputError: there is none. The diagnostics are of the compilation with the fewest errors, for those
            of others may be about extensions.
    """
    clang = find_clang()
    failed: list[str] = []
    compiled = False
    for each in macros.more_and_more():
        outcome = _compiled(clang, source, options, each)
        if outcome.returncode != 0:
            failed.append(
                _errors_of(outcome.stderr) or f"{clang.command[0]} stopped with status {outcome.returncode}"
            )
            continue
        if outcome.stderr and not compiled:
            _log.info("%s", outcome.stderr)
        compiled = True
        yield outcome.stdout
    if not compiled:
        errors = min(failed, key=lambda text: (text.count(" error: "), text.count("undeclared identifier")))
        is_newer = options.standard == BuildOptions().standard and _NEWER.search(errors)
        raise InvalidInputError(f"{errors}\n{_NEWER_HINT}" if is_newer else errors)


def files_read(text: str, options: BuildOptions, macros: DeviceMacros = PORTABLE) -> frozenset[Path] | None:
    """Return the files that clang may read when it compiles a text, whichever extensions it then has.

    Args:
        text: OpenCL C.
        options: the build options.
        macros: what the source may find out about its device.

    Returns:
        Their paths without links, this package's own headers left out; None if clang does not say.

    Raises:
        InvalidInputError: clang can't be run.
    """
    clang = find_clang()
    found: set[Path] = set()
    for each in macros.more_and_more():
        outcome = _compiled(clang, Source(text), options, each, ("-M",))
        if outcome.returncode != 0:
            return None
        found.update(Path(os.path.realpath(name)) for name in _prerequisites(outcome.stdout))
    own = Path(os.path.realpath(HEADERS))
    return frozenset(path for path in found if path.parent != own)


def _prerequisites(rule: str) -> list[str]:
    """Return the files in a rule for `make`, as `-M` writes it: `-: <stdin> a.h b\\ c.h`, on several lines."""
    words = re.findall(r"(?:\\[ #]|[^\s])+", rule.replace("\\\n", " "))
    names = [re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words[1:]]
    return [name for name in names if name != "<stdin>"]


def _compiled(
    clang: Clang, source: Source, options: BuildOptions, macros: DeviceMacros, further: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    arguments = [*_FIXED_OPTIONS, *further, options.standard, *clang.header_options]
    if source.path is not None:
        arguments += ["-I", str(source.path.parent)]
    arguments += macros.options
    text = macros.prologue(options.standard, options.clang_options) + source.text
    result = clang.run([*arguments, *options.clang_options, "-"], text)
    result.stderr = result.stderr.replace("<stdin>", str(source.path or "<source>")).rstrip()
    return result


def _errors_of(diagnostics: str) -> str:
    """Clang's diagnostics from the first error on, without its closing count."""
    lines = [line for line in diagnostics.splitlines() if not line.endswith((" generated.", " errors generated."))]
    first = next((i for i, line in enumerate(lines) if "error:" in line), 0)
    return "\n".join(lines[first:])
