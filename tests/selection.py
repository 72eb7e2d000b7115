"""Which tests run when.

The gate sets COARSEN_DIFFERENTIAL=full and runs all tests. `make test` leaves to it what takes long
(`tests/slow_tests.py`), and of the differential tests it runs one of every six combinations on each device.

Devices take turns. In the gate each of the three that it has takes every third combination of a kernel and a
configuration, so that each kernel with each transform goes through all of them.
"""

from __future__ import annotations

import os

FULL = "COARSEN_DIFFERENTIAL"
SAMPLED = 6
# Below tests: the modules of which `make test` runs a sample of their own choice.
CHOOSING = (
    "fuzz/test_random_kernels",
    "fuzz/test_random_records",
    "oclgrind/test_benchmarks",
    "opencl_bench/workloads/judge/test_kernels",
    "opencl_bench/workloads/records/test_kernels",
    "record_layouts/test_record_layouts",
    "transform/accumulators/test_accumulators",
    "transform/layouts/test_boxes",
    "transform/layouts/test_layouts",
    "transform/layouts/test_pads",
    "transform/layouts/test_places",
    "transform/test_agreement",
    "transform/test_corpus",
    "transform/test_hazards",
    "transform/test_suite",
    "transform/test_wide_accesses",
    "transform/test_work_groups",
    "transform/test_work_groups_suite",
)
# Where in a round a device has its turn.
PLACES = {"intel": 0, "pocl": 1, "oclgrind": 2}


def everything_is_asked_for() -> bool:
    """Return True if the tests run all combinations, not a sample."""
    return os.environ.get(FULL) == "full"


def choose_by_themselves() -> frozenset[str]:
    """The paths of the test modules that choose a sample."""
    return frozenset(f"tests/{name}.py" for name in CHOOSING)


def has_turn(device: str, number: int) -> bool:
    """Return True if a combination of a kernel and a configuration is for a device.

    Args:
        device: the short name of the device, as in test ids.
        number: the combination's number among all, those of a kernel beside each other.
    """
    return is_taken(number, round_length(), PLACES.get(device, 0))


def round_length() -> int:
    """Return of how many combinations a device takes one."""
    return len(PLACES) if everything_is_asked_for() else SAMPLED


def is_taken(number: int, every: int, place: int = 0) -> bool:
    """Return True for one of every `every` numbers; of every two, for 0, 3, 5, 6, 9, 10, 12, 15 …

    Which one of them the digits of the number decide, to the base `every`: their sum and the place are a multiple
    of it. For two this is the Thue-Morse sequence. It never repeats itself, so that of what comes by twos, fours
    or eights, as with and without something, nothing is always a device's.
    """
    total = place
    while number:
        number, digit = divmod(number, every)
        total += digit
    return total % every == 0
