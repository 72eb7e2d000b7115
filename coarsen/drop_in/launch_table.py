"""The launches of a program, counted by kernel and class of sizes, with what was chosen for them and why.

LaunchRequest, Known ─▶ noted  ─┐
each launch          ─▶ counted ┴─▶ LaunchRow, one for each kernel, class of sizes and way to run
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pyopencl

from coarsen.devices.discovery import DeviceDescription, describe_device
from coarsen.policy.remembered import AS_IT_IS, Known
from coarsen.runtime.advice import GUESS, LaunchRequest
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, Sizes
from coarsen.runtime.launches import words_of
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import RememberedChoice, SizeClass
from coarsen.tuning.settings import Tune


class LaunchRow(NamedTuple):
    """The launches of one kernel and class of sizes that ran alike.

    Attributes:
        kernel: its name.
        source: the first digits of the SHA-256 of the program's source.
        device: where they ran, by its name.
        platform: that the device belongs to.
        size_class: as `SizeClass` writes it; empty for launches without work-items.
        global_size: of the most frequent of them, in work-items.
        local_size: likewise, as the program gave it; None where it was left to the device.
        other_sizes: how many other global sizes there were.
        launches: their number.
        is_original: whether they ran as the program launched them.
        runs: what ran, in words.
        why: the reason, in words.
        speedup: of what ran over the launch as it was, as measured when it was tuned; None where that isn't known.
        nanoseconds: one launch before and after, as measured in this run's tuning; None where that isn't known.
        is_settled: whether tuning would find out no more: its result is known, or that it has none in its usual
            seconds, or there is nothing to merge.
    """

    kernel: str
    source: str
    device: str
    platform: str
    size_class: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    other_sizes: int
    launches: int
    is_original: bool
    runs: str
    why: str
    speedup: Speedup | None
    nanoseconds: tuple[float, float] | None
    is_settled: bool = False

    @property
    def saved(self) -> float | None:
        """Return the estimated seconds saved: launches times the difference; None where times aren't known."""
        if self.nanoseconds is None:
            return None
        return self.launches * (self.nanoseconds[0] - self.nanoseconds[1]) / 1e9


class _Launch(NamedTuple):
    """A launch as the program asks for it; `device` is a handle."""

    source: str
    kernel: str
    device: int
    global_size: Sizes
    local_size: Sizes | None


class _Alike(NamedTuple):
    """The key of a row: what its launches have in common."""

    source: str
    kernel: str
    device: int
    size_class: str
    runs: str
    why: str


class LaunchTable:
    """Counts launches, of several threads too."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[_Launch, DividedLaunch]] = Counter()
        self._devices: dict[int, pyopencl.Device] = {}
        self._noted: dict[_Launch, Known | None] = {}
        self._lock = threading.Lock()

    def observer(self, source: str) -> SourceObserver:
        """Return what counts the launches of a program made from this source."""
        return SourceObserver(self, digest_of(source))

    def note(self, request: LaunchRequest, known: Known | None) -> None:
        """Keep what is known of a launch."""
        launch = request.launch
        asked = _Launch(digest_of(request.source), request.kernel, launch.device.int_ptr, *launch[1:3])
        with self._lock:
            self._noted[asked] = known
            # A kernel that demands its local size is asked about with that size.
            self._noted.setdefault(asked._replace(local_size=None), known)

    def count(self, source: str, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        """Count a launch that was made; `source` is a digest."""
        device, global_size, local_size = original[:3]
        launch = _Launch(source, kernel, device.int_ptr, global_size, local_size)
        with self._lock:
            self._counts[launch, divided] += 1
            self._devices.setdefault(launch.device, device)

    @property
    def found(self) -> tuple[RememberedChoice, ...]:
        """Return the choices that were found in this run and are remembered, each once."""
        known = [each for each in self._noted.values() if each is not None and each.tuned is not None]
        choices = {each.choice.key: each.choice for each in known if each.choice and each.is_remembered}
        return tuple(choices.values())

    def rows(self) -> tuple[LaunchRow, ...]:
        """Return all rows, those of one kernel together, the kernels in the order of their first launches."""
        with self._lock:
            counts = dict(self._counts)
        groups: dict[_Alike, list[tuple[_Launch, DividedLaunch]]] = {}
        for launch, divided in counts:
            known = self._noted.get(launch)
            words = words_of(divided) if _is_changed(divided) else "as it is"
            alike = _Alike(*launch[:3], _size_class(launch), words, _why(launch, divided, known))
            groups.setdefault(alike, []).append((launch, divided))
        devices = {handle: describe_device(device) for handle, device in self._devices.items()}
        return tuple(
            self._row(alike, members, counts, devices[alike.device]) for alike, members in _by_kernel(groups)
        )

    def _row(
        self,
        alike: _Alike,
        members: Sequence[tuple[_Launch, DividedLaunch]],
        counts: Mapping[tuple[_Launch, DividedLaunch], int],
        device: DeviceDescription,
    ) -> LaunchRow:
        launch, divided = max(members, key=lambda member: counts[member])
        known = self._noted.get(launch)
        is_as_chosen = known is not None and known.choice is not None and _is_as_chosen(divided, known.choice)
        return LaunchRow(
            kernel=alike.kernel,
            source=alike.source,
            device=device.name,
            platform=device.platform_name,
            size_class=alike.size_class,
            global_size=tuple(launch.global_size),
            local_size=None if launch.local_size is None else tuple(launch.local_size),
            other_sizes=len({each.global_size for each, _ in members}) - 1,
            launches=sum(counts[member] for member in members),
            is_original=not _is_changed(divided),
            runs=alike.runs,
            why=alike.why,
            speedup=known.choice.speedup if known and known.choice and is_as_chosen else None,
            nanoseconds=_nanoseconds(known) if known and is_as_chosen else None,
            is_settled=math.prod(launch.global_size) <= 1 or (known is not None and _is_settled(known)),
        )


class SourceObserver:
    """Sees the launches of programs made from one source; a `LaunchObserver` of `coarsen.runtime`."""

    def __init__(self, table: LaunchTable, source: str) -> None:
        self._table = table
        self._source = source

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        """Count a launch."""
        self._table.count(self._source, kernel, original, divided)


def digest_of(source: str) -> str:
    """Return the first digits of the SHA-256 of a source: programs of one source are one."""
    return hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()[:12]


def _by_kernel(
    groups: Mapping[_Alike, list[tuple[_Launch, DividedLaunch]]],
) -> Iterator[tuple[_Alike, list[tuple[_Launch, DividedLaunch]]]]:
    places: dict[tuple[str, str], int] = {}
    for alike in groups:
        places.setdefault(alike[:2], len(places))
    yield from sorted(groups.items(), key=lambda group: places[group[0][:2]])


def _size_class(launch: _Launch) -> str:
    extents: Iterable[int] = (*launch.global_size, *(launch.local_size or ()))
    return str(SizeClass.of(launch.global_size, launch.local_size)) if min(extents, default=0) > 0 else ""


def _is_changed(divided: DividedLaunch) -> bool:
    return divided.is_rewritten or divided.regrouped


def _why(launch: _Launch, divided: DividedLaunch, known: Known | None) -> str:
    if known is not None and known.choice is not None and divided.reason == known.reason:
        nothing = "nothing is faster" if known.choice.leaves_as_is else None
        return "; ".join(filter(None, (known.origin, nothing, divided.note)))
    if math.prod(launch.global_size) <= 1:
        return "nothing to merge"
    if divided.reason == AS_IT_IS.reason:
        return "nothing is remembered of such launches"
    origin = None if known is None else known.origin
    # What a guess is was said at the first launch.
    reason = "predicted: a guess" if (divided.reason or "").startswith(GUESS) else divided.reason
    reasons = (reason or "nothing to merge", origin, divided.note)
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _is_as_chosen(divided: DividedLaunch, choice: RememberedChoice) -> bool:
    """Return True if a launch ran as it was measured when it was tuned, and that is not as it was."""
    wanted = choice.variant
    if choice.leaves_as_is or divided.note is not None or divided.transforms is None:
        return False
    is_careful = divided.transforms.assuming != wanted.transforms.assuming
    return divided.coarsenings == wanted.coarsenings and not is_careful and _is_changed(divided)


def _is_settled(known: Known) -> bool:
    """Return True if a tuning that nobody gives other seconds would find out no more."""
    return known.choice is not None or known.tried_seconds >= Tune().seconds


def _nanoseconds(known: Known) -> tuple[float, float] | None:
    found = None if known.tuned is None else known.tuned.decision.nanoseconds
    return found if found is not None and min(found) > 0 else None
