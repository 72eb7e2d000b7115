"""Second times for the evaluation over inputs: what was chosen from stored rows is timed again, in new processes.

python -m coarsen.opencl_bench.studies.input_confirmations STORE --device intel [KERNEL …] [--again failed]

The choices are those of every fold, the best versions, the fixed best and the default. What the store has already
is not timed again, so what was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, MutableMapping, Sequence
from pathlib import Path

from coarsen.devices.selection import find_device
from coarsen.models.inputs.judging import plan
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, confirm_versions
from coarsen.opencl_bench.inputs.second_times import cells_to_confirm
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.studies.input_rows import StoredKernel, exit_code_of, stored_kernels
from coarsen.opencl_bench.sweep.observer import Remeasure
from coarsen.variant.variant import Variant


def chosen_versions(
    stored: StoredKernel, searches: MutableMapping[Hashable, Found] | None = None
) -> dict[str, list[Variant]]:
    """Return the versions of each input that the evaluation needs second times of.

    Args:
        stored: the rows of a kernel.
        searches: see `StoredKernel.study`.

    Raises:
        InvalidInputError: there are less than two groups of inputs.
    """
    chosen: dict[str, list[Variant]] = {}
    for name, version in cells_to_confirm(plan(stored.study(searches=searches))):
        chosen.setdefault(name, []).append(version)
    return chosen


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
        "--searches", type=Path, metavar="FILE", help="keeps searches of folds for the next program"
    )
    asked = parser.parse_args(words)
    searches = KeptSearches(asked.searches) if asked.searches else None
    device = find_device(asked.device)
    for stored in stored_kernels([asked.store], asked.kernels):
        if (stored.environment.platform, stored.environment.device) != (device.platform_name, device.name):
            continue
        chosen = chosen_versions(stored, searches)
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
                measuring, chosen, store, again=Remeasure(asked.again), inputs_each=asked.inputs_each
            )
        print(f"{stored.kernel.name}: {len(done.rows)} choices, {done.measured} timed again, {done.seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
