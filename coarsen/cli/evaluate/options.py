"""The options of `coarsen evaluate`."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from pathlib import Path

from coarsen.cli.declared import option
from coarsen.cli.options import dimension_option, format_option
from coarsen.cli.output import Format


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
        "With --unseen: what to learn from, in a form that --data takes. May be repeated.  "
        "[default: the synthetic kernels' measurements]",
        "FILE",
    )
    unseen: bool = option("Learn nothing from the data, from the training files alone.", default=False)
    preset: str | None = option("The sizes; needed where results have several.", "NAME")
    kernels: Path | None = option("Descriptions (NAME.toml) of kernels that are not the suite's.", "FOLDER")
    details: bool = option("Show what each method chose for each kernel.", default=False)
    launch: bool = option(
        "Evaluate the launch model, and what stands beside it, over the best uncoarsened local size, on the "
        "kernels of the data that it did not learn from.",
        default=False,
    )
    models: Path | None = option(
        "With --launch: the model of this folder.  [default: as coarsen predict]", "FOLDER"
    )
    output_format: Format = format_option()
