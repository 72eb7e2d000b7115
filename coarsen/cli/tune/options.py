"""The options of `coarsen tune`, and the settings that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coarsen.cli.bench.options import parsed_budget
from coarsen.cli.declared import argument, option
from coarsen.cli.options import format_option, preset_option, seed_option
from coarsen.cli.output import Format
from coarsen.cli.stores import store_option
from coarsen.cli.variant_options import space_values, variant_options
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Level

if TYPE_CHECKING:
    from coarsen.opencl_bench.inputs.over_inputs import OverInputs
    from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
    from coarsen.tuning.settings import Tune


DEFAULT_PRESET = "cpu"
DEFAULT_SECONDS = 20.0
# What a person may leave out of the search, by the names of `--space`.
_SPACE = ("level", "wide-accesses", "distinct")


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """The options of `coarsen tune`."""

    kernel: str = argument(
        "KERNEL.toml, or KERNEL.cl beside it (coarsen describe); NAME.npz (run --record); or a name.", "KERNEL"
    )
    chosen: Mapping[str, Any] = variant_options("layout", "order")
    device: str | None = option(
        "An index (0:1) or any part of the name.  [default: the first that works]", "NAME", "-d --device"
    )
    preset: str = preset_option()
    seconds: float | None = option(
        "The time for all, timing the best again included; over inputs, about that.  [default: 20; over inputs no "
        "limit]",
        "SECONDS",
    )
    trials: str | None = option(
        "The most variants that are tried; over inputs, on each of eight of them, or which share of all.  "
        "[default: no limit; over inputs 30%, or all of 40 or fewer]",
        "NUMBER|SHARE%",
    )
    seed: int = seed_option()
    space: list[str] | None = option(
        "Leave out of the search: level=item or level=group, wide-accesses=no, distinct=no. May be repeated.",
        "NAME=VALUE,...",
    )
    inputs: int | None = option("Use only the first NUMBER inputs of the file.  [default: all]", "NUMBER", min=1)
    caches: Literal["warm", "cold"] = option(
        "Over inputs: cold flushes the caches before every timed run.", default="warm"
    )
    runs: int | None = option(
        "With layouts: charge the conversion to NUMBER runs on the same data.", "NUMBER", min=1, show_default=False
    )
    output: Path | None = option(
        "Where the tuned file of inputs or layouts goes.  [default: beside the description]",
        "FILE.tuned.json",
        "-o --output",
    )
    store: str | None = store_option()
    output_format: Format = format_option()

    @property
    def allowed(self) -> Mapping[str, tuple[Any, ...]]:
        """Return what is left in the search, by the names of `--space`. Raises InvalidInputError."""
        return space_values(self.space or (), _SPACE)

    @property
    def distinct(self) -> bool:
        """Return True if variants may assume that pointer arguments do not overlap."""
        return True in self.allowed.get("distinct", (True,))

    @property
    def has_layouts(self) -> bool:
        """Return True if other layouts of arrays are tried."""
        return bool(self.chosen["layout"] or self.chosen["order"])

    @property
    def has_inputs(self) -> bool:
        """Return True if an option is given that only tuning over inputs has; a tuned file, layouts have, too."""
        return self.inputs is not None or self.caches != "warm"

    def stage_one(self) -> StageOneSettings:
        """Return how versions are searched over inputs. Raises InvalidInputError for `--trials` that are none."""
        # Imported late: they load NumPy and SciPy.
        from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
        from coarsen.tuning.search.guided import GuidedSearcher

        limit = None if self.trials is None else parsed_budget(self.trials, "--trials")
        return StageOneSettings(GuidedSearcher(), seed=self.seed, limit=limit)

    def over_inputs(self, listed: int | None) -> OverInputs:
        """Return how it is tuned over the first `listed` inputs, all if None. Raises as `stage_one` does."""
        from coarsen.opencl_bench.inputs.over_inputs import OverInputs
        from coarsen.tuning.records.measurement import Method

        return OverInputs(
            listed,
            stage_one=self.stage_one(),
            method=Method(cold_cache=self.caches == "cold"),
            distinct=self.distinct,
            seconds=self.seconds,
        )

    def one_size(self) -> Tune:
        """Return how it is tuned at one size. Raises InvalidInputError for a value out of range."""
        # Imported late, as all that measures.
        from coarsen.tuning.settings import Tune

        if self.trials is not None and self.trials.endswith("%"):
            raise InvalidInputError("--trials is a number of variants; a share is for tuning over inputs")
        return Tune(
            seconds=DEFAULT_SECONDS if self.seconds is None else self.seconds,
            trials=None if self.trials is None else int(self.trials),
            seed=self.seed,
            levels=self.allowed.get("level", tuple(Level)),
            wide_accesses=True in self.allowed.get("wide-accesses", (True,)),
            distinct=self.distinct,
            store=self.store,
        )
