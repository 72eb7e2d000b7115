"""The speed-ups of all configurations of each kernel (Magni et al., PACT 2014, figure 4): the numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.rows import CASE, baselines, best, comparisons, measured

# Fewer different speed-ups have no shape worth drawing: that of the six factors of a published curve says nothing.
SMALLEST_VIOLIN = 10


def violin_points(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per configuration that has a speed-up.

    Args:
        frame: of `Results.frame`.

    Returns:
        columns `label`, `benchmark`, `configuration`, `factor`, `speedup`, `low`, `high`, and `mark`, "best" for
        that of the kernel on the device (see `best_table`), "baseline" for the baseline itself, "" for
        others. Where the baseline is the best, there are two rows of it.

    Raises:
        InvalidInputError: nothing was compared; no configuration has a speed-up.
    """
    rows = comparisons(frame)
    usable = measured(rows)
    if usable.empty:
        raise InvalidInputError("none of the configurations has a speed-up: all of them failed")
    columns = [*CASE, "configuration", "factor", "speedup", "low", "high"]
    marked = [best(rows)[columns].assign(mark="best"), baselines(rows)[columns].assign(mark="baseline")]
    special = pd.concat(marked, ignore_index=True)
    keys = pd.MultiIndex.from_frame(special[[*CASE, "configuration"]])
    plain = usable.loc[~pd.MultiIndex.from_frame(usable[[*CASE, "configuration"]]).isin(keys), columns]
    together = pd.concat([plain.assign(mark=""), special], ignore_index=True)
    return together.sort_values([*CASE, "configuration", "mark"], kind="stable").reset_index(drop=True)


def quartiles(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """The first quartile of some speed-ups, their median and their third quartile; shape (n,), at least one."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(low), float(middle), float(high)


def density(values: npt.NDArray[np.float64], positions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """A Gaussian kernel density estimate, scaled so that its largest value is 1; bandwidth by Scott's rule.

    Args:
        values: at least two, not all alike; shape (n,).
        positions: where to estimate; shape (m,).

    Returns:
        shape (m,).
    """
    bandwidth = values.std(ddof=1) * len(values) ** -0.2
    weights = np.exp(-0.5 * ((positions[:, None] - values[None, :]) / bandwidth) ** 2).sum(axis=1)
    return np.asarray(weights / weights.max())
