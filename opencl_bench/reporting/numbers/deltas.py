"""All kernels at all factors by two features (Magni, Dubach, O'Boyle, PACT 2014, figure 11): the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.features import relative_delta
from coarsen.models.cascade.model import STEP_FACTORS
from coarsen.models.examples import Example


def delta_table(examples: Sequence[Example]) -> pd.DataFrame:
    """One row for each kernel, device, dimension and step from a factor to its double.

    Args:
        examples: of any devices, with their answers.

    Returns:
        columns `device`, `kernel`, `dimension`, `factor` (before the step), `instructions` and
        `divergent_regions`, the relative changes of these features in the step, and `further`, whether the best
        factor lies beyond.

    Raises:
        InvalidInputError: there are no examples.
    """
    if not examples:
        raise InvalidInputError("there is no kernel to draw")
    return pd.DataFrame([_row(example, factor) for example in examples for factor in STEP_FACTORS])


def _row(example: Example, factor: int) -> dict[str, object]:
    table = example.table
    before, after = table.at(factor), table.at(2 * factor)
    change = dict(zip(before.by_name(), relative_delta(before.vector(), after.vector()), strict=True))
    return {
        "device": example.device,
        "kernel": example.kernel,
        "dimension": example.dimension,
        "factor": factor,
        "instructions": float(change["instructions"]),
        "divergent_regions": float(change["divergent_regions"]),
        "further": factor < example.best_factor,
    }


def deltas_finding(table: pd.DataFrame) -> str:
    """Say how often the best factor lies beyond steps that add divergent regions, and beyond others."""
    inside = table[table["divergent_regions"] > 0]
    outside = table[table["divergent_regions"] <= 0]
    parts = [
        f"{_share(rows)} of the {len(rows)} steps that add {name}"
        for rows, name in ((outside, "no divergent region"), (inside, "divergent regions"))
        if len(rows)
    ]
    return f"The best factor lies beyond {', and beyond '.join(parts)}"


def _share(rows: pd.DataFrame) -> str:
    return f"{100 * rows['further'].mean():.0f} %"
