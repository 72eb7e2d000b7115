"""Files that OpenCL C source puts into what is compiled: `#include` and `#embed`, however they are written.

A described kernel or a pack is often somebody else's. `#embed "/home/me/.ssh/id_rsa"` would put that file into the
code that is stored, shown and packed, and a compiler's message quotes lines of what is included. So only files in
the kernel's own folder, or in a folder that the build options name, may be included, and nothing embedded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from coarsen.base.files import MEBIBYTE, read_file
from coarsen.errors import InvalidInputError
from coarsen.frontend.included import file_directives

TRUST_VARIABLE = "COARSEN_TRUST_INCLUDES"
LARGEST_SOURCE = 64 * MEBIBYTE


def check_included_files(file: Path, folders: Sequence[Path] = (), source: str | None = None) -> None:
    """Check a kernel's file and all that it includes.

    Args:
        file: the OpenCL C source, or what has it.
        folders: where included files are looked for besides the source's own folder.
        source: the OpenCL C source, where the file is more than that.

    Raises:
        InvalidInputError: a directive may read any file, and `COARSEN_TRUST_INCLUDES` isn't 1; or a file can't be
            read.
    """
    if os.environ.get(TRUST_VARIABLE) == "1":
        return
    left, seen = [file], {file.resolve()}
    while left:
        current = left.pop()
        is_given = source is not None and current is file
        text = source if is_given else read_file(current, LARGEST_SOURCE).decode(errors="replace")
        for directive in file_directives(text or ""):
            if directive.danger:
                raise InvalidInputError(
                    f"{current}: #{directive.word} {directive.danger}; set {TRUST_VARIABLE}=1 if you trust it"
                )
            for found in _found(directive.name, (current.parent, *folders)):
                if found.resolve() not in seen:
                    seen.add(found.resolve())
                    left.append(found)


def check_alone(source: str, where: str) -> None:
    """Raise InvalidInputError for source that reads files, unless `COARSEN_TRUST_INCLUDES` is 1."""
    directive = next(file_directives(source), None)
    if directive is not None and os.environ.get(TRUST_VARIABLE) != "1":
        raise InvalidInputError(
            f"{where}: #{directive.word} reads a file of this machine; set {TRUST_VARIABLE}=1 if you trust it"
        )


def _found(name: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files that a name may mean. Raises InvalidInputError for a link that leads out of the folder."""
    for folder in folders:
        path = folder / name
        if not path.is_file():
            continue
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InvalidInputError(
                f"{path} is a link to another folder's file; set {TRUST_VARIABLE}=1 if you trust it"
            )
        yield path
