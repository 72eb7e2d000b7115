"""What is made of a source, kept on disk: the key is the SHA-256 of everything that it depends on.

source, options, macros, what else counts ──▶ key ──▶ a file of the store ──▶ the value, or the refusal
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import DeviceMacros
from coarsen.frontend.included import IncludedFiles, included_files, tells_more_than_text
from coarsen.runtime.text_cache.store import Entry, Store, StoredRefusal, entry_of, file_of
from coarsen.runtime.text_cache.versions import versions

T = TypeVar("T")
# These may be due to the moment: the depth of the caller's stack, a process that was stopped or took too long.
PASSING = frozenset({"too-deep", "spirv-unsupported"})

# Of the files themselves: one of another format has another key.
_FORMAT = 6


class Key(NamedTuple):
    """The digest, 64 hexadecimal digits, and the files that went into it."""

    digest: str
    files: IncludedFiles


def kept(
    store: Store | None,
    kind: type[T],
    source: str,
    options: Sequence[str],
    macros: DeviceMacros,
    others: Mapping[str, object],
    make: Callable[[], T],
) -> T:
    """Return what is made of a source: from the store, or made and stored. Raises as `make` does.

    Args:
        store: None where nothing is kept.
        kind: a dataclass as `coarsen.base.codec` has it.
        source: OpenCL C.
        options: the build options, one by one.
        macros: what the source may find out about its device.
        others: what it depends on besides, as JSON takes it.
        make: makes it; of its refusals, those that may be due to the moment are not kept.
    """

    def key_now() -> Key | None:
        told = versions()
        return None if told is None else digest_of(source, options, macros, {**others, "versions": told})

    key = None if store is None else key_now()
    if store is None or key is None:
        return make()
    file = store.read(key.digest)
    entry = None if file is None else entry_of(file, key.digest, kind)
    if entry is None:
        entry = _made(key.digest, make)
        # A header may have been changed meanwhile.
        if is_certain(key, source, options, macros) and key_now() == key:
            store.write(key.digest, file_of(entry))
    refusal = entry.refusal
    if refusal is not None:
        raise RefusalError(refusal.code, refusal.reason, refusal.position)
    assert entry.value is not None, "an entry has a value or a refusal"
    return entry.value


def _made(digest: str, make: Callable[[], T]) -> Entry[T]:
    try:
        return Entry(digest, make(), None)
    except RefusalError as refusal:
        if refusal.code in PASSING:
            raise
        return Entry(digest, None, StoredRefusal(refusal.code, refusal.reason, refusal.position))


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
    from coarsen.frontend.options import parse_options

    read = files_read(source, parse_options(options), macros)
    return read is not None and key.files.hold(read)


def _files_of(source: str, options: Sequence[str]) -> IncludedFiles | None:
    try:
        folders = _include_folders(tuple(options))
        # Clang reads a file as a table of headers, and `=` as another root.
        is_unusual = any(folder.is_file() or str(folder).startswith(("=", "-")) for folder in folders)
        if is_unusual or tells_more_than_text(" ".join(options)):
            return None
        return included_files(source, folders)
    except (InvalidInputError, OSError):
        return None


@lru_cache(maxsize=64)
def _include_folders(options: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the folders that build options name; programs of an application have theirs in common."""
    words = zip(options, (*options[1:], ""), strict=False)
    return tuple(Path(word[2:] or following) for word, following in words if word.startswith("-I"))
