"""The figures that README and documentation cite, from the rows that come with the package.

    python -m tests.published

Prints two tables: the best configuration of each sweep of the suite, over the best uncoarsened local size; and the
kernels of `data/tuned.csv`, tuned from nothing by the drop-in.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from coarsen.opencl_bench.results.measured_curves import shipped_files
from coarsen.opencl_bench.results.results import shipped_results
from coarsen.opencl_bench.workloads.lookup import SUITE

SWEEPS = ("intel", "pocl", "h200", "larger_intel", "larger_pocl", "larger_h200")


def best_of_sweeps() -> pd.DataFrame:
    """Return what each sweep of the suite has found.

    Returns:
        A line for each sweep and form of code: the geometric `mean` of the best speed-ups of its kernels, 1 where
        nothing is faster, the number `of` kernels, how many are certainly `faster`, and the `largest`.
    """
    return pd.concat(map(_best_of_sweep, SWEEPS)).set_index(["sweep", "device"])


def tuned_from_nothing() -> pd.DataFrame:
    """Return what tuning has found on each device, the suite's kernels and others apart.

    Returns:
        A line for each device and group of kernels: geometric means of the speed-ups over the program's own launch
        and over the best uncoarsened local size, and of the share of the best known; the `least` of the first; and
        the seconds that tuning took, their median and the most.
    """
    rows = pd.read_csv(shipped_files()["intel"].with_name("tuned.csv"))
    groups = rows["kernel"].isin(SUITE).map({True: "suite", False: "others"}).rename("kernels")
    return rows.groupby(["device", groups], sort=False).apply(_means)


def _best_of_sweep(sweep: str) -> pd.DataFrame:
    results = shipped_results(sweep)
    means = results.geometric_means()
    best = results.best().set_index("benchmark").groupby("label")["speedup"]
    largest = [f"{kernel} {best.max()[label]:.2f}" for label, kernel in best.idxmax().items()]
    columns = {
        "device": means["label"],
        "mean": means["speedup"],
        "of": means["measured"],
        "faster": means["helped"],
    }
    return pd.DataFrame({"sweep": sweep, **columns, "largest": largest})


def _means(rows: pd.DataFrame) -> pd.Series:
    ratios = {
        name: geometric_mean(rows[name].dropna()) for name in ("over_own", "over_local_size", "of_best_known")
    }
    seconds = rows["seconds"]
    times = {"least": rows["over_own"].min(), "median": seconds.median(), "most": seconds.max()}
    return pd.Series({"of": len(rows), **ratios, **times})


def geometric_mean(values: pd.Series) -> float:
    """Return the geometric mean of positive numbers."""
    return float(np.exp(np.log(values).mean()))


def main() -> None:
    """Print both tables."""
    for title, frame in (("Sweeps of the suite", best_of_sweeps()), ("Tuned from nothing", tuned_from_nothing())):
        print(f"{title}\n\n{frame.reset_index().round(2).to_string(index=False)}\n")


if __name__ == "__main__":
    main()
