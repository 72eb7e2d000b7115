"""`coarsen evaluate`: how good predictors are, on kernels that they have not seen."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.evaluate_options import (
    Data,
    Details,
    Devices,
    Figures,
    Kernels,
    Launch,
    LaunchModels,
    Models,
    Preset,
    Seeds,
    Training,
    Unseen,
    WithoutSizes,
)
from coarsen.cli.folders import existing_folder, prepared_folder
from coarsen.cli.messages import NowAndThen, note
from coarsen.cli.options import Dimension, OutputFormat, checked_dimension
from coarsen.cli.output import Format, print_json
from coarsen.errors import InvalidInputError
from coarsen.models.cascade.settings import VARIANTS

if TYPE_CHECKING:
    from coarsen.cli.evaluate_data import DataRequest
    from coarsen.cli.evaluate_report import Report
    from coarsen.models.evaluation.evaluation import Plan

DEFAULT_METHODS = ("never", "unique", "cascade", "default", "oracle")
_PACKAGES = {
    **dict.fromkeys(VARIANTS, ("torch", "sklearn")),
    "default": ("sklearn", "scipy"),
    "launch": ("sklearn", "scipy"),
}
_SECONDS_BETWEEN_NOTES = 20.0


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
        refuse_options({"--dim": dimension, "--figures": figures})
        # Imported late: it loads the suite.
        from coarsen.cli.evaluate_launch import LaunchEvaluation, evaluate_launches

        described = existing_folder("--kernels", kernels)
        folder = existing_folder("--models", models)
        asked = LaunchEvaluation(tuple(data), tuple(training or ()), folder, described, details, without_sizes)
        _check_packages_of("launch")
        evaluate_launches(asked, output_format)
        return
    if models is not None:
        raise InvalidInputError("--models is for --launch: the other models are fitted anew")
    if without_sizes:
        raise InvalidInputError("--without-sizes is for --launch")
    plan = _plan(model, device, seeds, dimension, unseen)
    _check_packages(plan)
    if unseen and set(training or ()) == {"none"}:
        raise InvalidInputError("--unseen with --training none leaves nothing to learn from")
    from coarsen.cli.evaluate_data import DataRequest

    wanted = DataRequest(tuple(data), tuple(training or ()), preset, existing_folder("--kernels", kernels))
    with prepared_folder(figures):
        report = _report(plan, wanted)
        _print(report, output_format, details)
        if figures is not None:
            _draw(report, figures)


def _report(plan: Plan, wanted: DataRequest) -> Report:
    from coarsen.cli.evaluate_data import read_data
    from coarsen.cli.evaluate_report import Report

    needs_training = _needs_training(plan)
    if wanted.training and not needs_training:
        note("none of the methods learns from other data than its device's own; --training changes nothing")
    data = read_data(wanted, plan, needs_training)
    return Report.of(data, replace(plan, devices=data.devices), _Progress())


def _print(report: Report, output_format: Format, details: bool) -> None:
    if output_format is Format.JSON:
        from coarsen.cli.evaluate_json import as_data

        print_json(as_data(report))
    else:
        from coarsen.cli.evaluate_text import print_report

        print_report(report, details)


def _draw(report: Report, folder: Path) -> None:
    from coarsen.cli.evaluate_figures import write_figures

    written = write_figures(report, folder)
    note(f"written: {', '.join(map(str, written)) or 'no figure'}")


def _plan(methods: list[str] | None, devices: list[str] | None, seeds: int, dimension: int, unseen: bool) -> Plan:
    from coarsen.models.evaluation.entrants import entrant
    from coarsen.models.evaluation.evaluation import Plan
    from coarsen.processes import processors

    names = tuple(entrant(name).name for name in methods or DEFAULT_METHODS)
    return Plan(names, seeds, checked_dimension(dimension), tuple(devices or ()), unseen, processors())


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


def _needs_training(plan: Plan) -> bool:
    from coarsen.models.evaluation.entrants import entrant

    fitted = [entrant(name) for name in plan.methods]
    return any(each.pools or (plan.unseen and each.make is not None and not each.reads_work) for each in fitted)


class _Progress:
    """Prints the progress of the fits on standard error now and then."""

    def __init__(self) -> None:
        self._pace = NowAndThen(_SECONDS_BETWEEN_NOTES)

    def __call__(self, method: str, done: int, total: int) -> None:
        if self._pace.is_due():
            note(f"{method}: {done} of {total} fits")
