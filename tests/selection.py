"""Which tests run when.

The gate sets COARSEN_DIFFERENTIAL=full and runs all tests, but of the slowest with many parameter sets
(`GATE_EVERY`) one of two to four sets, and eight others not at all; COARSEN_DIFFERENTIAL=all runs these in full.
`make test` leaves to the gate what takes long (`tests/slow_tests.py`), and of the differential tests it runs one
of every six combinations on each device.

Devices take turns. In the gate each of the three that it has takes every third combination of a kernel and a
configuration, so that each kernel with each transform goes through all of them; where there are fewer, they share
all combinations, and one alone takes every one. What falls to a device that can't take it goes to one that can.
Tests of tools, and of single instructions, run on one of them each.

What no gate runs:

- The full product of kernels, factors and strides (`transform/test_suite`, `transform/test_hazards`,
  `opencl_bench/workloads/records/test_kernels`), and that of merged groups with their factors and further
  transforms (`transform/test_work_groups`, `transform/test_work_groups_suite`). Of these there are pairwise
  covers (`transform/pairwise`), of which the gate takes a third or half: in the whole cover any two values come
  together on one device, three values may never. Two thirds of the other small kernels with merged groups are left
  out.
- Most of what is drawn at random, or of which there is no end: `python -m tests.fuzz` and
  `python -m tests.record_layouts` run as much of it as one likes.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from coarsen.devices.discovery import DeviceDescription
from tests.working_devices import SHORT_NAMES, devices_that_work, short_name

FULL = "COARSEN_DIFFERENTIAL"
SAMPLED = 6
# Below tests: the modules of which `make test` runs a sample of their own choice.
CHOOSING = (
    "fuzz/test_random_boxes",
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
# Below tests: folders and modules of which one of the devices is enough for each test.
ON_ONE_DEVICE = (
    "backend",
    "cli",
    "drop_in",
    "loops",
    "opencl_bench/inputs",
    "opencl_bench/measure",
    "opencl_bench/sweep",
    "opencl_bench/tuning",
    "opencl_bench/workloads/described",
    "programs",
    "runtime",
    "stream/test_laws",
    "stream/test_pipelines",
    "stream/test_programs",
    "stream/test_reduce",
    "stream/test_study",
    "stream/test_tuning",
    # Whose combinations are many, each a kernel of its own.
    "transform/layouts/test_order_positions",
    "transform/placement/test_strips",
    "transform/placement/test_tiled_loops",
)

# Below tests: of which test function the gate runs one of so many parameter sets, devices by turns; 0 for none.
GATE_EVERY: Mapping[str, int] = MappingProxyType(
    {
        "backend/opencl_c/test_optimised_ir.py::test_same_results": 2,
        "backend/test_spirv_conversions.py::test_conversions_between_integers": 2,
        "cli/test_bench_training_kernels.py::test_kernels_are_measured_with_and_without_confirmation": 0,
        "cli/test_escapes.py::test_a_model": 0,
        "docs/test_in_browser.py::test_pages_are_no_wider_than_a_phone": 0,
        "docs/test_in_browser.py::test_search_finds_a_code": 0,
        "docs/test_snippets.py::test_programs_run": 2,
        "frontend/test_further_builtins.py::test_sub_groups_are_refused_where_they_are_called": 3,
        "fuzz/test_planted_mistakes.py::test_a_mistake_of_boxes_is_found": 2,
        "fuzz/test_planted_mistakes.py::test_a_mistake_of_tiles_is_found": 2,
        "fuzz/test_random_tiles.py::test_random_tile": 2,
        "ir/graph/test_round_trip.py::test_nothing_is_lost_between_text_and_graph": 2,
        "loops/test_meaning.py::test_kernels_mean_what_c_means": 2,
        "models/cascade/test_shipped_models.py::test_training_again_gives_the_same_bytes": 0,
        "notebooks/test_notebooks.py::test_runs_quickly_and_quietly": 3,
        "oclgrind/test_adaptive.py::test_nothing_is_found": 2,
        "oclgrind/test_benchmarks.py::test_nothing_new_is_found": 2,
        "oclgrind/test_records.py::test_nothing_is_found": 2,
        "opencl_bench/sweep/test_engine.py::test_a_killed_sweep_goes_on_where_it_was": 2,
        "opencl_bench/test_published.py::test_readme_cites_the_best_of_sweeps": 0,
        "opencl_bench/tuning/test_distinct_choice.py::test_a_search_tries_it_where_it_is_allowed": 2,
        "opencl_bench/tuning/test_open_local_size.py::"
        "test_launches_of_any_dimensions_and_sizes_are_tuned_without_one": 4,
        "opencl_bench/workloads/adaptive/test_versions.py::test_a_version_gives_the_results_of_the_default_one": 3,
        "opencl_bench/workloads/judge/test_kernels.py::test_coarsened_it_gives_the_same_results": 3,
        "opencl_bench/workloads/records/test_kernels.py::test_coarsened_it_gives_the_same_results": 3,
        "opencl_bench/workloads/test_references.py::test_default_local_size": 2,
        "opencl_bench/workloads/test_training_kernels_on_devices.py::test_coarsened_gives_the_same_results": 2,
        "record_layouts/test_record_layouts.py::test_other_layouts_give_the_same": 2,
        "runtime/test_any_size.py::test_every_launch_gives_the_originals_results": 2,
        "test_whole_output.py::test_a_kernel_through_a_pipe_that_does_not_block": 0,
        "transform/accumulators/test_accumulators.py::test_hazards_give_the_same": 3,
        "transform/accumulators/test_accumulators.py::test_small_kernels_give_the_same": 3,
        "transform/layouts/test_boxes.py::test_boxes": 3,
        "transform/layouts/test_layouts.py::test_arrays_inside_of_records_as_fields": 3,
        "transform/layouts/test_layouts.py::test_layouts": 3,
        "transform/layouts/test_order_positions.py::test_the_same_elements_are_found": 3,
        "transform/placement/test_strips.py::test_the_same_trips_in_the_same_order": 3,
        "transform/placement/test_tiled_loops.py::test_results_are_those_of_the_kernel": 4,
        "transform/test_agreement.py::test_same_results": 4,
        "transform/test_behind_barriers.py::test_only_who_stays_stores": 3,
        "transform/test_corpus.py::test_same_results": 3,
        "transform/test_guard.py::test_work_groups_of_any_number": 2,
        "transform/test_guard.py::test_work_items_of_any_number": 2,
        "transform/test_hazards.py::test_same_results": 3,
        "transform/test_suite.py::test_gives_the_reference_results": 4,
        "transform/test_wide_accesses.py::test_benchmarks_give_the_reference_results": 2,
        "transform/test_wide_accesses.py::test_hazards_give_the_same": 3,
        "transform/test_wide_accesses.py::test_small_kernels_give_the_same": 3,
        "transform/test_work_groups.py::test_same_results": 3,
        "transform/test_work_groups.py::test_same_results_where_the_groups_do_not_divide": 2,
        "transform/test_work_groups.py::test_same_results_with_work_items_merged_too": 3,
        "transform/test_work_groups_suite.py::test_gives_the_reference_results": 3,
    }
)


@functools.cache
def places() -> Mapping[str, int]:
    """Return where in a round each device that works, by its short name, has its turn."""
    return {name: place for place, name in enumerate(sorted(map(short_name, devices_that_work()), key=_rank))}


def place_of(device: DeviceDescription) -> int:
    """Return where in a round a device has its turn."""
    return places().get(short_name(device), 0)


def is_one_of_two(number: int, device: DeviceDescription) -> bool:
    """Return True for every other number, devices by turns; for every one where a single device compiles.

    It is for tests that leave out devices which interpret kernels.
    """
    return len(places().keys() - {"oclgrind"}) < 2 or is_taken(number, 2, place_of(device))


def takes_turn(number: int, device: DeviceDescription) -> bool:
    """Return True for what each device takes in the gate, and in `make test` one of them, by turns."""
    return everything_is_asked_for() or len(places()) < 2 or is_taken(number, len(places()), place_of(device))


def _rank(name: str) -> int:
    return SHORT_NAMES.index(name) if name in SHORT_NAMES else len(SHORT_NAMES)


def everything_is_asked_for() -> bool:
    """Return True if the tests run all combinations, not a sample."""
    return os.environ.get(FULL) in ("full", "all")


def gate_every(function: str) -> int:
    """Return of how many parameter sets of a test function, `tests/…::test_…`, the gate runs one."""
    return GATE_EVERY.get(function.removeprefix("tests/"), 1) if os.environ.get(FULL) == "full" else 1


def needs_one_device(path: str) -> bool:
    """Return True if a test of a module, `tests/…`, runs on one of its devices, by turns."""
    return path.startswith(tuple(f"tests/{name}{end}" for name in ON_ONE_DEVICE for end in ("/", ".py")))


def choose_by_themselves() -> frozenset[str]:
    """The paths of the test modules that choose a sample."""
    return frozenset(f"tests/{name}.py" for name in CHOOSING)


@dataclass(frozen=True)
class Turn:
    """A combination of a kernel and a configuration: whose turn it is.

    Attributes:
        kernel: the number of the kernel.
        place: that of the combination among those of the kernel.
        of: how many combinations the kernel has.
    """

    kernel: int
    place: int
    of: int = SAMPLED

    @classmethod
    def of_some(cls, kernel: int, place: int, of: int) -> Turn:
        """One of few combinations: `make test` need not take one of each kernel."""
        return cls(kernel, place, of if everything_is_asked_for() else SAMPLED)

    @property
    def is_odd(self) -> bool:
        """Return True for every other of the combinations that a device takes."""
        return bool((self.kernel + self.place // self._round) % 2)

    def is_for(self, device: str) -> bool:
        """Return True if a device, of which this is the short name, takes the combination.

        Each device takes one of each kernel's at least. From one round to the next it is another place: strides,
        say, may come by threes.
        """
        shifted = self.place + self.place // self._round
        return (self.kernel + shifted + places().get(device, 0)) % self._round == 0

    def falls_to(self, device: str, able: Sequence[str]) -> bool:
        """Return True if a device takes the combination, where not all can.

        In the gate nothing is lost: what falls to none that can goes to one of those that can, by turns.

        Args:
            device: by its short name.
            able: the devices that can take it, in any order.
        """
        if device not in able:
            return False
        if not everything_is_asked_for() or any(self.is_for(name) for name in able):
            return self.is_for(device)
        return device == sorted(able)[(self.kernel + self.place) % len(able)]

    @property
    def _round(self) -> int:
        return min(self.of, max(1, len(places())) if everything_is_asked_for() else SAMPLED)


def turns_by(kernels: Sequence[Hashable]) -> list[Turn]:
    """Return the turns of a list of combinations, of which the kernels are given."""
    counts = Counter(kernels)
    numbers = {kernel: number for number, kernel in enumerate(counts)}
    met: Counter[Hashable] = Counter()
    turns = []
    for kernel in kernels:
        turns.append(Turn(numbers[kernel], met[kernel], counts[kernel]))
        met[kernel] += 1
    return turns


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
