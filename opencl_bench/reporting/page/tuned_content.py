"""What the page says of kernels that are tuned over inputs: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.opencl_bench.inputs.cold_changes import ColdChange
from coarsen.opencl_bench.inputs.worth import ChoiceWorth, VersionWorth
from coarsen.opencl_bench.reporting.input_times import InputTimes


@dataclass(frozen=True, slots=True)
class TunedVersionRow:
    """A version in words, and what it is worth; `roles` has what it is beside others."""

    worth: VersionWorth
    words: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InputChart:
    """Times over the input; where the other sizes differ, as ratios to the fastest version of each input."""

    slug: str
    times: InputTimes

    @property
    def is_relative(self) -> bool:
        """Return True if seconds of neighbouring inputs don't compare, for other sizes differ."""
        return self.times.is_relative


@dataclass(frozen=True, slots=True)
class TunedSection:
    """All that the page says of one tuned file.

    Attributes:
        slug: names it in the page.
        name: the kernel, with what tells it from others where several files are of it.
        device: where it was tuned, with the driver.
        origin: the file's name.
        inputs: how many it was tuned over, of `groups` different sizes.
        tried: the versions that were tried on all of them.
        margin: what counts as noise, as a share of the time.
        rules: the tree, line by line.
        features: how each is computed from a launch.
        versions: in the order of their numbers.
        worth: of choosing.
        charts: over one size or feature each.
        is_cold: True if the caches were flushed before every timed run.
        caches: what a check with cold caches found, by input.
    """

    slug: str
    name: str
    device: str
    origin: str
    inputs: int
    groups: int
    tried: int
    margin: float
    rules: tuple[str, ...]
    features: tuple[str, ...]
    versions: tuple[TunedVersionRow, ...]
    worth: ChoiceWorth
    charts: tuple[InputChart, ...]
    is_cold: bool = False
    caches: tuple[ColdChange, ...] = ()

    @property
    def has_break_evens(self) -> bool:
        """Return True if a chart has a break-even point."""
        return any(chart.times.break_evens and not chart.is_relative for chart in self.charts)

    @property
    def chosen(self) -> int:
        """Return how many versions are chosen at the inputs."""
        return sum(row.worth.chosen > 0 for row in self.versions)
