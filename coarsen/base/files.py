"""Files written in one step, old content or the whole new one whatever happens, and whole standard output."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


MEBIBYTE = 1 << 20
LARGEST_FILE = 1024 * MEBIBYTE


def replace_file(data: bytes, path: Path) -> None:
    """Write a file, in place of one that may be there.

    A link's target is replaced, not the link; a device or a pipe is written to.

    Raises:
        InvalidInputError: the file can't be written.
    """

    def write(file: BinaryIO) -> None:
        file.write(data)

    replace_file_by(write, path)


def replace_file_by(write: Callable[[BinaryIO], None], path: Path) -> None:
    """Have a file written piece by piece, in place of one that may be there; see `replace_file`.

    Args:
        write: is given the file, open for writing.
        path: of the file.

    Raises:
        InvalidInputError: the file can't be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as file:  # there is nothing to replace
                write(file)
        else:
            _replace(write, target)
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be written: {error.strerror}") from None


def _replace(write: Callable[[BinaryIO], None], target: Path) -> None:
    if target.is_dir():
        raise IsADirectoryError(21, "it is a folder")
    unfinished = target.with_name(f".{target.name[:200]}.{os.urandom(4).hex()}.part")
    try:
        with unfinished.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())  # or a power failure could leave the name with nothing in it
        if target.exists():
            unfinished.chmod(target.stat().st_mode)
        unfinished.replace(target)
        _sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Have the folder's entries on the disk. Not all file systems can; the file itself is there by now."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """Open a regular file, or a link to one, to read it: a pipe may never begin, and a device never end.

    Raises:
        InvalidInputError: it is something else.
        OSError: it can't be opened.
    """
    # Without waiting for whoever may write to a pipe.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        check_regular(file, path)
        yield file


def check_regular(file: BinaryIO, path: Path) -> None:
    """Raise InvalidInputError unless an open file is a regular one."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise InvalidInputError(f"{path}: not a regular file")


def read_file(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a file.

    Args:
        path: of a regular file.
        limit: how many bytes it may have; 1 GiB if None.

    Raises:
        InvalidInputError: it can't be read, is larger, or is no regular file, such as a pipe.
    """
    try:
        with opened(path) as file:
            return read_limited(file, path, limit)
    except OSError as error:
        raise InvalidInputError(f"{path}: can't be read: {error.strerror}") from None


def read_limited(file: BinaryIO, path: Path, limit: int | None = None) -> bytes:
    """Return the rest of an open file. Arguments and errors as for `read_file`; also raises OSError."""
    check_regular(file, path)
    most = limit or LARGEST_FILE
    data = b"" if os.fstat(file.fileno()).st_size > most else file.read(most + 1)
    if len(data) > most or os.fstat(file.fileno()).st_size > most:
        raise InvalidInputError(f"{path}: it has more than {most >> 20} MiB, which is no file of this kind")
    return data


# Standard output that takes all that is written to it, or says why not.
#
# With PYTHONUNBUFFERED, Python writes straight to the file descriptor and ignores how much of it was taken: a full
# disk, or a pipe that doesn't block, cuts the text off in silence.


@contextmanager
def whole_output() -> Iterator[None]:
    """Let `sys.stdout` write the whole of everything, where it is a file descriptor's; flushed at the end.

    Raises:
        OSError: with the name "standard output", where it can't be written.
    """
    before = sys.stdout
    raw = _raw(before)
    if raw is None or not isinstance(before, io.TextIOWrapper):
        yield
        return
    before.flush()
    whole = WholeWrites(raw)
    sys.stdout = io.TextIOWrapper(
        # As Python itself does it: what is unbuffered writes each word at once.
        cast("BinaryIO", whole) if before.write_through else io.BufferedWriter(whole),
        before.encoding,
        before.errors,
        line_buffering=before.line_buffering,
        write_through=before.write_through,
    )
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = before


def _raw(stream: object) -> io.FileIO | None:
    """Return what a text stream writes to, if it is a file descriptor."""
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    return raw if isinstance(raw, io.FileIO) else None


class WholeWrites(io.RawIOBase):
    """A file descriptor whose `write` returns when all was taken; what comes after a failure is discarded.

    Args:
        raw: what is written to; closing this does not close it.
    """

    def __init__(self, raw: io.FileIO) -> None:
        self.name = raw.name
        self._raw = raw
        self._has_failed = False

    def writable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def isatty(self) -> bool:
        """See `io.RawIOBase`."""
        return self._raw.isatty()

    def fileno(self) -> int:
        """See `io.RawIOBase`."""
        return self._raw.fileno()

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of the data. Raises OSError, with a name to tell people, where that can't be done."""
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while left and not self._has_failed:
                taken = self._raw.write(left)
                if taken is None:  # it doesn't block, and takes nothing now
                    select.select([], [self._raw], [])
                left = left[taken or 0 :]
        except OSError as error:
            self._has_failed = True  # else Python, at its end, would try once more
            raise OSError(error.errno, error.strerror, "standard output") from None
        return size
