"""Growth of a kernel's features when it is coarsened (Magni, Dubach, O'Boyle, PACT 2014, table 3): the numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.features import FEATURES, FeatureTable

# The feature that the finding is about, and that kernels are ordered by.
LEADING = "instructions"


def growth_table(tables: Sequence[FeatureTable], factor: int = 8) -> pd.DataFrame:
    """One row for each kernel and feature; the kernels whose instructions grow least come first.

    Args:
        tables: one per kernel, which have the factors 1 and `factor`.
        factor: how many work-items are merged into one.

    Returns:
        columns `kernel`, `feature`, `before` and `after` (the values at factor 1 and at `factor`, in the unit that
        `coarsen.features.FEATURES` names), `growth` (after / before: 1 where the replicas share it, `factor` where
        each has its own; NaN where there is none before).

    Raises:
        InvalidInputError: there is no kernel, one is there twice, or a table lacks a factor.
    """
    names = [table.kernel for table in tables]
    if not names:
        raise InvalidInputError("there is no kernel to show features of")
    if len(set(names)) < len(names):
        raise InvalidInputError("the features of a kernel are there twice")
    ordered = sorted(tables, key=lambda table: (_growth(table, LEADING, factor), table.kernel.casefold()))
    return pd.DataFrame([row for table in ordered for row in _rows(table, factor)])


def growth_finding(table: pd.DataFrame, factor: int) -> str:
    """Say in a sentence how much the instructions grow.

    Args:
        table: from `growth_table`.
        factor: that of the table.
    """
    own = table[table["feature"] == LEADING.replace("_", " ")]
    least, most = own.iloc[0], own.iloc[-1]
    head = f"Coarsened by {factor}, "
    if len(own) == 1:
        return head + f"{least['kernel']} has {least['growth']:.1f} times its instructions"
    return head + (
        f"kernels have {least['growth']:.1f} times ({least['kernel']}) to {most['growth']:.1f} times "
        f"({most['kernel']}) their instructions"
    )


def _rows(table: FeatureTable, factor: int) -> list[dict[str, object]]:
    before, after = table.at(1).by_name(), table.at(factor).by_name()
    return [
        {
            "kernel": table.kernel,
            "feature": feature.name.replace("_", " "),
            "before": before[feature.name],
            "after": after[feature.name],
            "growth": _growth(table, feature.name, factor),
        }
        for feature in FEATURES
    ]


def _growth(table: FeatureTable, feature: str, factor: int) -> float:
    before = table.at(1).by_name()[feature]
    return table.at(factor).by_name()[feature] / before if before else math.nan
