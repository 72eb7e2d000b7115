"""A folder of small files that only the user can look into: each is whole or not there, the oldest give way.

Files are opened by name in an opened folder, never through a link; where anything goes wrong, there is no cache,
and a debug line says why.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Generic, Literal, NamedTuple, TypeVar

import platformdirs

from coarsen.base.codec import decoded, encoded
from coarsen.errors import InvalidInputError, SourcePosition

_log = logging.getLogger("coarsen")

MEBIBYTE = 1 << 20
MOST_BYTES = 256 * MEBIBYTE
LARGEST_FILE = 8 * MEBIBYTE
# A file takes a block of the disk, however short it is.
_BLOCK = 4096
# Looking at all files takes some milliseconds: at the first that is written, and once in so many.
_WRITES_BETWEEN = 256
# Seconds in which a further use is not noted.
_USE_INTERVAL = 3600
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Store:
    """Files by name in a folder.

    Args:
        folder: made when something is first written.
        most_bytes: beyond it those that were not used for longest are removed.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._writes = 0

    def read(self, name: str) -> bytes | None:
        """Return what is in a file; None where there is none, or none of the user's own."""
        try:
            with self._opened() as folder:
                return _content(folder, name)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.debug("the cache of coarsened text can't be read: %s", error)
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in place of one that may be there; nothing if it is too large or can't be written."""
        if len(content) > LARGEST_FILE:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._opened() as folder:
                _replace(folder, name, content)
                if self._writes % _WRITES_BETWEEN == 0:
                    _remove_oldest(folder, self._most_bytes)
                self._writes += 1
        except OSError as error:
            _log.debug("coarsened text can't be cached: %s", error)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder. Raises OSError where it is a link, or belongs to somebody else."""
        folder = os.open(self._folder, _FOLDER)
        try:
            status = os.fstat(folder)
            if status.st_uid != os.geteuid():
                raise PermissionError(f"{self._folder} belongs to somebody else")
            if status.st_mode & 0o077:
                os.fchmod(folder, 0o700)
            yield folder
        finally:
            os.close(folder)


def _content(folder: int, name: str) -> bytes | None:
    with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
        if not is_own or status.st_size > LARGEST_FILE:
            return None
        if time.time() - status.st_mtime > _USE_INTERVAL:
            # The time says when it was last used. On a disk that can't be written to, nothing is removed either.
            with suppress(OSError):
                os.utime(file.fileno())
        # Python takes all the memory that it may read into at once: for the largest file, longer than all else.
        return file.read(status.st_size)


def _replace(folder: int, name: str, content: bytes) -> None:
    """Write beside and rename, so that no process ever reads half a file. Raises OSError."""
    unfinished = f".{os.urandom(8).hex()}.part"
    try:
        with os.fdopen(os.open(unfinished, _WRITE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise


def _remove_oldest(folder: int, most_bytes: int) -> None:
    """Remove files, those that were not used for longest first, until a quarter of the space is free."""
    files = sorted(_files(folder))
    total = sum(size for _, size, _ in files)
    if total <= most_bytes:
        return
    for _, size, name in files:
        if total <= most_bytes * 3 // 4:
            return
        with suppress(FileNotFoundError):  # another process was first
            os.unlink(name, dir_fd=folder)
        total -= size


def _files(folder: int) -> Iterator[tuple[float, int, str]]:
    """Yield the time of last use, the size on disk in bytes and the name of each file."""
    with os.scandir(folder) as found:
        for file in found:
            with suppress(FileNotFoundError):
                status = file.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield status.st_mtime, max(status.st_size, _BLOCK), file.name


# The folder of coarsened text, and the switches that turn it off.
#
# They follow PyOpenCL's own cache of binaries: `cache_dir` of `build`, else of the context, names a folder, False
# is none; `PYOPENCL_NO_CACHE` turns both off, `COARSEN_NO_CACHE` this one alone.

FOLDER_VARIABLE = "COARSEN_CACHE_DIR"
OFF_VARIABLES = ("COARSEN_NO_CACHE", "PYOPENCL_NO_CACHE")
_NAME = "coarsened-text"
# As PyOpenCL reads its variable.
_FALSE = frozenset({"", "0", "f", "false", "n", "no", "off"})

CacheFolder = str | Literal[False] | None


def text_folder(cache_dir: CacheFolder) -> Path | None:
    """Return the folder of coarsened text; None where nothing is cached.

    Args:
        cache_dir: as `pyopencl.Program.build` takes it; None for `COARSEN_CACHE_DIR`, or the user's cache folder.
    """
    if cache_dir is False or any(os.environ.get(name, "").lower() not in _FALSE for name in OFF_VARIABLES):
        return None
    named = cache_dir or os.environ.get(FOLDER_VARIABLE)
    return _in_folder(named) if named else platformdirs.user_cache_path("coarsen") / _NAME


def store_of(cache_dir: CacheFolder) -> Store | None:
    """Return the store in the folder of coarsened text; None where nothing is cached. Argument as there."""
    folder = text_folder(cache_dir)
    return None if folder is None else Store(folder)


@lru_cache(maxsize=16)
def _in_folder(named: str) -> Path:
    return Path(named) / _NAME


# The form of a file in the cache: a line with the SHA-256 of the rest, and the rest is JSON.
#
# An entry has its key in it: a file that was cut off, changed or renamed is none.

T = TypeVar("T")


class StoredRefusal(NamedTuple):
    """Why a kernel is refused, as `RefusalError` has it."""

    code: str
    reason: str
    position: SourcePosition | None


class Entry(NamedTuple, Generic[T]):
    """What was made for a key, or the refusal."""

    key: str
    value: T | None
    refusal: StoredRefusal | None


def file_of(entry: Entry[T]) -> bytes:
    """Return what is written to an entry's file."""
    content = json.dumps(encoded(entry, {bytes: lambda data: base64.b64encode(data).decode()})).encode()
    return b"%s\n%s" % (_checksum(content), content)


def entry_of(file: bytes, key: str, kind: type[T]) -> Entry[T] | None:
    """Return the entry of a file; None where it is not whole, or of another key or kind."""
    checksum, _, content = file.partition(b"\n")
    if checksum != _checksum(content):
        return None
    try:
        parts = json.loads(content)
        if not isinstance(parts, dict) or parts.get("key") != key:
            return None
        if (told := parts.get("refusal")) is not None:
            return Entry(key, None, decoded(StoredRefusal, told, "the refusal"))
        return Entry(key, decoded(kind, parts.get("value"), "the entry", {bytes: _from_base64}), None)
    except (ValueError, RecursionError, InvalidInputError):
        return None


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _from_base64(text: object) -> bytes:
    try:
        return base64.b64decode(str(text), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInputError("it is not written in base 64") from None
