"""One device's best configuration on another (Magni, Dubach, O'Boyle, PACT 2014, figure 6): the numbers.

relative(tuned on A, run on B) = speed-up on B of A's best configuration / speed-up on B of B's own best
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.rows import best, comparisons, names_of

MEASURED = "measured"
NOT_MEASURED = "not measured"
NO_BEST = "no best"


def transfers(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per kernel and ordered pair of devices, a device with itself among them.

    Args:
        frame: of `Results.frame`; of at least two devices.

    Returns:
        columns `benchmark`, `tuned_on`, `run_on`, `configuration` (the best on `tuned_on`, "" where there is
        none), `relative` (NaN without a value; a little above 1 where the own best did not do as well when it was
        confirmed) and `outcome`: "measured"; "not measured" (`run_on` has no row of that
        configuration); "no best" (no configuration of the kernel has a speed-up on `tuned_on`); else how the
        configuration failed on `run_on`, in the words of `measurement.Invalidity` or, of a published curve,
        "missing".

    Raises:
        InvalidInputError: nothing was compared; there is only one device; no configuration has a speed-up.
    """
    rows = comparisons(frame)
    devices = names_of(rows, "label")
    if len(devices) < 2:
        raise InvalidInputError(f"portability compares devices, and there is only {devices[0]}")
    own = best(rows)
    if own.empty:
        raise InvalidInputError("none of the configurations has a speed-up: all of them failed")
    found = rows.set_index(["label", "benchmark", "configuration"])[["speedup", "invalidity"]]
    known = found.to_dict("index")
    winners = own.set_index(["label", "benchmark"])[["configuration", "speedup"]].to_dict("index")
    return pd.DataFrame(
        {"benchmark": benchmark, "tuned_on": tuned_on, "run_on": run_on}
        | _transfer(winners.get((tuned_on, benchmark)), winners.get((run_on, benchmark)), run_on, benchmark, known)
        for benchmark in names_of(rows, "benchmark")
        for tuned_on in devices
        for run_on in devices
    )


def mean_transfers(pairs: pd.DataFrame) -> pd.DataFrame:
    """The geometric mean over the kernels of each ordered pair of devices.

    Args:
        pairs: from `transfers`.

    Returns:
        columns `tuned_on`, `run_on`, `relative` (NaN where no kernel has a value), `measured` (kernels that the
        mean is of), `failed` (the configuration failed or is not allowed on `run_on`), `missing` (not
        measured, or no best) and `kernels`.
    """
    missing = pairs["outcome"].isin([NOT_MEASURED, NO_BEST])
    counted = pairs.assign(
        logarithm=np.log(pairs["relative"]),
        measured=pairs["outcome"] == MEASURED,
        failed=~missing & (pairs["outcome"] != MEASURED),
        missing=missing,
    )
    grouped = counted.groupby(["tuned_on", "run_on"], sort=False)
    sums = grouped[["measured", "failed", "missing"]].sum().astype(int)
    sums.insert(0, "relative", np.exp(grouped["logarithm"].mean()))
    return sums.assign(kernels=grouped.size()).reset_index()


def _transfer(
    winner: dict[str, object] | None,
    own: dict[str, object] | None,
    run_on: str,
    benchmark: str,
    known: dict[tuple[str, str, str], dict[str, object]],
) -> dict[str, object]:
    if winner is None:
        return {"configuration": "", "relative": np.nan, "outcome": NO_BEST}
    configuration = str(winner["configuration"])
    there = known.get((run_on, benchmark, configuration))
    if there is None:
        return {"configuration": configuration, "relative": np.nan, "outcome": NOT_MEASURED}
    speedup = float(str(there["speedup"]))
    if own is None or np.isnan(speedup):
        return {"configuration": configuration, "relative": np.nan, "outcome": str(there["invalidity"])}
    relative = speedup / float(str(own["speedup"]))
    return {"configuration": configuration, "relative": relative, "outcome": MEASURED}
