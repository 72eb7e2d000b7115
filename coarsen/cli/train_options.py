"""The options of `coarsen train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coarsen.cli.predict_options import ModelName

Device = Annotated[
    str | None,
    typer.Option("-d", "--device", metavar="NAME", help="Whose cascade to train, tahiti for example."),
]
Model = Annotated[
    ModelName,
    typer.Option(
        "-m",
        "--model",
        help="The launch model, the default model of all devices, or a device's published cascade (PACT 2014).",
    ),
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="What is learned from: runtimes (.csv: kernel,factor,DEVICE_ns,…), results (.parquet, .json, .csv, "
        ".jsonl), a store, a sweep that comes along, synthetic_intel for example, or for the cascade best factors "
        "(.csv: kernel,device,best_factor). May be repeated.  [default: what was published of the cascade's "
        "device; else the synthetic kernels' measurements]",
    ),
]
BestFactors = Annotated[
    str | None,
    typer.Option(
        "--best-factors",
        metavar="FILE",
        help="Best factors (.csv: kernel,device,best_factor) of devices that were not measured, for the default "
        "model; none for nothing.  [default: those published for four GPUs]",
    ),
]
Kernels = Annotated[
    Path | None,
    typer.Option(
        "--kernels",
        metavar="FOLDER",
        help="Descriptions (NAME.toml) of kernels that are not the suite's.",
    ),
]
Evaluation = Annotated[
    Path | None,
    typer.Option(
        "--evaluation",
        metavar="FILE",
        help="What `coarsen evaluate --format json` printed, for the default model's card.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FOLDER", help="Store the model there.  [default: the user's data folder]"
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the networks' first weights, or the trees."),
]
