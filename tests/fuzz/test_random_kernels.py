"""Random kernels: what the original leaves in its buffers, the coarsened one does, on every compiled device.

A failure names the seed: `python -m tests.fuzz --seeds SEED` shrinks it. Many more seeds are tried in that way;
here, a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.variant.coarsening import Level
from tests.fuzz.child import Child, Target
from tests.fuzz.generate import KernelGenerator
from tests.fuzz.trial import trial_of
from tests.selection import everything_is_asked_for
from tests.working_devices import short_name

SEEDS = range(12 if everything_is_asked_for() else 6)


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """Where kernels are compiled: the devices' compilers may crash."""
    with Child() as started:
        yield started


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """PoCL takes a second for a kernel, so every other one is enough for it.

    Merged work-groups with barriers under conditions it compiles for minutes: it gets none with barriers.
    """
    device, seed = parameters["device"], parameters["seed"]
    if not device.is_called("pocl"):
        return True
    trial = trial_of(seed)
    merges_groups = any(coarsening.level is Level.GROUP for coarsening in trial.configuration)
    return seed in SEEDS[::2] and not (merges_groups and "barrier" in trial.source)


@pytest.mark.compiled_devices
@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernel(seed: int, device: DeviceDescription, child: Child) -> None:
    form = "spirv" if device.takes_spirv and seed % 4 == 0 else "opencl_c"
    verdict = child.judge(trial_of(seed), Target(short_name(device), form))
    assert not verdict.is_failure, verdict


def test_most_are_tried_to_the_end(child: Child) -> None:
    """Were the generator's kernels refused, or beyond the device, the test above would test nothing."""
    verdicts = [child.judge(trial_of(seed), Target("intel", "opencl_c")) for seed in range(15)]
    assert sum(verdict.kind == "same" for verdict in verdicts) >= 12


def test_a_seed_always_gives_the_same_trial() -> None:
    assert trial_of(3) == trial_of(3)
    assert len({KernelGenerator(seed).kernel() for seed in range(20)}) == 20
