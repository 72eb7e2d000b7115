"""Quality of searches against the share of the space tried: the numbers of figure and table.

rows of a replay ─▶ quality_curves: median and quartiles over seeds ─▶ mean_curves: over spaces
                                                                    ─▶ quality_at: at some shares
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.replay_rows import COLUMNS

_CURVE = ["space", "searcher"]
# Of the common axis that curves of several spaces are read at.
_POINTS = 200
_ROUNDING = 1e-9
# How many of the best predictions are measured (Weber et al. 2015, section 5.1).
CHECKS = 5


def quality_curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median and the quartiles of the quality over seeds, after each number of trials.

    A run that ended early keeps what it had found, as long as others of its searcher go on.

    Args:
        rows: of a replay; see `coarsen.opencl_bench.search.replay_rows`.

    Returns:
        columns `space`, `searcher`, `tried`, `share`, `quality` (the median), `lower`, `upper`, `seeds` (how many
        runs; 0 where the numbers are exact) and `seconds` (the median of what the trials so far took), in the
        order of the rows.

    Raises:
        InvalidInputError: columns are missing, or there are no rows.
    """
    missing = [name for name in COLUMNS if name not in rows.columns]
    if missing:
        raise InvalidInputError(f"the frame has no column {', '.join(missing)}; it is of no replay")
    if rows.empty:
        raise InvalidInputError("there are no trials to show")
    groups = rows.groupby(_CURVE, sort=False)
    return pd.concat([_curve(own, *names) for names, own in groups], ignore_index=True)


def quality_at(curves: pd.DataFrame, shares: Sequence[float], column: str = "quality") -> pd.DataFrame:
    """Return the quality that each searcher has on each space once a share of it was tried.

    A search that ended before has what it found last. What no trial fits in has no quality (NaN).

    Args:
        curves: from `quality_curves`.
        shares: of the valid choices, up to 1.
        column: the median or a quartile.

    Returns:
        a row for each space and searcher, the index; a column for each share.
    """
    found = {names: _at(own, shares, column) for names, own in curves.groupby(_CURVE, sort=False)}
    index = pd.MultiIndex.from_tuples(list(found), names=_CURVE)
    return pd.DataFrame(list(found.values()), index=index, columns=list(shares))


def geometric_means(at: pd.DataFrame) -> pd.DataFrame:
    """Return the geometric mean over spaces of what `quality_at` gave: a row for each searcher.

    A searcher that lacks a quality in one of the spaces has none (NaN).
    """
    spaces = at.index.get_level_values("space").nunique()
    groups = at.groupby("searcher", sort=False)
    return groups.agg(lambda own: _geometric_mean(own, spaces))


def mean_curves(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the geometric mean over spaces of the median quality, for each searcher that was used on all of them.

    Returns:
        columns `searcher`, `share`, `quality`.
    """
    ends = curves.groupby("space")["share"]
    first, last = ends.min().max(), ends.max().max()
    shares = np.geomspace(first, last, _POINTS) if last > first else np.array([first])
    means = geometric_means(quality_at(curves, shares.tolist()))
    return means.melt(var_name="share", value_name="quality", ignore_index=False).reset_index().dropna()


def planned_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each space that an additive prediction needs: of the first such searcher of several.

    Returns:
        a row for each space on which it was replayed, the index; columns `planned`, of its bases and supports, and
        `checked`, of these and the five checks after them: the medians over the runs.
    """
    own = rows[rows["planned"].notna() & (rows["tried"] == 1)]
    own = own[own["searcher"] == own["searcher"].iloc[0]] if len(own) else own
    groups = own.assign(
        planned=own["planned"].astype(float) / own["choices"],
        checked=(own["planned"].astype(float) + CHECKS) / own["choices"],
    ).groupby("space", sort=False)
    return groups[["planned", "checked"]].median()


def search_finding(means: pd.DataFrame, spaces: int) -> str:
    """Say in a sentence what the searchers reach.

    Args:
        means: from `geometric_means`.
        spaces: how many there are.
    """
    share = means.columns[-1]
    reached = means[share].dropna().sort_values(ascending=False, kind="stable")
    if reached.empty:
        return "Nothing was tried in time"
    after = percent(float(f"{share:.2g}"))
    where = f"After {after} of the space" if spaces == 1 else f"After {after} of each space"
    listed = ", ".join(f"{name} is at {quality:.2f}" for name, quality in reached.items())
    return f"{where}, {listed} of the optimum"


def percent(share: float) -> str:
    """Write a share with as many digits as it needs: `0.5 %`."""
    return f"{100 * share:.3g} %"


def _curve(rows: pd.DataFrame, space: str, searcher: str) -> pd.DataFrame:
    """The curve of one searcher on one space."""
    choices = int(rows["choices"].iloc[0])
    if rows["seed"].isna().all():
        quality, lower, upper, seconds = (
            rows[name].to_numpy() for name in ("quality", "lower", "upper", "seconds")
        )
        tried, seeds = rows["tried"].to_numpy(), 0
    else:
        runs = rows.pivot(index="tried", columns="seed", values=["quality", "seconds"]).ffill()
        tried, seeds = runs.index.to_numpy(), rows["seed"].nunique()
        lower, quality, upper = np.quantile(runs["quality"].to_numpy(), (0.25, 0.5, 0.75), axis=1)
        seconds = np.median(runs["seconds"].to_numpy(), axis=1)
    return pd.DataFrame(
        {
            "space": space,
            "searcher": searcher,
            "tried": tried,
            "share": tried / choices,
            "quality": quality,
            "lower": lower,
            "upper": upper,
            "seeds": seeds,
            "seconds": seconds,
        }
    )


def _at(curve: pd.DataFrame, shares: Sequence[float], column: str) -> list[float]:
    places = np.searchsorted(curve["share"].to_numpy(), np.asarray(shares) + _ROUNDING, side="right") - 1
    values = curve[column].to_numpy()
    return [float(values[place]) if place >= 0 else math.nan for place in places]


def _geometric_mean(values: pd.Series, spaces: int) -> float:
    if len(values) < spaces or values.isna().any():
        return math.nan
    return float(np.exp(np.log(values).mean())) if (values > 0).all() else 0.0
