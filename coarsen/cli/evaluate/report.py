"""The results of `coarsen evaluate`, and of the evaluation that `coarsen train` makes: as tables, as JSON."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coarsen.base.names import did_you_mean
from coarsen.base.processes import processors
from coarsen.cli.messages import note
from coarsen.cli.output import counted, print_line, print_lines, print_table
from coarsen.cli.progress import Fits, watching
from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import PUBLISHED
from coarsen.models.evaluation.evaluation import NEVER, ORACLE, UNIQUE, Evaluation, Plan, evaluate
from coarsen.models.evaluation.scores import (
    GIVEN_UP_SPEEDUP,
    HitScore,
    Interval,
    Outcome,
    SeedSpread,
    SpeedupScore,
    oracle_log_speedup,
)
from coarsen.models.examples import Curve, Example
from coarsen.models.held_out import refuse_judge
from coarsen.opencl_bench.results.measured_curves import (
    CurveData,
    examples_of,
    merged,
    read_curves,
    read_table,
    shipped_files,
)

if TYPE_CHECKING:
    from coarsen.cli.evaluate.options import EvaluateOptions


@dataclass(frozen=True)
class Report:
    """An evaluation, and how it came about.

    `further` counts the examples learned from besides, and their kernels; `shares_kernels` where some of these
    are of families that the data has, too.
    """

    plan: Plan
    evaluation: Evaluation
    further: tuple[int, int]
    shares_kernels: bool = False

    @classmethod
    def of(cls, asked: EvaluateOptions, plan: Plan) -> Report:
        """Evaluate the methods of a plan. Raises as `read_data` and `evaluate` do."""
        data = read_data(asked, plan)
        plan = replace(plan, published=data.published, devices=data.devices)
        with watching(Fits()) as fits:
            found = evaluate(data.data, data.further, plan, fits)
        shared = {each.family for each in data.data} & {each.family for each in data.further}
        return cls(plan, found, (len(data.further), kernel_count(data.further)), bool(shared))

    @property
    def measured_devices(self) -> tuple[str, ...]:
        """The devices whose curves are known."""
        return tuple(device for device in self.evaluation.devices if self.evaluation.is_measured(device))

    @property
    def protocol(self) -> str:
        """Say in one sentence what was learned from."""
        if self.plan.unseen:
            kernels = counted(self.further[1], "kernel" if self.shares_kernels else "other kernel")
            further = f"{counted(self.further[0], 'curve')} of {kernels}"
            but = ", but never those of the predicted kernel and its family" if self.shares_kernels else ""
            return f"Nothing of this data was learned from; {further} were{but}."
        return "Each kernel was predicted by models that had not seen it or its family on any device."


# Tables.

_SPEEDUP_HEADINGS = ("method", "geometric mean", "of oracle", "of gain", "over unique", "<0.95", "worst")
_HIT_HEADINGS = ("method", "exact", "within one doubling", "mean error, doublings")
_SPEEDUP_LEGEND = (
    "Geometric mean: of the speed-ups over the uncoarsened kernel, over kernels and",
    "seeds; in brackets the 95 % bootstrap interval over kernels. Of oracle: of the",
    "best factors' geometric mean; of gain: of its logarithm. Over unique: the ratio",
    "of the geometric means, paired. <0.95: kernels that lose more than 5 %. Worst:",
    "over kernels and seeds.",
)


def print_report(report: Report, details: bool) -> None:
    """Print the scores on each device, and on all together; with `details` each kernel's factors."""
    found, measured = report.evaluation, report.measured_devices
    print_line(report.protocol)
    for device in measured:
        print_speedups(device, found.speedup_scores(device))
        if details:
            print_choices(found, device)
    if len(measured) > 1:
        print_speedups(f"all {len(measured)} devices", found.speedup_scores(*measured))
    for device in found.devices:
        if device not in measured:
            print_hits(f"{device} (best factors alone)", found.hit_scores(device))
            if details:
                print_choices(found, device)
    if report.measured_devices:
        print_line()
        print_lines(*_SPEEDUP_LEGEND)


def print_speedups(device: str, scores: Mapping[str, SpeedupScore]) -> None:
    """Print a table of methods and the speed-ups of what they chose."""
    _print_heading(device, max(score.cases for score in scores.values()))
    paired = any(UNIQUE in score.over for score in scores.values())
    kept = [name for name in _SPEEDUP_HEADINGS if paired or name != "over unique"]
    rows = [dict(zip(_SPEEDUP_HEADINGS, _speedup_cells(*item), strict=True)) for item in scores.items()]
    print_table(kept, [[row[name] for name in kept] for row in rows], numbers=("of oracle", "of gain", "<0.95"))
    for name, score in scores.items():
        for remark in _remarks(name, score):
            print_line(remark)


def _speedup_cells(name: str, score: SpeedupScore) -> list[str]:
    over = score.over.get(UNIQUE)
    return [
        name,
        f"{score.geometric_mean:.3f} {_range(score.interval)}" if name != NEVER else "1.000",
        _per_cent(score.share_of_oracle),
        _per_cent(score.share_of_gain),
        f"{over.value:.2f} {_range(over.interval, 2)}" if over is not None and name != UNIQUE else "",
        _number(score.losses),
        f"{score.worst:.2f} {score.worst_case[0]}" if score.worst < 1 else f"{score.worst:.2f}",
    ]


def _remarks(name: str, score: SpeedupScore) -> Iterator[str]:
    if score.spread is not None:
        yield f"{name}: {_spread(score.spread, 'geometric mean', 3)}"
    if score.fallbacks:
        yield f"{name}: {_choices(score.fallbacks)} could not run; as in a launch, the next smaller factor did"
    if score.given_up:
        yield f"{name}: {_choices(score.given_up)} had been given up as too slow: counted as {GIVEN_UP_SPEEDUP}"


def _choices(count: float) -> str:
    return f"{_number(count)} {'choice' if count == 1 else 'choices'}"


def print_hits(device: str, scores: Mapping[str, HitScore]) -> None:
    """Print a table of methods and how often they find the best factor."""
    _print_heading(device, max(score.cases for score in scores.values()))
    rows = [
        [
            name,
            f"{_number(score.exact)}/{score.cases}",
            f"{_number(score.within_one_doubling)}/{score.cases}",
            f"{score.mean_error:.2f} {_range(score.interval, 2)}",
        ]
        for name, score in scores.items()
    ]
    print_table(_HIT_HEADINGS, rows, numbers=_HIT_HEADINGS[1:3])
    for name, score in scores.items():
        if score.spread is not None:
            print_line(f"{name}: {_spread(score.spread, 'mean error', 2)}")


def _print_heading(device: str, cases: int) -> None:
    print_line()
    print_line(f"{device}: {counted(cases, 'kernel' if not device.startswith('all ') else 'case')}")


def _spread(spread: SeedSpread, what: str, digits: int) -> str:
    return (
        f"{what} {spread.low:.{digits}f} to {spread.high:.{digits}f} over {spread.seeds} seeds, "
        f"standard deviation {spread.standard_deviation:.{digits}f}"
    )


def _range(interval: Interval, digits: int = 3) -> str:
    return f"({interval.low:.{digits}f}–{interval.high:.{digits}f})"


def _per_cent(share: float | None) -> str:
    return f"{100 * share:.0f} %" if share is not None else "–"


def _number(count: float) -> str:
    """A mean over seeds: whole where it is."""
    return f"{count:.0f}" if math.isclose(count, round(count), abs_tol=1e-9) else f"{count:.1f}"


def print_choices(evaluation: Evaluation, device: str) -> None:
    """Print the factors chosen for each kernel on a device, with their speed-ups where these are known.

    Of several seeds: the factor chosen most often, with a mark where others were chosen too, and the geometric
    mean of the speed-ups.
    """
    outcomes = {name: found for name, found in evaluation.on(device).items() if name != ORACLE}
    known = {outcome.example.kernel: outcome for found in evaluation.on(device).values() for outcome in found}
    rows = [
        (
            kernel,
            _best(outcome),
            *(_chosen([each for each in found if each.example.kernel == kernel]) for found in outcomes.values()),
        )
        for kernel, outcome in known.items()
    ]
    print_line()
    print_table(("kernel", "best", *outcomes), rows)


def _best(outcome: Outcome) -> str:
    factor = f"{outcome.example.best_factor}"
    return f"{factor}: {math.exp(oracle_log_speedup(outcome.example)):.2f}" if outcome.is_measured else factor


def _chosen(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return ""
    counts = Counter(outcome.factor for outcome in outcomes)
    factor = min(counts, key=lambda each: (-counts[each], each))
    text = f"{factor}{'~' if len(counts) > 1 else ''}"
    if not outcomes[0].is_measured:
        return text
    mean = sum(outcome.log_speedup for outcome in outcomes) / len(outcomes)
    return f"{text}: {math.exp(mean):.2f}"


# What `--format json` prints.


def as_data(report: Report) -> dict[str, Any]:
    """Return the plan, the scores on each device and on all measured ones, and what was chosen."""
    found, measured = report.evaluation, report.measured_devices
    return {
        "methods": list(found.outcomes),
        "dimension": report.plan.dimension,
        "unseen": report.plan.unseen,
        "seeds": report.plan.seeds,
        "further_training": {"curves": report.further[0], "kernels": report.further[1]},
        "devices": {device: _device(found, device, device in measured) for device in found.devices},
        "all_measured": {name: asdict(score) for name, score in found.speedup_scores(*measured).items()},
    }


def _device(found: Evaluation, device: str, measured: bool) -> dict[str, Any]:
    outcomes = found.on(device)
    examples = {outcome.example.kernel: outcome.example for each in outcomes.values() for outcome in each}
    speedups = {name: asdict(score) for name, score in found.speedup_scores(device).items()} if measured else {}
    return {
        "measured": measured,
        "speedups": speedups,
        "hits": {name: asdict(score) for name, score in found.hit_scores(device).items()},
        "kernels": [
            {
                "kernel": kernel,
                "family": example.family,
                "best_factor": example.best_factor,
                "best_speedup": math.exp(oracle_log_speedup(example)) if example.speedup else None,
                "speedup": {str(factor): value for factor, value in example.speedup.items()},
                "choices": {
                    name: [_choice(outcome) for outcome in each if outcome.example.kernel == kernel]
                    for name, each in outcomes.items()
                },
            }
            for kernel, example in examples.items()
        ],
    }


def _choice(outcome: Outcome) -> dict[str, Any]:
    """Return the choice at one seed; without a speed-up where the best factor alone is known."""
    return {
        "seed": outcome.seed,
        "factor": outcome.factor,
        "ran": outcome.ran if outcome.is_measured else None,
        "speedup": math.exp(outcome.log_speedup) if outcome.is_measured else None,
    }


# The data that `coarsen evaluate` reads: the examples to evaluate on, and those to learn from besides.


@dataclass(frozen=True)
class EvaluationData:
    """Examples to evaluate on, examples to learn from besides, and others' predictions by kernel and device.

    `devices` are those that were asked for, as the data calls them.
    """

    data: tuple[Example, ...]
    further: tuple[Example, ...]
    published: Mapping[tuple[str, str], int]
    devices: tuple[str, ...] = ()


def read_data(asked: EvaluateOptions, plan: Plan) -> EvaluationData:
    """Read everything, and say what was left out.

    Args:
        asked: which files; the synthetic kernels' where no `--training` is given.
        plan: the methods, and the devices that are asked for.

    Raises:
        InvalidInputError: a file can't be read; a kernel is not known; a device is not in the data.
    """
    read = merged([read_curves(source, asked.preset, asked.kernels) for source in asked.data])
    devices = tuple(name_in(read.curves, device) for device in plan.devices)
    further = _training(asked) if plan.unseen else CurveData(())
    _say([*read.notes, *further.notes])
    note(
        f"computing the features of {counted(len({c.kernel for c in (*read.curves, *further.curves)}), 'kernel')}"
    )
    data = examples_of(read.curves, asked.kernels, processors())
    more = examples_of(further.curves, asked.kernels, processors())
    _say([*data.notes, *more.notes])
    return EvaluationData(data.examples, more.examples, {**_published(), **read.predicted}, devices)


def name_in(curves: Iterable[Curve], *words: str) -> str:
    """Return the first of some names that the data has for a device; upper and lower case are alike.

    Raises InvalidInputError where it has none of them.
    """
    names = dict.fromkeys(curve.device for curve in curves)
    alike = {name.casefold(): name for name in names} | {name: name for name in names}
    for word in words:
        found = alike.get(word) or alike.get(word.casefold())
        if found is not None:
            return found
    near = did_you_mean(words[0], names)
    raise InvalidInputError(f"the data has nothing of a device '{words[0]}'{near}; it has {', '.join(names)}")


def _training(asked: EvaluateOptions) -> CurveData:
    sources = asked.training or [*map(str, synthetic_files())]
    found = merged([read_curves(source, None, asked.kernels) for source in sources])
    refuse_judge(curve.kernel for curve in found.curves)
    return found


def synthetic_files() -> list[Path]:
    """Return the measurements of synthetic kernels that come with the package."""
    return [path for name, path in shipped_files().items() if name.startswith("synthetic_")]


def _published() -> Mapping[tuple[str, str], int]:
    table = read_table(PUBLISHED)
    return table.predicted if table is not None else {}


def _say(notes: Iterable[str]) -> None:
    for text in dict.fromkeys(notes):
        note(text)


def kernel_count(examples: Sequence[Example]) -> int:
    """Return the number of kernels that the examples are of."""
    return len({example.kernel for example in examples})
