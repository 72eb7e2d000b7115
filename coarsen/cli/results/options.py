"""The options of `coarsen results`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from coarsen.cli.declared import argument, option
from coarsen.cli.options import format_option
from coarsen.cli.output import Format
from coarsen.cli.stores import store_option

if TYPE_CHECKING:
    from coarsen.tuning.records.measurement import Measurement
    from coarsen.tuning.remembered.choice import RememberedChoice
    from coarsen.tuning.store.database import Store
    from coarsen.tuning.store.schema import Filter


@dataclass(frozen=True, kw_only=True)
class ResultsOptions:
    """The options of `coarsen results`."""

    action: str = argument(
        "ls, best, show, plot, export, import or forget.", "ACTION", default="ls", show_default="ls"
    )
    words: list[str] | None = argument("What the action is for, as above.", "KEY|FILE", default=None)
    kernel: list[str] | None = option("Only of this benchmark or kernel. May be repeated.", "NAME", "-k --kernel")
    device: list[str] | None = option(
        "Only of devices with this in their name. Repeatable.", "NAME", "-d --device"
    )
    preset: str | None = option("Only rows of this preset.", "NAME")
    remembered: bool = option("Choices that tuning found, and no measured rows.", default=False)
    source: list[Path] | None = option(
        "Plot, or list the best of, a file instead: .parquet, .jsonl, or NAME.tuned.json. May be repeated.",
        "FILE",
        "--from",
    )
    store: str | None = store_option()
    output: Path | None = option(
        "Plot there: a figure .svg, .png or .pdf, or a page .html.", "FILE", "-o --output"
    )
    by: Literal["device", "dimension", "stride"] = option(
        "What a curve is of; all but device are of one device.", default="device"
    )
    choice: Literal["best", "baseline"] = option(
        "What the curves take at each factor: the best, or the best with the baseline's local size.",
        default="best",
    )
    descriptions: Path | None = option("For a page: NAME.toml of kernels that are not the suite's.", "FOLDER")
    over: str | None = option(
        "Of a tuned file: along which feature.  [default: the one asked about first]", "FEATURE"
    )
    every: bool = option("Forget everything that is remembered.", None, "--all", default=False)
    output_format: Format = format_option()

    @property
    def is_json(self) -> bool:
        """Return True if JSON is to be printed."""
        return self.output_format is Format.JSON

    def rows(self, store: Store) -> Iterator[Measurement]:
        """Return the rows of a store that are meant, each once."""
        from coarsen.tuning.store.schema import Filter

        filters = [Filter(benchmark=kernel, device=device, preset=self.preset) for kernel, device in self._pairs()]
        if len(filters) == 1:
            return store.measurements(filters[0])
        return iter({row.key: row for each in filters for row in store.measurements(each)}.values())

    def choices(self, store: Store) -> list[RememberedChoice]:
        """Return the choices that a store remembers and that are meant, each once."""
        found = {each.key.digest: each for wanted in self.filters() for each in store.remembered.choices(wanted)}
        return list(found.values())

    def filters(self) -> list[Filter]:
        """Return the filters of choices."""
        from coarsen.tuning.store.schema import Filter

        return [Filter(kernel=kernel, device=device) for kernel, device in self._pairs()]

    def _pairs(self) -> Iterable[tuple[str | None, str | None]]:
        return itertools.product(self.kernel or (None,), self.device or (None,))
