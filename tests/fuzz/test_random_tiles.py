"""Random kernels whose loops read copies in local memory; Oclgrind sees what is read beside the arrays, and races.

`python -m tests.fuzz --tiles --seeds 0:1000` tries many more, and says on how many of them a tile was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import RefusalError
from coarsen.pipeline import CoarsenedKernel
from tests.fuzz import attempt
from tests.fuzz.attempt import Attempt
from tests.fuzz.child import Child, Target
from tests.fuzz.trial import Trial, to_json, trial_of
from tests.selection import everything_is_asked_for
from tests.working_devices import short_name

SEEDS = tuple(seed for seed in range(120 if everything_is_asked_for() else 60) if trial_of(seed).has_tiles)
# Of the kernels, those in which a tile is made. In others a work-item may not come to a read, or the group reads
# no element twice.
_MADE = 0.4


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """PoCL and Oclgrind take every other kernel."""
    device = parameters["device"]
    return "seed" not in parameters or device.runs_on("intel") or parameters["seed"] in SEEDS[::2]


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """Where kernels are compiled: the devices' compilers may crash."""
    with Child() as started:
        yield started


@pytest.mark.parametrize("seed", SEEDS)
def test_random_tile(seed: int, device: DeviceDescription, child: Child) -> None:
    form = "spirv" if device.takes_spirv and seed % 4 == 0 else "opencl_c"
    verdict = child.judge(trial_of(seed), Target(short_name(device), form))
    assert not verdict.is_failure, verdict


def is_made(trial: Trial) -> bool:
    """Return True if a loop of a trial gets a tile."""
    wanted = Attempt.of(to_json(trial))
    try:
        return made_of(wanted).tiles is not None
    except RefusalError:
        return False


def made_of(wanted: Attempt) -> CoarsenedKernel:
    return attempt.coarsened(wanted.source, wanted.variant, wanted.tile_pad)


def test_many_tiles_are_made_and_rows_of_some_copies_padded() -> None:
    """Were they refused, the test above would test nothing."""
    some = SEEDS[:8]
    made = [trial for trial in map(trial_of, some) if is_made(trial)]
    assert len(made) >= _MADE * len(some)
    tiled = (made_of(Attempt.of(to_json(trial))).tiles for trial in made)
    assert sum(any(array.pad for array in each.arrays) for each in tiled if each) >= 1
