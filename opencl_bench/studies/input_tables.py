"""Tables of the evaluation over inputs, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coarsen.models.evaluation.bootstrap import Interval
from coarsen.models.inputs.acceptance import Criterion, KernelResult
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.results_data import ALL_KERNELS, EntrantRow, entrant_rows
from coarsen.models.inputs.scores import Score, entrant_score, is_sensitive, sensitivity
from coarsen.opencl_bench.studies.input_judging import JudgedKernel

NOT_MEASURED = "not measured"
_MOST_NAMES = 6


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {' | '.join(head)} |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def show(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    for line in table(head, rows):
        print(line)


def criteria_table(groups: Sequence[tuple[str, Sequence[Criterion]]]) -> Iterator[str]:
    """Yield the table of criteria, with the numbers of each group of kernels side by side."""
    if not groups:
        return
    head = ["#", "what", "must", "aim", *(name for name, _ in groups)]
    by_number = [{each.number: each for each in found} for _, found in groups]
    rows = []
    for first in groups[0][1]:
        others = [own.get(first.number) for own in by_number]
        sign = "≤ " if first.is_most else "≥ "
        limits = [sign + _number(limit) for limit in (first.must, first.better)]
        rows.append([first.number, first.text, *limits, *map(criterion_cell, others)])
    yield ""
    yield from table(head, rows)


def criterion_cell(criterion: Criterion | None) -> str:
    """Return a number with its interval, whose it is, and whether it is accepted (`yes`, `better` or `no`)."""
    if criterion is None or criterion.value is None:
        return NOT_MEASURED
    verdict = "better" if criterion.is_met and criterion.is_better else "yes" if criterion.is_met else "**no**"
    names = ", ".join(_short(name) for name in criterion.kernels[:_MOST_NAMES])
    more = ", …" if len(criterion.kernels) > _MOST_NAMES else ""
    whose = f" {names}{more}" if names else ""
    return f"{_number(criterion.value)}{_interval(criterion.interval)}{whose}: {verdict}"


def kernels_table(kernels: Sequence[JudgedKernel]) -> Iterator[str]:
    """Yield what there is to gain and what was gained, a line for each kernel."""
    head = ["kernel", "inputs, groups", "versions", "best over fixed best", "share of best", "over fixed best"]
    yield from table([*head, "over default", "hits", "shipped", "tuning"], map(_kernel, kernels))


def _kernel(judged: JudgedKernel) -> list[str]:
    name = _short(judged.stored.kernel.name)
    result = judged.result
    if result is None or judged.plan is None:
        return [name, *[NOT_MEASURED] * 9]
    outcome, times = result.outcome, judged.stored.times
    score = entrant_score([outcome], Entrant.TREE)
    mark = " (sensitive)" if is_sensitive(outcome) else " (control)" if result.is_control else ""
    return [
        name,
        f"{len(times.inputs)}, {len(times.groups)}",
        f"{len(times.versions)}",
        f"{scored(sensitivity([outcome]))}{mark}",
        scored(score.share),
        scored(score.over_fixed),
        scored(score.over_default),
        f"{score.hits.value:.0%}",
        f"{result.versions}",
        f"{judged.tuning_seconds / 60:.1f} min",
    ]


def entrants_table(results: Sequence[KernelResult]) -> Iterator[str]:
    """Yield every way to choose, over all kernels and then kernel by kernel."""
    rows = entrant_rows(results)
    ordered = sorted(rows, key=lambda row: row.kernel != ALL_KERNELS)
    head = ["kernel", "chosen by", "share of best", "5th percentile", "over fixed best", "over default"]
    yield from table([*head, "hits", "exact hits"], map(_entrant, ordered))


def _entrant(row: EntrantRow) -> list[str]:
    score = row.score
    return [
        _short(row.kernel),
        row.entrant,
        scored(score.share),
        f"{score.low_share:.3f}",
        scored(score.over_fixed),
        scored(score.over_default),
        f"{score.hits.value:.0%}",
        f"{score.exact_hits.value:.0%}",
    ]


def scored(score: Score) -> str:
    """Return a score with its interval."""
    return f"{score.value:.3f}{_interval(score.interval)}"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" ({interval.low:.3f}–{interval.high:.3f})"


def _number(value: float) -> str:
    return f"{value:g}" if float(value).is_integer() else f"{value:.3f}"


def _short(name: str) -> str:
    return name.removeprefix("adaptive-")
