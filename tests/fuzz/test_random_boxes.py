"""Random kernels that read boxes of an array from local memory; Oclgrind sees what is read beside the array.

`python -m tests.fuzz --boxes --seeds 0:1000` tries many more, and says on how many of them the box was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.ir.graph.builder import number
from coarsen.ir.types import IntegerType
from coarsen.pipeline import laid_out
from coarsen.transform.placement import box_copy
from coarsen.variant.coarsening import Level
from tests.fuzz import attempt
from tests.fuzz.attempt import Attempt
from tests.fuzz.child import Child, Target
from tests.fuzz.render import NAME
from tests.fuzz.trial import Trial, to_json, trial_of
from tests.oclgrind.watch import watching
from tests.selection import everything_is_asked_for
from tests.working_devices import short_name

_EVERY = tuple(seed for seed in range(140) if trial_of(seed).has_boxes)
SEEDS = _EVERY[::2] if everything_is_asked_for() else _EVERY[:12]
# Of the kernels, those on which the box is made. In others a work-item may not come to a read, or reads are not a
# whole number of steps apart.
_MADE = 0.7


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """PoCL compiles for long: it takes every other kernel, and none that merges groups with barriers.

    The last test is of Oclgrind.
    """
    device = parameters["device"]
    if "seed" not in parameters:
        return bool(device.is_called("oclgrind"))
    if not device.is_called("pocl"):
        return True
    trial = trial_of(parameters["seed"])
    merges_groups = any(coarsening.level is Level.GROUP for coarsening in trial.configuration)
    return parameters["seed"] in SEEDS[::2] and not merges_groups


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """Where kernels are compiled: the devices' compilers may crash."""
    with Child() as started:
        yield started


@pytest.mark.parametrize("seed", SEEDS)
def test_random_box(seed: int, device: DeviceDescription, child: Child) -> None:
    form = "spirv" if device.takes_spirv and seed % 4 == 0 else "opencl_c"
    verdict = child.judge(trial_of(seed), Target(short_name(device), form))
    assert not verdict.is_failure, verdict


def is_made(trial: Trial) -> bool:
    """Return True if the boxes of a trial are copied."""
    try:
        laid = laid_out(lower(trial.source, NAME), trial.arrays)
    except RefusalError as refusal:
        assert str(refusal.code).startswith("place-"), trial
        return False
    return any(placed.size is None for placed in laid.placed)


def test_most_boxes_are_made() -> None:
    """Were they refused, the test above would test nothing."""
    made = sum(is_made(trial_of(seed)) for seed in SEEDS)
    assert made >= _MADE * len(SEEDS)


def test_reads_that_no_work_item_makes_are_found(
    device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box_copy._BoxCode, "is_taken", lambda *_: number(IntegerType(1), 1))
    attempt.coarsened.cache_clear()
    with watching(device) as watched:
        judge = partial(
            attempt.attempt, queue=cl.CommandQueue(watched.context), form="opencl_c", found=watched.findings
        )
        verdicts = (judge(Attempt.of(to_json(trial_of(seed)))) for seed in _EVERY[:12])
        is_found = any(verdict.kind == "found" and "Invalid read" in verdict.detail for verdict in verdicts)
    attempt.coarsened.cache_clear()
    assert is_found
