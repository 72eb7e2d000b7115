"""Second times for the evaluation over inputs: what was chosen from stored rows is timed again, in new processes.

python -m coarsen.opencl_bench.studies.input_confirmations STORE --device intel [KERNEL …] [--again failed]

The choices are those of every fold, the best versions, the fixed best and the default. What the store has already
is not timed again, so what was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from coarsen.devices.selection import find_device
from coarsen.opencl_bench.inputs.kept_plans import planned
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, confirm_versions
from coarsen.opencl_bench.inputs.second_times import cells_to_confirm
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.studies.input_rows import StoredKernel, exit_code_of, stored_kernels
from coarsen.opencl_bench.sweep.observer import Remeasure
from coarsen.opencl_bench.workloads.lookup import adaptive
from coarsen.processes import processors
from coarsen.variant.variant import Variant


def chosen_versions(stored: StoredKernel, kept: KeptSearches | None = None) -> dict[str, list[Variant]]:
    """Return the versions of each input that the evaluation needs second times of.

    Args:
        stored: the rows of a kernel.
        kept: searches and plans that were made before, and where others are kept.

    Raises:
        InvalidInputError: there are less than two groups of inputs.
    """
    chosen: dict[str, list[Variant]] = {}
    for name, version in cells_to_confirm(planned(stored.study(searches=kept), kept)):
        chosen.setdefault(name, []).append(version)
    return chosen


@dataclass(frozen=True, slots=True)
class Planning:
    """What is planned, before anything is timed: planning in another process would disturb that.

    Attributes:
        store: has the rows.
        device: the platform and the name of the device.
        searches: the file of searches and plans; None where nothing is kept.
    """

    store: str
    device: tuple[str, str]
    searches: Path | None

    def __call__(self, name: str) -> dict[str, list[Variant]] | None:
        """Return `chosen_versions` of a kernel; None where the device has no rows of it."""
        kept = KeptSearches(self.searches) if self.searches else None
        for stored in stored_kernels([self.store], [name]):
            if (stored.environment.platform, stored.environment.device) == self.device:
                return chosen_versions(stored, kept)
        return None


def chosen_of_all(planning: Planning, names: Sequence[str], processes: int) -> dict[str, dict[str, list[Variant]]]:
    """Return the chosen versions of each kernel that has rows.

    Args:
        planning: plans one.
        names: of the kernels.
        processes: how many plan at once.

    Raises:
        InvalidInputError: as `chosen_versions`; no such store or kernel.
    """
    if processes < 2 or len(names) < 2:
        found = [planning(name) for name in names]
    else:
        # Forked processes would inherit locked locks.
        with ProcessPoolExecutor(min(processes, len(names)), multiprocessing.get_context("spawn")) as pool:
            found = [*pool.map(planning, names)]
    return {name: chosen for name, chosen in zip(names, found, strict=True) if chosen is not None}


def main(words: Sequence[str] | None = None) -> int:
    """Time again what was chosen from a store's rows of one device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("store", help="has the rows, and gets the second times")
    parser.add_argument("kernels", nargs="*", help="adaptive-<kernel>; all that the store has if none is named")
    parser.add_argument("--device", required=True, help="part of its name")
    parser.add_argument(
        "--again", choices=[*Remeasure], default=Remeasure.NOTHING, help="which are timed once more"
    )
    parser.add_argument("--inputs-each", type=int, default=1, metavar="NUMBER", help="so many share a new process")
    parser.add_argument(
        "--searches", type=Path, metavar="FILE", help="keeps searches and plans for the next program"
    )
    parser.add_argument(
        "--processes", type=int, default=processors(), metavar="NUMBER", help="so many plan at once"
    )
    asked = parser.parse_args(words)
    device = find_device(asked.device)
    planning = Planning(asked.store, (device.platform_name, device.name), asked.searches)
    chosen = chosen_of_all(planning, asked.kernels or [*adaptive()], asked.processes)
    for stored in stored_kernels([asked.store], [*chosen]) if chosen else ():
        if (stored.environment.platform, stored.environment.device) != planning.device:
            continue
        default = stored.kernel.default
        measuring = VersionsPlan(
            stored.kernel.name,
            device.index,
            (),
            (default,),
            default,
            method=stored.method,
            form=stored.environment.form,
        )
        with open_store(asked.store) as store:
            done = confirm_versions(
                measuring,
                chosen[stored.kernel.name],
                store,
                again=Remeasure(asked.again),
                inputs_each=asked.inputs_each,
            )
        print(f"{stored.kernel.name}: {len(done.rows)} choices, {done.measured} timed again, {done.seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
