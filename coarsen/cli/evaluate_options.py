"""The options of `coarsen evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        help="never, unique, published, cascade, default, analytic, oracle; or of the "
        "cascade, to compare: cascade-seven, cascade-per-factor, cascade-first. May be repeated.  "
        "[default: never, unique, cascade, default, oracle]",
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
        help="What to learn from besides, in a form that --data takes; none for nothing. May be repeated.  "
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
        "families of the data that are held out, or with --training or --models on all of it. --details adds what "
        "is left out in turn: mechanisms, devices, kernels, inputs.",
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
        help="Write figures there: calibration, predictions.",
    ),
]
Details = Annotated[bool, typer.Option("--details", help="Show what each method chose for each kernel.")]
