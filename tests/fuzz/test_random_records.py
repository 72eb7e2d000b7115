"""Random kernels on random records leave in other layouts what they leave as written.

`python -m tests.fuzz.test_random_records 0:1000` tries more seeds on the first device that compiles.
"""

from __future__ import annotations

import sys

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription, discover_devices, open_device
from coarsen.errors import RefusalError
from tests.fuzz.records import record_trial
from tests.selection import Turn, everything_is_asked_for
from tests.transform.harness import form_by_turns, is_left_out
from tests.transform.layouts.test_layouts import check

SEEDS = range(40 if everything_is_asked_for() else 12)
# Views that LLVM makes of small records, as numbers over several fields, may be refused; of so many, one is.
_REFUSED_OF = 3


def is_refused(queue: cl.CommandQueue, seed: int, form: str) -> bool:
    """Try a seed; whether the layout is refused. Raises AssertionError where something else comes out."""
    trial = record_trial(seed)
    try:
        check(queue, trial.kernel, trial.layouts, trial.shape, trial.factor, form, is_open=trial.is_open)
    except RefusalError as refusal:
        assert str(refusal.code).startswith("layout-"), trial
        return True
    except AssertionError as difference:
        raise AssertionError(f"seed {seed}: {trial}\n{difference}") from difference
    return False


def test_random_records(queue: cl.CommandQueue, device: DeviceDescription) -> None:
    own = [seed for seed in SEEDS if not is_left_out(device, Turn(0, seed))]
    refused = [seed for seed in own if is_refused(queue, seed, form_by_turns(device, Turn(0, seed)))]
    assert len(refused) <= len(own) // _REFUSED_OF, refused


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_a_seed_always_gives_the_same_trial(seed: int) -> None:
    assert str(record_trial(seed)) == str(record_trial(seed))


def main() -> int:
    """Try the seeds of the command line, `0:1000`; each that is refused is named."""
    first, _, last = sys.argv[1].partition(":")
    description = next(each for each in discover_devices() if not each.is_called("oclgrind"))
    device = open_device(description)
    queue = cl.CommandQueue(cl.Context([device]))
    for seed in range(int(first), int(last or int(first) + 1)):
        refused = is_refused(queue, seed, form_by_turns(description, Turn(0, seed)))
        sys.stdout.write(f"{seed} {'refused' if refused else 'same'}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
