"""The acceptance table of choosing by input, from stored rows: criteria 1–17, I, and the first paper's Table I.

python -m coarsen.opencl_bench.studies.input_acceptance STORE … [--kernels NAME …] [--runs FILE …] [--json FILE]

Ratios have their 95 % intervals by bootstrap over inputs, two entrants on the same ones. All is told twice: of
all kernels, and of those alone that the method was not settled on. `--runs` names files of what other programs
measured (`input_runs.py`); what is in none is not measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from coarsen.files import replace_file
from coarsen.models.inputs.acceptance import Criterion, criteria
from coarsen.models.inputs.results_data import results_data
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.studies.input_judging import JudgedKernel, judged_kernels
from coarsen.opencl_bench.studies.input_paper import paper_table
from coarsen.opencl_bench.studies.input_rows import DEVELOPMENT, exit_code_of, stored_kernels
from coarsen.opencl_bench.studies.input_runs import Run, read_runs, run_criteria
from coarsen.opencl_bench.studies.input_tables import criteria_table, entrants_table, kernels_table

ALL, UNSEEN = "all kernels", "unseen alone"
# Kernels, inputs of each, and kernels whose contents decide: what must be, and what is aimed at.
_KERNELS, _INPUTS, _CONTENTS = (12, 16), (24, 32), (0, 4)
_DEVICES = (2, 3)
_MINUTES = (30.0, 10.0)


def report(kernels: Sequence[JudgedKernel], runs: Sequence[Run] = ()) -> Iterator[str]:
    """Yield the lines of the report, in Markdown.

    Args:
        kernels: of one or several devices.
        runs: what other programs measured.
    """
    by_device: dict[str, list[JudgedKernel]] = {}
    for each in kernels:
        by_device.setdefault(each.stored.device, []).append(each)
    yield f"# Choosing by input, {len(by_device)} devices"
    yield from criteria_table([(ALL, [of_devices(kernels)])])
    for device, own in by_device.items():
        yield f"\n## {device}"
        yield from _problems(own)
        groups = ((ALL, own), (UNSEEN, [each for each in own if each.stored.kernel.name not in DEVELOPMENT]))
        told = [(name, [*device_criteria(group, runs)]) for name, group in groups]
        yield from criteria_table([(name, found) for name, found in told if found])
        yield "\n### Kernels\n"
        yield from kernels_table(own)
        results = [each.result for each in own if each.result is not None]
        if results:
            yield "\n### Ways to choose, inputs held out\n"
            yield from entrants_table(results)
            yield "\n### The seven of Liu, Zhang and Shen, beside their Table I\n"
            yield from paper_table(own)


def of_devices(kernels: Sequence[JudgedKernel]) -> Criterion:
    """Return criterion 2: the devices with a full grid of one kernel at least."""
    devices = {each.stored.device for each in kernels if each.plan is not None}
    return Criterion("2", "devices with the full grid", len(devices), *_DEVICES)


def device_criteria(kernels: Sequence[JudgedKernel], runs: Sequence[Run]) -> Iterator[Criterion]:
    """Yield the criteria that one device decides, by their numbers; none where nothing is judged.

    Args:
        kernels: of the device.
        runs: of any device; those of this one count.
    """
    done = [each for each in kernels if each.result is not None]
    if not done:
        return
    results = [each.result for each in done if each.result is not None]
    found = [*_counts(done), *criteria(results, done[0].stored.is_gpu), *_costs(done)]
    found += run_criteria(runs, done[0].stored.environment)
    yield from sorted(found, key=_place)


def _place(criterion: Criterion) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, criterion.number))
    return int(digits or 99), criterion.number


def _counts(kernels: Sequence[JudgedKernel]) -> Iterator[Criterion]:
    yield Criterion("1a", "kernels", len(kernels), *_KERNELS)
    inputs = {each.stored.kernel.name: len(each.stored.times.inputs) for each in kernels}
    fewest = min(inputs, key=lambda name: inputs[name])
    yield Criterion("1b", "inputs, fewest of a kernel", inputs[fewest], *_INPUTS, kernels=(fewest,))
    contents = tuple(each.stored.kernel.name for each in kernels if each.stored.kernel.supplied)
    yield Criterion("1c", "kernels with features of contents", len(contents), *_CONTENTS, kernels=contents)


def _costs(kernels: Sequence[JudgedKernel]) -> Iterator[Criterion]:
    slowest = max(kernels, key=lambda each: each.tuning_seconds)
    yield Criterion(
        "11",
        "minutes of tuning a kernel over its inputs, the most: of the rows that a tuning would measure",
        slowest.tuning_seconds / 60,
        *_MINUTES,
        is_most=True,
        kernels=(slowest.stored.kernel.name,),
    )
    shipped = [len(each.plan.shipped.versions) for each in kernels if each.plan is not None]
    yield Criterion("I", "versions shipped, most of a kernel (Adaptic has five)", max(shipped), 5, 5, is_most=True)


def _problems(kernels: Sequence[JudgedKernel]) -> Iterator[str]:
    for each in kernels:
        complete, listed = len(each.stored.complete), len(each.stored.kernel.listed)
        if complete < listed:
            yield f"- {each.stored.kernel.name}: {complete} of {listed} inputs have all rows"
        if each.problem:
            yield f"- {each.stored.kernel.name}: {each.problem}"


def main(words: Sequence[str] | None = None) -> int:
    """Print the report of some stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "stores", nargs="+", metavar="STORE", help="path or URL, as `coarsen bench --store` has it"
    )
    parser.add_argument("--kernels", nargs="*", default=[], metavar="NAME", help="adaptive-<kernel>; else all")
    parser.add_argument("--runs", nargs="*", default=[], type=Path, metavar="FILE", help="of other programs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything as data, too")
    parser.add_argument(
        "--searches", type=Path, metavar="FILE", help="keeps searches and plans for the next program"
    )
    asked = parser.parse_args(words)
    runs = read_runs(asked.runs)
    kept = KeptSearches(asked.searches) if asked.searches else None
    kernels = [*judged_kernels(stored_kernels(asked.stores, asked.kernels), kept=kept)]
    for line in report(kernels, runs):
        print(line)
    if asked.json:
        replace_file(json.dumps(as_data(kernels), indent=1).encode(), asked.json)
    return 0 if kernels and all(each.result for each in kernels) else 1


def as_data(kernels: Sequence[JudgedKernel]) -> dict[str, object]:
    """Return the results by device, of all kernels and of the unseen ones."""
    by_device: dict[str, list[JudgedKernel]] = {}
    for each in kernels:
        if each.result is not None:
            by_device.setdefault(each.stored.device, []).append(each)
    data: dict[str, object] = {}
    for device, own in by_device.items():
        unseen = [each for each in own if each.stored.kernel.name not in DEVELOPMENT]
        groups = {name: group for name, group in ((ALL, own), (UNSEEN, unseen)) if group}
        data[device] = {
            name: results_data([each.result for each in group if each.result is not None], own[0].stored.is_gpu)
            for name, group in groups.items()
        }
    return data


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
