"""How large kernels may be, so that a mistake ends in one line and not in minutes of work and gigabytes of memory.

Time and memory grow with the length of what is read and written: some 0.2 ms and 2 KiB for each instruction of the
coarsened kernel. Kernels of real applications stay below a tenth of each limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coarsen.errors import RefusalError

MEBIBYTE = 2**20
# Of a file or text with a kernel. A million lines: no compiler takes so many in time.
MOST_INPUT_BYTES = 64 * MEBIBYTE
# Of a kernel as the front end writes it, helpers inlined: some 30,000 plain lines, which take half a minute.
MOST_INSTRUCTIONS = 400_000
# Of a benchmark, a kernel or a preset, in letters: a line of a table holds a tenth.
LONGEST_NAME = 1000
# Of the coarsened kernel, estimated before anything is copied: 1.3 GiB and minutes.
MOST_COPIED_INSTRUCTIONS = 600_000


@contextmanager
def refusing_deep_nesting() -> Iterator[None]:
    """Turn the end of Python's stack, some hundred nested statements, into a refusal.

    Device compilers give up near there too: clang takes 256 nested brackets.
    """
    try:
        yield
    except RecursionError:
        raise RefusalError("too-deep", "statements or expressions of the kernel are nested too deeply") from None
