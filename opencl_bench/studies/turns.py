"""What the studies share: ways to compute something, compared and timed in turns; lines of CSV."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import geometric_mean
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from coarsen.devices.discovery import open_device
from coarsen.devices.drivers import prepare_loader
from coarsen.devices.selection import find_device
from coarsen.errors import RefusalError

_ROUNDS, _SECONDS = 15, 2e-3
# What was said so far, each with whether it is a failure.
SAID: dict[str, bool] = {}
Run = Callable[[], object]
Lines = Iterator[tuple[Any, ...]]


class Way(NamedTuple):
    """A way to compute something.

    Attributes:
        run: makes a call. What it returns waits for the end where it can be called, else the queue does.
        read: takes what `run` has returned, and returns the result on the host; None for an array of PyOpenCL's.
        rtol: how far that may be from what is wanted, relative to it.
        out: the array that the result goes to; None for the one that `run` returns.
    """

    run: Run
    read: Callable[[Any], Any] | None = None
    rtol: float = 1e-3
    out: Any = None

    def result(self) -> Any:  # noqa: ANN401 (a number or an array)
        """Make a call, and return its result."""
        if self.out is not None:
            self.out.fill(np.nan)
        found: Any = self.run()
        return (found if self.out is None else self.out).get() if self.read is None else self.read(found)


@contextmanager
def goes_on(what: str) -> Iterator[None]:
    """Say on standard error what fails, once, and go on. What is refused or not installed has not failed."""
    try:
        yield
    except Exception as error:
        text = f"{what}: {type(error).__name__}: {error}"
        if text not in SAID:
            print(text, file=sys.stderr, flush=True)
        SAID[text] = SAID.get(text, False) or not isinstance(error, RefusalError | ImportError)


def correct(
    what: str,
    ways: Mapping[str, Way],
    wanted: Any,  # noqa: ANN401 (a number or an array)
    atol: float,
    always: Collection[str] | None = None,
    most: float = 20,
) -> dict[str, Run]:
    """Return the ways that compute what is wanted.

    Args:
        what: is computed, in words.
        ways: by name.
        wanted: the result.
        atol: how far results may be from it.
        always: those that are kept where they are far slower than the fastest; all if None.
        most: how many times as long as that others may take.
    """
    seconds = {}
    for name, way in ways.items():
        with goes_on(f"{what}: {name}"):
            way.result()
            start = time.perf_counter()
            found = way.result()
            took = time.perf_counter() - start
            if not np.allclose(found, wanted, rtol=way.rtol, atol=atol):
                difference = np.abs(np.asarray(found, np.float64) - wanted).max()
                raise ValueError(f"a wrong result: the largest difference is {difference:.3g}")
            seconds[name] = took
    kept, least = seconds if always is None else always, min(seconds.values(), default=0)
    return {name: ways[name].run for name, each in seconds.items() if each <= most * least or name in kept}


def in_turns(queue: cl.CommandQueue, runs: Mapping[str, Run]) -> dict[str, Any]:
    """Return the microseconds of a call in each round, by name.

    Several calls at a time are made, until the queue is empty; the host's part is included.
    """

    def seconds(run: Run, calls: int) -> float:
        def finish(last: object) -> None:
            last() if callable(last) else queue.finish()

        # A device that has just done something else, such as PyTorch's, starts later.
        finish(run())
        start = time.perf_counter()
        for _ in range(calls - 1):
            run()
        finish(run())
        return (time.perf_counter() - start) / calls

    calls = {name: max(1, min(200, int(_SECONDS / seconds(run, 3)))) for name, run in runs.items()}
    times = [{name: seconds(run, calls[name]) for name, run in runs.items()} for _ in range(_ROUNDS)]
    return {name: 1e6 * np.array([each[name] for each in times]) for name in runs}


def compared(queue: cl.CommandQueue, runs: Mapping[str, Run]) -> Iterator[tuple[str, ...]]:
    """Yield for each way its name, microseconds, how many times as fast as the first it is, and as the fastest."""
    times = in_turns(queue, runs)
    medians = {name: float(np.median(each)) for name, each in times.items()}
    for name, each in times.items():
        ratios = np.quantile(times[next(iter(runs))] / each, (0.25, 0.5, 0.75))
        numbers = medians[name], *ratios, min(medians.values()) / medians[name]
        yield name, *(f"{number:.4g}" for number in numbers)


def say_best(what: str, times: Sequence[Mapping[str, float]], chosen: Sequence[str]) -> None:
    """Say on standard error what share of the speed of the fastest way some ways have: the mean, and the least.

    Args:
        what: is computed, in words.
        times: of ways by name, at each size.
        chosen: the ways that are told, and beside them the best of those that are there at all sizes.
    """
    named = set[str]().union(*times)
    shares = {
        name: [min(each.values()) / each[name] for each in times]
        for name in named
        if all(name in each for each in times)
    }
    means = {name: geometric_mean(each) for name, each in shares.items()}
    best = max(means.keys() - {*chosen}, key=means.__getitem__, default=None)
    for name in (each for each in (*chosen, best) if each in means):
        print(f"{what}: {name}: {means[name]:.2f}, least {min(shares[name]):.2f}", file=sys.stderr, flush=True)


COMPARED = ("way", "microseconds", "q1", "over_first", "q3", "of_best")


def of_each(
    queue: cl.CommandQueue, names: Iterable[str], make: Callable[[str], Iterable[tuple[Any, ...]]]
) -> Lines:
    """Yield the lines of each thing of a study, behind the device and its name; what fails is said."""
    for name in names:
        with goes_on(name):
            yield from ((queue.device.name.strip(), name, *line) for line in make(name))


def study(
    doc: str,
    lines: Callable[[cl.CommandQueue, argparse.Namespace], Lines],
    options: Mapping[str, Mapping[str, Any]],
) -> None:
    """Print lines of CSV as they come; the process ends with status 1 where something has failed.

    Args:
        doc: what the study is.
        lines: makes them, the head first, of a queue of the device and what is asked for.
        options: of the command besides the device, as `argparse` takes them.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", required=True)
    for name, how in options.items():
        parser.add_argument(name, **how)
    asked = parser.parse_args()
    prepare_loader()
    # Kept: of some drivers a queue doesn't keep it.
    context = cl.Context([open_device(find_device(asked.device))])
    queue = cl.CommandQueue(context)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for line in lines(queue, asked):
        writer.writerow(line)
        sys.stdout.flush()
    if any(SAID.values()):
        sys.exit(1)
