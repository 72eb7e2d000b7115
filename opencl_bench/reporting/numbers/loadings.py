"""Loadings of the cascade's components (Magni, Dubach, O'Boyle, PACT 2014, figure 9): the numbers."""

from __future__ import annotations

import pandas as pd

from coarsen.features import FEATURES
from coarsen.models.cascade.model import Projection, component_labels

VALUE, GROWTH = "value", "growth"


def loading_table(projection: Projection) -> pd.DataFrame:
    """One row for each component and input.

    Args:
        projection: of a cascade, with c components of 34 inputs.

    Returns:
        columns `component` (from 1 on), `label`, `share` (of the inputs' variance), `feature`, `input` ("value" of
        the feature at a factor, or its "growth" to the next one), `loading` (the correlation of input and
        component).
    """
    labels = component_labels(projection.loadings)
    inputs = [(feature.name, kind) for kind in (VALUE, GROWTH) for feature in FEATURES]
    rows = [
        {
            "component": number,
            "label": label,
            "share": float(share),
            "feature": feature.replace("_", " "),
            "input": kind,
            "loading": float(loading),
        }
        for number, (label, share, loadings) in enumerate(
            zip(labels, projection.shares, projection.loadings.T, strict=True), 1
        )
        for (feature, kind), loading in zip(inputs, loadings, strict=True)
    ]
    return pd.DataFrame(rows)


def components_of(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each component: columns `component`, `label`, `share`."""
    return table[["component", "label", "share"]].drop_duplicates().reset_index(drop=True)


def loadings_finding(table: pd.DataFrame) -> str:
    """Say how many components hold how much, and what the largest is about."""
    components = components_of(table)
    inputs = len(table) // len(components)
    first = components.iloc[0]
    held = f"{100 * components['share'].sum():.0f} % of the variance of {inputs} inputs"
    if len(components) == 1:
        return f"One component holds {held}: {first['label']}"
    return (
        f"{len(components)} components hold {held}; "
        f"the largest, with {100 * first['share']:.0f} %, is: {first['label']}"
    )
