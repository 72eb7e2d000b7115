"""`coarsen evaluate`: how good predictors are, on kernels that they have not seen."""

from __future__ import annotations

from coarsen.cli.declared import takes
from coarsen.cli.evaluate.options import EvaluateOptions
from coarsen.cli.options import checked_dimension, existing_folder
from coarsen.cli.output import Format, print_json
from coarsen.cli.stores import check_packages
from coarsen.errors import InvalidInputError

DEFAULT_METHODS = ("never", "unique", "cascade", "oracle")
_PACKAGES = {"cascade": ("torch", "sklearn"), "launch": ("sklearn", "scipy")}


@takes(EvaluateOptions)
def evaluate(asked: EvaluateOptions) -> None:
    """Evaluate predictors on kernels that they have not seen.

    Each kernel is held out in its turn, with its whole family, on all devices: what predicts it was fitted
    without it, from scaling to thresholds. With --unseen nothing of the data is learned from. With --launch the
    launch model is evaluated as it is, on kernels that it did not learn from.

    Example: coarsen evaluate --data runtimes.csv --model unique --model cascade

    Example: coarsen evaluate --launch --data launches.sqlite
    """
    existing_folder("--kernels", asked.kernels)
    if asked.launch:
        for name in ("model", "device", "unseen", "training", "preset", "dimension", "details"):
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
        raise InvalidInputError("--training is for --unseen")
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
