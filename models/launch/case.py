"""Cases, which the launch model learns from and is judged by: a kernel at one size on one device; its launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import Array, Rows, in_half_precision
from coarsen.models.launch.device import LaunchDevice
from coarsen.models.launch.inputs import COARSENING_INPUTS, Pair, coarsening_row, kernel_place, local_size_rows
from coarsen.models.launch.planning import DescribedLaunch, PlannedLaunch
from coarsen.variant.variant import Variant

# The standard error of log times from which on a case judges nothing, and a row weighs half.
MOST_ERROR = 0.1


@dataclass(frozen=True)
class LaunchInputs:
    """The inputs of n launches of a kernel, of which u are uncoarsened.

    Attributes:
        variants: the launches, (n,).
        base: each launch's uncoarsened one, as a row of `local`, (n,).
        local: inputs of the uncoarsened launches, (u, i).
        coarsened: inputs of the coarsened ones, (n, j); 0 for those that are not.
        place: of the kernel among others, (k,).
        analytic: log seconds by the analytic model, (n,); NaN without a profile.
    """

    variants: tuple[Variant, ...]
    base: NDArray[np.int64]
    local: Rows
    coarsened: Rows
    place: Array
    analytic: Array

    @cached_property
    def is_coarsened(self) -> NDArray[np.bool_]:
        """Return True for the launches that are coarsened, (n,)."""
        return np.array([variant.is_coarsened for variant in self.variants], dtype=np.bool_)

    def only(self, chosen: Sequence[int]) -> LaunchInputs:
        """Return some of the launches, in this order; the uncoarsened ones that they refer to stay."""
        places = np.asarray(chosen, dtype=np.int64)
        return replace(
            self,
            variants=tuple(self.variants[place] for place in places),
            base=self.base[places],
            coarsened=self.coarsened[places],
            analytic=self.analytic[places],
        )


@dataclass(frozen=True)
class LaunchCase:
    """A kernel at one size on one device.

    Attributes:
        kernel: its name.
        identity: of its code; empty where unknown.
        family: shared by kernels that are held out together.
        mechanisms: that it has, for which whole groups of kernels are held out.
        device: its name.
        size: the name of its sizes.
        inputs: of its launches.
        log_times: their natural logarithms, (n, runs): a run is a process of its own; NaN where one did not run.
        own: the launch as it is, as a place among them; None where it wasn't measured.
        errors: standard errors of the log times, (n,); None where they are not known.
    """

    kernel: str
    identity: str
    family: str
    mechanisms: frozenset[str]
    device: str
    size: str
    inputs: LaunchInputs
    log_times: Array
    own: int | None = None
    errors: Array | None = None

    @property
    def name(self) -> str:
        """Kernel, size and device in one."""
        return f"{self.kernel} ({self.size}) on {self.device}"

    def run(self, number: int) -> Array:
        """Return the log times of a run, the last one where there are fewer, (n,)."""
        return self.log_times[:, min(number, self.log_times.shape[1] - 1)]

    @property
    def standard_errors(self) -> Array:
        """The standard errors of the log times, (n,); 0 where they are not known."""
        return np.zeros(len(self.log_times)) if self.errors is None else self.errors

    @property
    def has_local_sizes(self) -> bool:
        """Return True if several local sizes ran uncoarsened, so that the best of them is worth comparing with."""
        return int((~self.inputs.is_coarsened & np.isfinite(self.mean_log_times())).sum()) > 1

    @property
    def is_certain(self) -> bool:
        """Return True unless the clock can't tell launches apart: then nothing can be judged by them."""
        return bool(np.median(self.standard_errors) <= MOST_ERROR)

    @property
    def own_place(self) -> int:
        """The place of the launch as it is, or else of the first uncoarsened one that ran."""
        if self.own is not None and np.isfinite(self.mean_log_times()[self.own]):
            return self.own
        return int(np.flatnonzero(~self.inputs.is_coarsened & np.isfinite(self.mean_log_times()))[0])

    def mean_log_times(self) -> Array:
        """Return each launch's log time, the mean over runs, (n,); NaN where one of them failed."""
        return np.asarray(self.log_times.mean(axis=1))


def launch_inputs(planned: Mapping[Variant, PlannedLaunch], device: LaunchDevice) -> LaunchInputs:
    """Return the inputs of a kernel's launches.

    Args:
        planned: by variant, in their order, those among them that coarsened ones are compared with.
        device: where they run.

    Raises:
        InvalidInputError: an uncoarsened launch is missing.
    """
    described = {variant: DescribedLaunch(variant, each, device) for variant, each in planned.items()}
    uncoarsened = [launch for variant, launch in described.items() if not variant.is_coarsened]
    places = {launch.variant: place for place, launch in enumerate(uncoarsened)}
    bases = [variant.uncoarsened() for variant in planned]
    missing = next((base for base in bases if base not in places), None)
    if missing is not None:
        raise InvalidInputError(f"the launch {missing} isn't there to compare with")
    rows = [
        coarsening_row(Pair(described[base], launch))
        if launch.variant.is_coarsened
        else np.zeros(len(COARSENING_INPUTS))
        for base, launch in zip(bases, described.values(), strict=True)
    ]
    estimates = [launch.estimate for launch in described.values()]
    return LaunchInputs(
        variants=tuple(planned),
        base=np.array([places[base] for base in bases], dtype=np.int64),
        local=local_size_rows(uncoarsened),
        coarsened=in_half_precision(np.array(rows)),
        place=kernel_place(uncoarsened[0]),
        analytic=np.array([np.log(each.seconds) if each else np.nan for each in estimates]),
    )
