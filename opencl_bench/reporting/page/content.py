"""What the page says: plain data, so that it can be tested without a browser and drawn without any measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.tuning.measure.speedup import Speedup
from coarsen.variant.transforms import REPLICATION_ALONE


@dataclass(frozen=True, slots=True)
class Place:
    """A device with a driver, a form of code and a preset: what may be compared within, and not across.

    Args:
        slug: names it in the page and in its address; letters, digits and hyphens.
        name: what readers call it; no two places have the same.
        facts: pairs of a heading and a text, such as the driver's version.
        rows: stored measurements, of any role.
        endings: how many rows ended how, in the words of `Invalidity`.
        speedup: the geometric mean of the best speed-ups; None where no kernel has one.
        kernels: how many there are, `measured` of them have a speed-up, coarsening `helped` so many.
        remarks: what a reader has to know of these numbers, one sentence each.
    """

    slug: str
    name: str
    preset: str
    facts: tuple[tuple[str, str], ...]
    rows: int
    endings: Mapping[str, int]
    speedup: float | None
    kernels: int
    measured: int
    helped: int
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """The best configuration of a kernel at a place; `speedup` is None where nothing has one.

    Where nothing is faster, it is the baseline itself, not coarsened, at 1. `paste` has the lines that make the
    best one's own, none where the kernel is to be left as it is.

    `oracle` is what its results were compared with: "nothing" where it is not coarsened, and others were compared
    with it. `is_confirmed` says that it was timed once more, in new processes, and that this is that number.
    """

    place: str
    baseline: str
    configuration: str
    speedup: Speedup | None
    oracle: str
    is_coarsened: bool
    is_confirmed: bool
    measured: int
    excluded: int
    failed: int
    paste: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """A factor of a kernel at a place: its best configuration with its speed-up, or why there is none."""

    place: str
    factor: int
    speedup: Speedup | None
    words: str
    is_best: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as a PNG; `places` are those whose numbers it shows, `text` says it in words."""

    places: tuple[str, ...]
    text: str
    content: bytes


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Configurations that ended alike, for the same reason."""

    ending: str
    reason: str
    configurations: tuple[str, ...]

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.configurations)


@dataclass(frozen=True, slots=True)
class Failures:
    """Those of a kernel at a place: tried without success, and left out since they break a constraint."""

    place: str
    tried: tuple[FailureGroup, ...]
    excluded: tuple[FailureGroup, ...]


@dataclass(frozen=True, slots=True)
class KernelSection:
    """All that the page says of one kernel."""

    slug: str
    name: str
    best: tuple[Best, ...]
    pictures: tuple[Picture, ...]
    points: tuple[Point, ...]
    failures: tuple[Failures, ...]

    @property
    def gain(self) -> float:
        """The largest of its best speed-ups; 0 where there is none."""
        return max((best.speedup.ratio for best in self.best if best.speedup), default=0.0)


@dataclass(frozen=True, slots=True)
class Report:
    """The whole page.

    Args:
        origin: the names of the files or the store that the measurements are from, without their folders.
        devices: how many there are; one may be several places.
        first, last: when the first and the last of them were made, UTC, ISO 8601.
        kernels: the largest gain first.
    """

    origin: str
    devices: int
    first: str
    last: str
    places: tuple[Place, ...]
    kernels: tuple[KernelSection, ...]
    remarks: tuple[str, ...] = ()

    @property
    def gains(self) -> tuple[tuple[KernelSection, Best], ...]:
        """The best configurations that are faster than their baselines, the largest gains first."""
        found = [
            (kernel, best) for kernel in self.kernels for best in kernel.best if best.is_coarsened and best.speedup
        ]
        return tuple(sorted(found, key=lambda entry: -entry[1].speedup.ratio if entry[1].speedup else 0.0))

    @property
    def certain_gains(self) -> tuple[tuple[KernelSection, Best], ...]:
        """Return those of the gains that there are lines to paste for: their intervals say something."""
        return tuple((kernel, best) for kernel, best in self.gains if best.paste)

    @property
    def is_replication_alone(self) -> bool:
        """Return True if no best configuration has more than replication, by the words of its configuration."""
        (words,) = REPLICATION_ALONE.words
        return all(words in best.configuration for _, best in self.gains)

    @property
    def rows(self) -> int:
        """Stored measurements."""
        return sum(place.rows for place in self.places)


def ratio(value: float) -> str:
    """A speed-up to three digits: measurements are no more precise."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def interval(gain: Speedup) -> str:
    """The bounds of a 95 % interval."""
    return f"{ratio(gain.low)} to {ratio(gain.high)}"


def percent(share: float) -> str:
    """A share of 1 as per cent."""
    return f"{100 * share:.0f} %"
