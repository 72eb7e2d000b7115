"""Show the progress of sweeps: a bar on a terminal, plain lines elsewhere, nothing where notes are off."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coarsen.cli.bench_progress import PlainLines, Tally
from coarsen.printable import NOTE

if TYPE_CHECKING:
    from coarsen.opencl_bench.sweep.plan import SweepPlan


@contextmanager
def watching(expected: Mapping[SweepPlan, int]) -> Iterator[Tally]:
    """Show the progress of sweeps with so many rows each on standard error while the context lasts."""
    quiet = not logging.getLogger("coarsen").isEnabledFor(NOTE)
    if quiet:
        yield Tally(expected)
    elif not sys.stderr.isatty():
        yield PlainLines(expected)
    else:
        # Imported late: only a terminal needs it.
        from coarsen.cli.bench_bar import bar

        with bar(expected) as tally:
            yield tally
