"""The best configuration of each kernel on each device, and the geometric means."""

from __future__ import annotations

import numpy as np
import pandas as pd

from coarsen.opencl_bench.records.measurement import Role
from coarsen.opencl_bench.results.rows import (
    CASE,
    best,
    choices,
    comparisons,
    is_helped,
    is_rearranged,
    labelled,
    lies_above,
    measured,
    names_of,
    outcome_counts,
)

_TEXTS = ("key", "baseline", "configuration", "arrays", "oracle")


def best_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per kernel and device, in the order of their names, also where nothing has a speed-up.

    Args:
        frame: of `Results.frame`.

    Returns:
        columns `label`, `benchmark`, `preset` (the newest of those measured), `key`, `baseline` (its local size
        and `-D` values), `configuration` (the baseline itself where nothing is faster), `arrays` (those that lie
        otherwise in it, empty for none), `factor`, `speedup`,
        `low`, `high`, `tie` (the interval holds 1), `confirmed` (timed once more, in new processes), `oracle`
        ("reference", "uncoarsened" or "nothing": what the results were compared with), `configurations`,
        `measured`, `excluded`, `failed`. Where no configuration has a speed-up, the texts are empty, `factor` is 0
        and the other numbers NaN.

    Raises:
        InvalidInputError: no rows.
    """
    everything = labelled(frame)
    cases = everything[[*CASE, "preset"]].drop_duplicates()
    if (everything["role"] == Role.COMPARISON.value).any():
        rows = comparisons(frame)
        wanted = [*CASE, *_TEXTS, "factor", "speedup", "low", "high", "tie", "confirmed"]
        found = pd.concat([best(rows)[wanted], _left_as_they_are(everything.reset_index(drop=True))])
        table = cases.merge(found, on=CASE, how="left").merge(
            outcome_counts(rows).reset_index(), on=CASE, how="left"
        )
    else:
        table = cases.assign(**dict.fromkeys(_TEXTS, ""), factor=0, tie=False, confirmed=False)
        table[["speedup", "low", "high"]] = np.nan
        table[["configurations", "measured", "excluded", "failed"]] = 0
    return _filled(table).sort_values(["benchmark", "label"], key=lambda column: column.str.casefold())


def geometric_means(table: pd.DataFrame) -> pd.DataFrame:
    """Return the geometric mean of the best speed-ups of each device.

    Args:
        table: from `best_table`.

    Returns:
        columns `label`, `speedup` (NaN of fewer than two kernels), `measured` (kernels that the mean is of),
        `helped` (kernels whose best is coarsened, its interval above 1), `laid_out` (those whose best has arrays
        that lie otherwise, and isn't coarsened) and `kernels`.
    """
    return pd.DataFrame([_mean(label, table[table["label"] == label]) for label in names_of(table, "label")])


def _left_as_they_are(rows: pd.DataFrame) -> pd.DataFrame:
    """The best of kernels of which nothing is faster than a baseline that was not compared with itself."""
    return pd.DataFrame(
        {
            **dict(zip(CASE, case, strict=True)),
            "key": "",
            "baseline": choice.baseline,
            "arrays": "",
            "oracle": "",
            "factor": 1,
            "configuration": f"uncoarsened, local size {choice.baseline}",
            "speedup": 1.0,
            "low": 1.0,
            "high": 1.0,
            "tie": True,
            "confirmed": False,
        }
        for case, choice in choices(rows).items()
        if choice.best is None and choice.speedup is not None and choice.baseline is not None
    )


def _mean(label: str, rows: pd.DataFrame) -> dict[str, object]:
    usable = measured(rows)
    return {
        "label": label,
        "speedup": float(np.exp(np.log(usable["speedup"]).mean())) if len(usable) > 1 else np.nan,
        "measured": len(usable),
        "helped": int(is_helped(usable).sum()),
        "laid_out": int(((usable["factor"] == 1) & is_rearranged(usable) & lies_above(usable)).sum()),
        "kernels": len(rows),
    }


def _filled(table: pd.DataFrame) -> pd.DataFrame:
    texts = dict.fromkeys(_TEXTS, "")
    whole = dict.fromkeys(("factor", "configurations", "measured", "excluded", "failed"), 0)
    # A column of texts that are all missing is one of numbers until it is told otherwise.
    truths = {name: table[name].eq(True) for name in ("tie", "confirmed")}
    known = table.assign(**truths).astype(dict.fromkeys(texts, object))
    filled = known.fillna(texts | whole)
    return filled.astype(dict.fromkeys(whole, "int64")).reset_index(drop=True)
