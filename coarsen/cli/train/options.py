"""The options of `coarsen train`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.declared import option
from coarsen.cli.options import dimension_option, format_option
from coarsen.cli.output import Format
from coarsen.user_models import ModelName, user_models


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of `coarsen train`."""

    device: str | None = option("Whose cascade to train, tahiti for example.", "NAME", "-d --device")
    model: ModelName = option(
        "A device's published cascade (PACT 2014), or the launch model.",
        None,
        "-m --model",
        default=ModelName.CASCADE,
    )
    data: list[str] | None = option(
        "What is learned from: runtimes (.csv: kernel,factor,DEVICE_ns,…), results (.parquet, "
        ".jsonl), a store, a sweep that comes along, synthetic_intel for example, or for the cascade best factors "
        "(.csv: kernel,device,best_factor). May be repeated.  [default: what was published of the cascade's "
        "device; else the synthetic kernels' measurements]",
        "FILE",
    )
    kernels: Path | None = option("Descriptions (NAME.toml) of kernels that are not the suite's.", "FOLDER")
    dim: int = dimension_option()
    output: Path | None = option(
        "Store the model there.  [default: the user's data folder]", "FOLDER", "-o --output"
    )
    seed: int = option("Seed of the networks' first weights, or the trees.", "NUMBER", default=0, min=0)
    output_format: Format = format_option()

    @property
    def folder(self) -> Path:
        """Return where the model is stored."""
        return self.output or user_models()
