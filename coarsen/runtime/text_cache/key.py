"""The key of what is made of a source: the SHA-256 of everything that it depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.included import IncludedFiles, included_files, tells_more_than_text
from coarsen.frontend.options import parse_options

# Of the files themselves: one of another format has another key.
_FORMAT = 5


@dataclass(frozen=True, slots=True)
class Key:
    """The digest, 64 hexadecimal digits, and the files that went into it."""

    digest: str
    files: IncludedFiles


def digest_of(
    source: str, options: Sequence[str], macros: DeviceMacros, others: Mapping[str, object]
) -> Key | None:
    """Return the key of what is made of a source.

    Args:
        source: OpenCL C.
        options: the build options.
        macros: what the source may find out about its device.
        others: what it depends on besides, as JSON takes it.

    Returns:
        The key; None where the text of the source and of its headers does not tell all.
    """
    files = _files_of(source, options)
    if files is None:
        return None
    parts = {
        "format": _FORMAT,
        "source": source,
        "options": list(options),
        "extensions": sorted(macros.extensions),
        "opencl_version": macros.opencl_version,
        "files": files.hashes,
        **others,
    }
    return Key(hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest(), files)


def is_certain(key: Key, source: str, options: Sequence[str], macros: DeviceMacros) -> bool:
    """Return True if the compiler reads only files that are in a key."""
    if key.files.are_all:
        return True
    # Imported late: with a warm cache, nothing has to be compiled.
    from coarsen.frontend.compile import files_read

    read = files_read(source, parse_options(options), macros)
    return read is not None and key.files.hold(read)


def _files_of(source: str, options: Sequence[str]) -> IncludedFiles | None:
    try:
        folders = _include_folders(tuple(options))
        if _is_unusual(folders) or tells_more_than_text(" ".join(options)):
            return None
        return included_files(source, folders)
    except (InvalidInputError, OSError):
        return None


@lru_cache(maxsize=64)
def _include_folders(options: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the folders that build options name; programs of an application have theirs in common."""
    return tuple(Path(word[2:]) for word in parse_options(options).clang_options if word.startswith("-I"))


def _is_unusual(folders: Iterable[Path]) -> bool:
    """Return True if one is no folder: clang reads a file as a table of headers, and `=` as another root."""
    return any(folder.is_file() or str(folder).startswith(("=", "-")) for folder in folders)
