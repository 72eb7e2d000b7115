"""Random C functions made of loop nests: those that are taken run as C says, others are refused with a place.

`python -m tests.loops.fuzz` tries as many more as one likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import RefusalError
from tests.loops.draw_nests import drawn
from tests.loops.fuzz import SIZES, Child, inputs
from tests.loops.ran import make, run_on
from tests.oclgrind.watch import watching
from tests.working_devices import short_name

# Of the functions of the first 70 seeds those that are taken and quickly read; at one other,
# Intel's compiler crashed on a kernel of one work-item whose loop writes an element again and again.
SEEDS = (1, 7, 8, 9, 21, 25, 29, 33, 35, 39, 41, 44, 49, 53, 55, 57, 61, 63, 64, 65)
REFUSED = (0, 3, 4, 6, 10, 11, 12, 13)


def runs_on(parameters: Mapping[str, object]) -> bool:
    """Oclgrind is asked for what it finds alone."""
    device = parameters.get("device")
    is_simulator = isinstance(device, DeviceDescription) and device.is_called("oclgrind")
    return is_simulator == ("watched" in parameters)


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    started = Child()
    yield started
    started.end()


@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_those_of_the_function(seed: int, device: DeviceDescription, child: Child) -> None:
    assert child.outcome(seed, (short_name(device),)) == ("", []), drawn(seed).text


@pytest.mark.parametrize("watched", SEEDS[::4])
def test_nothing_is_found_by_a_simulator(watched: int, device: DeviceDescription, tmp_path: Path) -> None:
    nest = drawn(watched)
    made = make(nest.text, tmp_path).with_lanes(4)
    with watching(device) as simulated:
        kernels = made.build(simulated.context)
        for sizes in SIZES[:2]:
            run_on(simulated.queue, kernels, made, *inputs(nest, made, sizes), is_guarded=False)
        assert not simulated.findings(), nest.text


def test_refusals_name_a_place(tmp_path: Path) -> None:
    for seed in REFUSED:
        with pytest.raises(RefusalError) as refused:
            make(drawn(seed).text, tmp_path)
        assert refused.value.position is not None
