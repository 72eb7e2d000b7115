"""The hash that tells a kernel's source from all others, with the files that it includes.

source, options ─▶ SHA-256 of the text, where it includes nothing ─▶ else of the text and of all included files
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.frontend.included import included_files
from coarsen.frontend.options import parse_options


def source_hash_of(source: str) -> str:
    """Return what tells a source from all others: SHA-256 of its text, in hexadecimal."""
    return hashlib.sha256(source.encode()).hexdigest()


def hash_with_headers(source: str, options: Sequence[str] = (), own: Path | None = None) -> str:
    """Return what tells a source with its headers from all others.

    Which folders headers lie in does not matter, only what they say. A header that isn't found, or that a macro
    names, is not in it.

    Args:
        source: OpenCL C.
        options: the build options, one by one, which name the folders of headers.
        own: the source's own folder; the working directory if None.
    """
    text = source_hash_of(source)
    try:
        folders = [Path(word[2:]) for word in parse_options(list(options)).clang_options if word.startswith("-I")]
        files = included_files(source, folders, own)
    except (InvalidInputError, OSError):
        return text
    if files is None or not files.hashes:
        return text
    return hashlib.sha256("\0".join((text, *sorted({*files.hashes.values()}))).encode()).hexdigest()
