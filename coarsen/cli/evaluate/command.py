"""`coarsen evaluate`: how good predictors are, on kernels that they have not seen."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from matplotlib.figure import Figure

from coarsen.base.files import replace_file
from coarsen.cli.evaluate.report import Report
from coarsen.cli.messages import NowAndThen, note
from coarsen.cli.options import Dimension, OutputFormat, checked_dimension, existing_folder, prepared_folder
from coarsen.cli.output import Format, print_json
from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.calibration import calibrations
from coarsen.models.evaluation.evaluation import Evaluation
from coarsen.models.evaluation.scores import Outcome, oracle_log_speedup
from coarsen.opencl_bench import plots

if TYPE_CHECKING:
    from coarsen.cli.evaluate.data import DataRequest
    from coarsen.models.evaluation.evaluation import Plan


DEFAULT_METHODS = ("never", "unique", "cascade", "oracle")
_PACKAGES = {"cascade": ("torch", "sklearn"), "launch": ("sklearn", "scipy")}
_SECONDS_BETWEEN_NOTES = 20.0


Data = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="FILE",
        help="What to evaluate on: runtimes (.csv: kernel,factor,DEVICE_ns,…), best factors (.csv: "
        "kernel,device,best_factor), results (.parquet, .json, .jsonl), a store, or a sweep that comes "
        "along, intel for example. May be repeated.",
        show_default=False,
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "-m",
        "--model",
        metavar="NAME",
        help="never, unique, published, cascade, oracle. May be repeated.  "
        "[default: never, unique, cascade, oracle]",
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option("-d", "--device", metavar="NAME", help="Only this device of the data. May be repeated."),
]
Seeds = Annotated[
    int, typer.Option("--seeds", metavar="NUMBER", min=1, help="How often methods with randomness are fitted.")
]
Training = Annotated[
    list[str] | None,
    typer.Option(
        "--training",
        metavar="FILE",
        help="With --unseen or --launch: what to learn from, in a form that --data takes. May be repeated.  "
        "[default: the synthetic kernels' measurements]",
    ),
]
Unseen = Annotated[
    bool, typer.Option("--unseen", help="Learn nothing from the data, from the training files alone.")
]
Launch = Annotated[
    bool,
    typer.Option(
        "--launch",
        help="Evaluate the launch model, and what stands beside it, over the best uncoarsened local size: on "
        "families of the data that are held out, or with --training or --models on all of it.",
    ),
]
LaunchModels = Annotated[
    Path | None, typer.Option("--models", metavar="FOLDER", help="With --launch: the model of this folder.")
]
WithoutSizes = Annotated[
    bool,
    typer.Option("--without-sizes", help="With --launch: do not tell the model the sizes of what is judged."),
]
Preset = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help="The sizes; needed where results have several."),
]
Kernels = Annotated[
    Path | None,
    typer.Option(
        "--kernels", metavar="FOLDER", help="Descriptions (NAME.toml) of kernels that are not the suite's."
    ),
]
Figures = Annotated[
    Path | None,
    typer.Option(
        "--figures",
        metavar="FOLDER",
        help="Write figures there: calibration, predictions; and the factors as a table.",
    ),
]
Details = Annotated[bool, typer.Option("--details", help="Show what each method chose for each kernel.")]


def evaluate(
    data: Data,
    model: Models = None,
    device: Devices = None,
    dimension: Dimension = 0,
    seeds: Seeds = 20,
    training: Training = None,
    unseen: Unseen = False,
    preset: Preset = None,
    kernels: Kernels = None,
    figures: Figures = None,
    details: Details = False,
    launch: Launch = False,
    models: LaunchModels = None,
    without_sizes: WithoutSizes = False,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Evaluate predictors on kernels that they have not seen.

    Each kernel is held out in its turn, with its whole family, on all devices: what predicts it was fitted
    without it, from scaling to thresholds. With --unseen nothing of the data is learned from.

    Example: coarsen evaluate --data runtimes.csv --model unique --model cascade

    Example: coarsen evaluate --launch --data launches.sqlite
    """
    if launch:
        refuse_options({"--model": model, "--device": device, "--unseen": unseen, "--preset": preset})
        refuse_options({"--dim": dimension, "--figures": figures, "--details": details})
        # Imported late: it loads the suite.
        from coarsen.cli.evaluate.launch import LaunchEvaluation, evaluate_launches

        described = existing_folder("--kernels", kernels)
        folder = existing_folder("--models", models)
        asked = LaunchEvaluation(tuple(data), tuple(training or ()), folder, described, without_sizes)
        _check_packages_of("launch")
        evaluate_launches(asked, output_format)
        return
    if models is not None:
        raise InvalidInputError("--models is for --launch: the other models are fitted anew")
    if without_sizes:
        raise InvalidInputError("--without-sizes is for --launch")
    plan = _plan(model, device, seeds, dimension, unseen)
    _check_packages(plan)
    if training and not unseen:
        raise InvalidInputError("--training is for --unseen and --launch")
    from coarsen.cli.evaluate.data import DataRequest

    wanted = DataRequest(tuple(data), tuple(training or ()), preset, existing_folder("--kernels", kernels))
    with prepared_folder(figures):
        report = _report(plan, wanted)
        _print(report, output_format, details)
        if figures is not None:
            _draw(report, figures)


def _report(plan: Plan, wanted: DataRequest) -> Report:
    from coarsen.cli.evaluate.data import read_data
    from coarsen.cli.evaluate.report import Report

    data = read_data(wanted, plan)
    return Report.of(data, replace(plan, devices=data.devices), _Progress())


def _print(report: Report, output_format: Format, details: bool) -> None:
    if output_format is Format.JSON:
        print_json(as_data(report))
    else:
        from coarsen.cli.evaluate.text import print_report

        print_report(report, details)


def _draw(report: Report, folder: Path) -> None:
    written = write_figures(report, folder)
    note(f"written: {', '.join(map(str, written)) or 'no figure'}")


def _plan(methods: list[str] | None, devices: list[str] | None, seeds: int, dimension: int, unseen: bool) -> Plan:
    from coarsen.models.evaluation.entrants import entrant
    from coarsen.models.evaluation.evaluation import Plan

    names = tuple(entrant(name).name for name in methods or DEFAULT_METHODS)
    return Plan(names, seeds, checked_dimension(dimension), tuple(devices or ()), unseen)


def _check_packages(plan: Plan) -> None:
    if _is_missing(("matplotlib", "pandas", "pyarrow", "sqlalchemy")):
        raise InvalidInputError("evaluating needs more packages: pip install 'coarsen[bench]'")
    for name in plan.methods:
        _check_packages_of(name)


def refuse_options(options: Mapping[str, object]) -> None:
    """Refuse the options that were given, though they mean nothing with --launch. Raises InvalidInputError."""
    for name, value in options.items():
        if value:
            raise InvalidInputError(f"{name} is not for --launch")


def _check_packages_of(name: str) -> None:
    if _is_missing(_PACKAGES.get(name, ())):
        raise InvalidInputError(f"{name} is fitted anew, which needs more packages: pip install 'coarsen[train]'")


def _is_missing(packages: Iterable[str]) -> bool:
    return any(importlib.util.find_spec(package) is None for package in packages)


class _Progress:
    """Prints the progress of the fits on standard error now and then."""

    def __init__(self) -> None:
        self._pace = NowAndThen(_SECONDS_BETWEEN_NOTES)

    def __call__(self, method: str, done: int, total: int) -> None:
        if self._pace.is_due():
            note(f"{method}: {done} of {total} fits")


NAMES = ("calibration", "predictions")


def write_figures(report: Report, folder: Path) -> list[Path]:
    """Write the figures that the evaluation has numbers for, and `factors.md`; says which it has none for.

    Returns:
        the files written.

    Raises:
        InvalidInputError: one can't be written.
    """
    paths = []
    for name, figure in _figures(report):
        paths.append(folder / f"{name}.svg")
        plots.save(figure, paths[-1])
    paths.append(folder / "factors.md")
    replace_file(plots.markdown(plots.factor_table(plots.choice_table(report.evaluation))).encode(), paths[-1])
    return paths


def _figures(report: Report) -> Iterator[tuple[str, Figure]]:
    for name in NAMES:
        try:
            yield name, _drawn(name, report)
        except InvalidInputError as error:
            note(f"no {name}: {error}")


def _drawn(name: str, report: Report) -> Figure:
    """A figure. Raises InvalidInputError where there is nothing to draw."""
    if name == "calibration":
        return plots.draw_calibration(calibrations(report.evaluation))
    return plots.draw_predictions(plots.choice_table(report.evaluation))


def as_data(report: Report) -> dict[str, Any]:
    """Return the plan, the scores on each device and on all measured ones, what was chosen, calibration."""
    found, measured = report.evaluation, report.measured_devices
    return {
        "methods": list(found.outcomes),
        "dimension": report.plan.dimension,
        "unseen": report.plan.unseen,
        "seeds": report.plan.seeds,
        "further_training": {"curves": report.further[0], "kernels": report.further[1]},
        "devices": {device: _device(found, device, device in measured) for device in found.devices},
        "all_measured": {name: asdict(score) for name, score in found.speedup_scores(*measured).items()},
        "calibration": {name: asdict(each) for name, each in calibrations(report.evaluation).items()},
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
        "factor": outcome.choice.factor,
        "ran": outcome.ran if outcome.is_measured else None,
        "speedup": math.exp(outcome.log_speedup) if outcome.is_measured else None,
        "abstained": outcome.choice.abstained,
        "step_probability": {str(factor): p for factor, p in outcome.choice.step_probability.items()},
    }
