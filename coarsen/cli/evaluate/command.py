"""`coarsen evaluate`: how good predictors are, on kernels that they have not seen."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.messages import NowAndThen, note
from coarsen.cli.options import Dimension, OutputFormat, checked_dimension, existing_folder, prepared_folder
from coarsen.cli.output import Format, print_json
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.cli.evaluate.data import DataRequest
    from coarsen.cli.evaluate.report import Report
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
        "kernel,device,best_factor), results (.parquet, .json, .csv, .jsonl), a store, or a sweep that comes "
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
        help="Write figures there: calibration, predictions; of the cascade its loadings, their "
        "relevance, and the changes of two features (deltas).",
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
        from coarsen.cli.evaluate.json import as_data

        print_json(as_data(report))
    else:
        from coarsen.cli.evaluate.text import print_report

        print_report(report, details)


def _draw(report: Report, folder: Path) -> None:
    from coarsen.cli.evaluate.figures import write_figures

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
