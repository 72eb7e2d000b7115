"""Standard output that takes all that is written to it, or says why not.

With PYTHONUNBUFFERED, Python writes straight to the file descriptor and ignores how much of it was taken: a full
disk, or a pipe that doesn't block, cuts the text off in silence.
"""

from __future__ import annotations

import io
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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
