"""Rank correlations of what a device's compiler made of coarsened kernels with their measured speed-ups.

    python -m coarsen.opencl_bench.studies.compiled_facts intel        # or pocl

Kernels are synthetic ones, their speed-ups those of the shipped sweep of the device; they are compiled anew,
so the device has to be here. For each fact that changes:

- Spearman's rank correlation of its change with the speed-up over all rows, its interval by drawing kernels again;
- the same among rows of one factor, a mean weighted by their number, since both may follow the factor;
- how often, among rows of one factor, a row that loses has a larger change than one that does not: 0.5 by chance.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from scipy.stats import rankdata, spearmanr

from coarsen.devices.selection import find_device
from coarsen.errors import CoarsenError
from coarsen.models.compiled.inputs import CHANGED_FACTS
from coarsen.opencl_bench.results.shipped import shipped_files
from coarsen.opencl_bench.studies.compiled_changes import ChangedRow, changed_rows, measured
from coarsen.opencl_bench.studies.compiled_directions import LOSS, Direction, directions

SEED = 15
KERNELS = 40
# Weighted instructions of a vector, for each work-item as the launch was.
WORK = "work of an item"
_RESAMPLES = 500
_FEWEST = 8

Pairs = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class FactRow:
    """What a fact's change says.

    Args:
        fact: its name.
        rows: in which it is known.
        changed: of these, in which it changed.
        correlation: with the speed-up, of all rows; None where it is constant.
        low: end of its 95 % interval, kernels drawn again.
        high: the other end.
        at_one_factor: the correlation among rows of one factor, a weighted mean.
        tells_losses: among rows of one factor, how often the change of a losing row is above another's.
    """

    fact: str
    rows: int
    changed: int
    correlation: float | None
    low: float | None
    high: float | None
    at_one_factor: float | None
    tells_losses: float | None


def fact_rows(rows: Sequence[ChangedRow], seed: int = SEED) -> list[FactRow]:
    """Return what each fact's change says, and, to compare with, what the factor alone says."""
    factors = FactRow("factor", len(rows), len(rows), *_with_interval(rows, _factor, seed), None, None)
    return [factors, *(_fact_row([*map(_with_work, rows)], fact, seed) for fact in (*CHANGED_FACTS, WORK))]


def _with_work(row: ChangedRow) -> ChangedRow:
    """Add the change of the instructions that a vector executes for each work-item of the original launch."""
    instructions, lanes = row.changes["weighted_instructions"], row.changes["item_lanes"]
    if instructions is None or lanes is None:
        return replace(row, changes={**row.changes, WORK: None})
    work = instructions - lanes - math.log2(row.factor)
    return replace(row, changes={**row.changes, WORK: work})


def _fact_row(rows: Sequence[ChangedRow], fact: str, seed: int) -> FactRow:
    known = [row for row in rows if row.changes[fact] is not None]

    def change(row: ChangedRow) -> float:
        return row.changes[fact] or 0.0

    return FactRow(
        fact,
        len(known),
        sum(1 for row in known if row.changes[fact]),
        *_with_interval(known, change, seed),
        _at_one_factor(known, change, lambda pairs: _correlation(pairs)),
        _at_one_factor(known, change, _tells_losses),
    )


def _factor(row: ChangedRow) -> float:
    return math.log2(row.factor)


def _with_interval(
    rows: Sequence[ChangedRow], change: Callable[[ChangedRow], float], seed: int
) -> tuple[float | None, float | None, float | None]:
    """The correlation and the ends of its interval, by drawing kernels with all their rows."""
    by_kernel = defaultdict(list)
    for row in rows:
        by_kernel[row.kernel].append((change(row), row.gain))
    groups = list(by_kernel.values())
    generator = random.Random(seed)
    drawn = []
    for _ in range(_RESAMPLES if groups else 0):
        pairs = [pair for group in generator.choices(groups, k=len(groups)) for pair in group]
        found = _correlation(pairs)
        if found is not None:
            drawn.append(found)
    drawn.sort()
    whole = _correlation([pair for group in groups for pair in group])
    if whole is None or not drawn:
        return None, None, None
    return whole, drawn[int(0.025 * len(drawn))], drawn[min(len(drawn) - 1, int(0.975 * len(drawn)))]


def _correlation(pairs: Pairs) -> float | None:
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(pairs) < _FEWEST or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)


def _at_one_factor(
    rows: Sequence[ChangedRow], change: Callable[[ChangedRow], float], told: Callable[[Pairs], float | None]
) -> float | None:
    """The mean of a number over the factors, weighted by their rows."""
    by_factor = defaultdict(list)
    for row in rows:
        by_factor[row.factor].append((change(row), row.gain))
    found = [(told(pairs), len(pairs)) for pairs in by_factor.values()]
    known = [(value, count) for value, count in found if value is not None]
    total = sum(count for _, count in known)
    return sum(value * count for value, count in known) / total if total else None


def _tells_losses(pairs: Pairs) -> float | None:
    """The area under the curve of receiver operating characteristics, losses being what is told."""
    losing = [gain < LOSS for _, gain in pairs]
    losses = sum(losing)
    if not 0 < losses < len(pairs):
        return None
    ranks = rankdata([change for change, _ in pairs])
    above = sum(rank for rank, is_loss in zip(ranks, losing, strict=True) if is_loss)
    return float((above - losses * (losses + 1) / 2) / (losses * (len(pairs) - losses)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; returns 0, or 2 where the device or its sweep isn't there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("device", choices=("intel", "pocl"))
    parser.add_argument("--kernels", type=int, default=KERNELS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        device = find_device(given.device)
        sweep = measured(shipped_files()[f"synthetic_{given.device}"], given.kernels, given.seed)
    except CoarsenError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    rows = list(changed_rows(device, sweep))
    facts = fact_rows(rows, given.seed)
    if given.json:
        tables: dict[str, Sequence[ChangedRow | FactRow | Direction]] = {
            "rows": rows,
            "facts": facts,
            "directions": directions(rows),
        }
        print(json.dumps({name: [asdict(entry) for entry in table] for name, table in tables.items()}))
    else:
        losing = sum(1 for row in rows if row.gain < LOSS)
        print(f"{device}: {len(sweep)} kernels, {len(rows)} rows, {losing} of them lose")
        _print(facts)
        _print_directions(directions(rows))
    return 0


def _print(facts: Sequence[FactRow]) -> None:
    print(f"{'fact':21} rows changed  correlation (95 % interval)  at one factor  tells losses")
    for row in facts:
        interval = "-" if row.low is None or row.high is None else f"({row.low:+.2f} to {row.high:+.2f})"
        cells = (
            _number(row.correlation, "+"),
            interval,
            _number(row.at_one_factor, "+"),
            _number(row.tells_losses),
        )
        counts = f"{row.rows:4} {row.changed:7}"
        print(f"{row.fact:21} {counts}  {cells[0]:>11} {cells[1]:17} {cells[2]:>13} {cells[3]:>13}")


def _print_directions(found: Sequence[Direction]) -> None:
    print(f"\n{'fact':21} change  rows kernels  speed-up  lose")
    for each in found:
        counts = f"{each.direction:6} {each.rows:5} {each.kernels:7}"
        print(f"{each.fact:21} {counts}  {each.mean:8.2f} {each.losing:5.0%}")


def _number(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.2f}"


if __name__ == "__main__":
    sys.exit(main())
