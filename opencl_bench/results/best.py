"""The best configuration of each kernel on each device, and the geometric means."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coarsen.opencl_bench.records.measurement import Oracle, Role
from coarsen.opencl_bench.results.rows import (
    CASE,
    baselines,
    best,
    comparisons,
    is_helped,
    labelled,
    measured,
    names_of,
    outcome_counts,
)


def best_table(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per kernel and device, in the order of their names, also where nothing has a speed-up.

    Args:
        frame: of `Results.frame`.

    Returns:
        columns `label`, `benchmark`, `key`, `baseline` (its local size and `-D` values), `configuration`,
        `factor`, `speedup`, `low`, `high`, `tie` (the interval holds 1), `oracle` ("reference", "uncoarsened" or
        "nothing": what the results were compared with), `configurations`, `measured`, `excluded`, `failed`. Where
        no configuration has a speed-up, the texts are empty, `factor` is 0 and the other numbers NaN.

    Raises:
        InvalidInputError: no rows, or a benchmark has rows of several presets on one device.
    """
    everything = labelled(frame)
    cases = everything[CASE].drop_duplicates()
    if (frame["role"] == Role.COMPARISON.value).any():
        rows = comparisons(frame)
        found = best(rows)
        found["baseline"] = _baselines_of(found, rows)
        wanted = [*CASE, "key", "baseline", "configuration", "factor", "speedup", "low", "high", "tie", "oracle"]
        table = cases.merge(found[wanted], on=CASE, how="left").merge(
            outcome_counts(rows).reset_index(), on=CASE, how="left"
        )
    else:
        table = cases.assign(key="", baseline="", configuration="", factor=0, oracle="", tie=False)
        table[["speedup", "low", "high"]] = np.nan
        table[["configurations", "measured", "excluded", "failed"]] = 0
    return _filled(table).sort_values(["benchmark", "label"], key=lambda column: column.str.casefold())


def geometric_means(table: pd.DataFrame) -> pd.DataFrame:
    """The geometric mean of the best speed-ups of each device.

    Args:
        table: from `best_table`.

    Returns:
        columns `label`, `speedup` (NaN where no kernel has one), `measured` (kernels that the mean is of),
        `helped` (kernels whose best is coarsened, its interval above 1) and `kernels`.
    """
    return pd.DataFrame([_mean(label, table[table["label"] == label]) for label in names_of(table, "label")])


def _baselines_of(winners: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    """What each winner was compared with; the local size alone where the baseline's own row is missing."""
    known = {
        (row.label, row.benchmark): f"{row.local_size} {row.definitions}" for row in baselines(rows).itertuples()
    }
    return [known.get((row.label, row.benchmark), row.baseline_local_size).strip() for row in winners.itertuples()]


def _mean(label: str, rows: pd.DataFrame) -> dict[str, object]:
    usable = measured(rows)
    return {
        "label": label,
        "speedup": float(np.exp(np.log(usable["speedup"]).mean())) if len(usable) else np.nan,
        "measured": len(usable),
        "helped": int(is_helped(usable).sum()),
        "kernels": len(rows),
    }


def _filled(table: pd.DataFrame) -> pd.DataFrame:
    texts = dict.fromkeys(("key", "baseline", "configuration", "oracle"), "")
    whole = dict.fromkeys(("factor", "configurations", "measured", "excluded", "failed"), 0)
    # A column of texts that are all missing is one of numbers until it is told otherwise.
    known = table.assign(tie=table["tie"].eq(True)).astype(dict.fromkeys(texts, object))
    filled = known.fillna(texts | whole)
    return filled.astype(dict.fromkeys(whole, "int64")).reset_index(drop=True)


def verified_against(oracle: str, *, coarsened: bool) -> str:
    """What the results of a configuration, coarsened or not, were compared with, for a reader."""
    words = {
        Oracle.REFERENCE.value: "reference",
        Oracle.UNCOARSENED.value: "uncoarsened kernel",
        # Where there is no reference, the uncoarsened kernel itself is what others are compared with.
        Oracle.NOTHING.value: "not verified" if coarsened else "is the original",
    }
    return words.get(oracle, "")
