"""What the choice of the best looks at: rows of a case, each as it was confirmed.

comparisons, confirmations ─▶ one Compared for each configuration, which stands for all of its processes
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.records.measurement import Role
from coarsen.opencl_bench.results.speedups import across_processes, quotient

ITSELF = Speedup(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Compared:
    """A row, or the rows that it stands for; configurations and launches are whatever tells them apart.

    Args:
        key: the row's.
        configuration: all of it.
        launch: the same uncoarsened.
        baseline: the launch that it was timed against; None where it never ran.
        factor: of its coarsening.
        is_rearranged: whether arrays lie otherwise than in the source.
        role: what it was measured for.
        started: when, in seconds since any moment.
        gain: its speed-up over the baseline; None where it has none.
        invocation: which process of several it was confirmed in, from 0.
        confirmations: the rows, one for each process, that this one stands for; none if it stands for itself.
    """

    key: str
    configuration: Hashable
    launch: Hashable
    baseline: Hashable | None
    factor: int
    role: Role
    started: float
    gain: Speedup | None
    invocation: int = 0
    confirmations: tuple[Compared, ...] = ()
    is_rearranged: bool = False

    @property
    def is_original(self) -> bool:
        """Return True if it is the kernel as written: nothing is merged, and all arrays lie as in the source."""
        return self.factor == 1 and not self.is_rearranged

    @property
    def ratio(self) -> float:
        """The speed-up, 0 where there is none."""
        return self.gain.ratio if self.gain else 0.0

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the rows that it stands for."""
        return tuple(each.key for each in self.confirmations or (self,))


# Gives the speed-up of a row with its interval.
Exact = Callable[[Compared], Speedup | None]


def as_confirmed(comparisons: Iterable[Compared], confirmations: Iterable[Compared]) -> tuple[Compared, ...]:
    """Return one row for each configuration that was compared: the last, with the speed-up of its confirmations.

    What failed when it was confirmed has failed.

    Args:
        comparisons: with one baseline, in the order of time.
        confirmations: the same.
    """
    found: dict[Hashable, dict[int, Compared]] = {}
    for row in confirmations:
        found.setdefault(row.configuration, {})[row.invocation] = row
    latest = {row.configuration: row for row in comparisons}
    return tuple(_confirmed(row, found.get(name, {})) for name, row in latest.items())


def exact_gain(row: Compared, exact: Exact) -> Speedup | None:
    """Return the speed-up of a row, of all of its processes where it was confirmed.

    Args:
        row: from `as_confirmed`.
        exact: for a row that stands for itself; asked where there are no several processes.
    """
    if len(row.confirmations) > 1:
        return across_processes(each.gain for each in row.confirmations if each.gain)
    return exact(row.confirmations[0] if row.confirmations else row)


def gain_over(row: Compared, launch: Compared, exact: Exact) -> Speedup | None:
    """Return the speed-up over another launch than the baseline, which both were timed against.

    Where both were confirmed as often, it is that of the processes one by one: what one does to the baseline, it
    does to both, unless it had to be started again in between.
    """
    if row.key == launch.key:
        return ITSELF
    own, others = ({each.invocation: each.gain for each in one.confirmations} for one in (row, launch))
    if len(own) > 1 and own.keys() == others.keys():
        pairs = [(own[name], others[name]) for name in own]
        return across_processes(quotient(gain, over) for gain, over in pairs if gain and over)
    gain = exact_gain(row, exact)
    return quotient(gain, exact_gain(launch, exact) or ITSELF) if gain else None


def _confirmed(row: Compared, confirmations: Mapping[int, Compared]) -> Compared:
    own = tuple(confirmations.values())
    failed = [each for each in own if each.gain is None]
    if failed or not own:
        return failed[-1] if failed else row
    # Without the interval, which takes time and is known to few, where there is one process.
    gain = exact_gain(replace(row, confirmations=own), lambda each: each.gain)
    return replace(own[-1], gain=gain, confirmations=own)
