"""Runs of a replay in this process or in several, each handed over when it has ended.

Linear algebra is kept to one thread: several processes would fight for the processors, and sums over another
number of threads round differently, so that the same seed might try something else.
"""

from __future__ import annotations

import importlib
import importlib.util
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")

# They bring libraries with threads of their own, which can be limited once they are loaded.
_WITH_THREADS = ("numpy", "scipy", "sklearn")
_LOADED = {"scipy": "scipy.linalg", "sklearn": "sklearn.ensemble"}


def as_they_end(
    work: Callable[[Item], Result], items: Sequence[Item], processes: int
) -> Iterator[tuple[int, Result]]:
    """Do some work on each item, and return the number of the item and the result as soon as it is there.

    Args:
        work: a function of a module, which another process can be sent.
        items: in the order in which they are begun.
        processes: how many work at once; with one it is this process.

    Raises:
        Exception: what the work raises. What others had begun ends, and nothing more is begun.
    """
    if processes == 1 or len(items) < 2:
        with one_thread():
            yield from enumerate(map(work, items))
        return
    # Forked processes would inherit locked locks.
    pool = ProcessPoolExecutor(min(processes, len(items)), get_context("spawn"), _end_silently)
    try:
        begun = {pool.submit(_alone, work, item): number for number, item in enumerate(items)}
        for done in as_completed(begun):
            yield begun.pop(done), done.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread while the context lasts."""
    for package in _WITH_THREADS:
        if importlib.util.find_spec(package) is not None:
            importlib.import_module(_LOADED.get(package, package))
    with threadpool_limits(1):
        yield


def _alone(work: Callable[[Item], Result], item: Item) -> Result:
    with one_thread():
        return work(item)


def _end_silently() -> None:
    """Have an interruption end this process without a traceback: the one that began it says what is to be said."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
