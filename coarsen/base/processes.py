"""The same work for each of many kernels, in several processes where that pays."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# So few kernels are done before a second process has started.
FEW = 24
_AT_ONCE = 8


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def mapped(work: Callable[[Item], Result], items: Sequence[Item], processes: int | None = None) -> list[Result]:
    """Return the results of some work on each item, in their order. Raises what the work raises.

    Args:
        work: a function of a module, which another process can be sent.
        items: some for every process, or else fewer processes work.
        processes: how many may work. None: as many as there are processors, but for a script just one. A process
            that starts runs the script's file again, so only a script that guards against that
            (`if __name__ == "__main__":`) can have several, and has to say so.
    """
    wanted = processes or (1 if _is_script() else processors())
    count = min(wanted, len(items) // FEW)
    if count < 2:
        return list(map(work, items))
    # Forked processes would inherit locked locks.
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(work, items, chunksize=_AT_ONCE))


def _is_script() -> bool:
    """Return True if Python was given a file to run: no module by its name, no notebook, no prompt."""
    main = sys.modules["__main__"]
    return getattr(main, "__file__", None) is not None and getattr(main, "__spec__", None) is None
