"""`coarsen evaluate`: how good predictors are, on kernels that they have not seen."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from coarsen.cli.declared import option, takes
from coarsen.cli.options import checked_dimension, dimension_option, existing_folder, format_option
from coarsen.cli.output import Format, print_json
from coarsen.cli.stores import check_packages
from coarsen.errors import InvalidInputError

DEFAULT_METHODS = ("never", "unique", "cascade", "oracle")
_PACKAGES = {"cascade": ("torch", "sklearn"), "launch": ("sklearn", "scipy")}


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The options of `coarsen evaluate`."""

    data: list[str] = option(
        "What to evaluate on: runtimes (.csv: kernel,factor,DEVICE_ns,…), best factors (.csv: "
        "kernel,device,best_factor), results (.parquet, .jsonl), a store, or a sweep that comes "
        "along, intel for example. May be repeated.",
        "FILE",
        default=MISSING,
        show_default=False,
    )
    model: list[str] | None = option(
        "never, unique, published, cascade, cautious, oracle. May be repeated.  [default: never, unique, cascade, "
        "oracle]",
        "NAME",
        "-m --model",
    )
    device: list[str] | None = option("Only this device of the data. May be repeated.", "NAME", "-d --device")
    dimension: int = dimension_option()
    seeds: int = option("How often methods with randomness are fitted.", "NUMBER", default=20, min=1)
    training: list[str] | None = option(
        "With --unseen or --launch: what to learn from, in a form that --data takes. May be repeated.  "
        "[default: the synthetic kernels' measurements]",
        "FILE",
    )
    unseen: bool = option("Learn nothing from the data, from the training files alone.", default=False)
    preset: str | None = option("The sizes; needed where results have several.", "NAME")
    kernels: Path | None = option("Descriptions (NAME.toml) of kernels that are not the suite's.", "FOLDER")
    details: bool = option("Show what each method chose for each kernel.", default=False)
    launch: bool = option(
        "Evaluate the launch model, and what stands beside it, over the best uncoarsened local size: on "
        "families of the data that are held out, or with --training or --models on all of it.",
        default=False,
    )
    models: Path | None = option("With --launch: the model of this folder.", "FOLDER")
    output_format: Format = format_option()


@takes(EvaluateOptions)
def evaluate(asked: EvaluateOptions) -> None:
    """Evaluate predictors on kernels that they have not seen.

    Each kernel is held out in its turn, with its whole family, on all devices: what predicts it was fitted
    without it, from scaling to thresholds. With --unseen nothing of the data is learned from.

    Example: coarsen evaluate --data runtimes.csv --model unique --model cascade

    Example: coarsen evaluate --launch --data launches.sqlite
    """
    existing_folder("--kernels", asked.kernels)
    if asked.launch:
        for name in ("model", "device", "unseen", "preset", "dimension", "details"):
            if getattr(asked, name):
                raise InvalidInputError(f"--{'dim' if name == 'dimension' else name} is not for --launch")
        existing_folder("--models", asked.models)
        _check_packages("launch")
        # Imported late: it loads the suite.
        from coarsen.cli.evaluate.launch import evaluate_launches

        evaluate_launches(asked)
        return
    if asked.models is not None:
        raise InvalidInputError("--models is for --launch: the other models are fitted anew")
    if asked.training and not asked.unseen:
        raise InvalidInputError("--training is for --unseen and --launch")
    from coarsen.models.evaluation.evaluation import Plan, entrant

    names = tuple(entrant(name).name for name in asked.model or DEFAULT_METHODS)
    dimension, devices = checked_dimension(asked.dimension), tuple(asked.device or ())
    _check_packages(*names)
    from coarsen.cli.evaluate.report import Report, as_data, print_report

    report = Report.of(asked, Plan(names, asked.seeds, dimension, devices, asked.unseen))
    if asked.output_format is Format.JSON:
        print_json(as_data(report))
    else:
        print_report(report, asked.details)


def _check_packages(*methods: str) -> None:
    """Refuse to start without the packages that methods need. Raises InvalidInputError."""
    check_packages(("pandas", "pyarrow", "sqlalchemy"), "evaluating")
    for name in methods:
        check_packages(_PACKAGES.get(name, ()), f"{name} is fitted anew, which", "train")
