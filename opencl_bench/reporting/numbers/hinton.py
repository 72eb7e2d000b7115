"""Places of the fastest configurations (Magni, Dubach, O'Boyle, PACT 2014, figure 5): the numbers."""

from __future__ import annotations

import math
from typing import Literal, get_args

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.rows import CASE, comparisons, measured

Against = Literal["local size", "stride", "dimension", "benchmark"]
TOP = 0.05


def top_shares(frame: pd.DataFrame, against: Against = "local size", top: float = TOP) -> pd.DataFrame:
    """Return the share of the fastest configurations at each factor and each local size (or what `against` says).

    The fastest are the given part of each kernel's configurations that have a speed-up, rounded up, at least one.
    Every kernel weighs the same, however many configurations it has, so the shares of a device add up to 1.
    Against the benchmark, as in the paper, it is those of each kernel that do.

    Args:
        frame: of `Results.frame`.
        against: the other axis. A local size counts by its number of work-items; "benchmark" is figure 5 itself.
        top: the part that counts as fastest, in (0, 1].

    Returns:
        a row for each device, factor and value with a measured configuration, with columns `label`, `factor`,
        `value` (text, "none" for the stride or dimension of uncoarsened configurations), `share`, and `expected`,
        the share that the cell would have if all of a kernel's configurations were alike.

    Raises:
        InvalidInputError: nothing was compared; no configuration has a speed-up; a wrong argument; the local
            sizes are not known, as of published curves.
    """
    if against not in get_args(Against):
        raise InvalidInputError(f"'{against}' is none of {', '.join(get_args(Against))}")
    if not 0 < top <= 1:
        raise InvalidInputError(f"the part that counts as fastest lies between 0 and 1, not {top}")
    rows = measured(comparisons(frame))
    if rows.empty:
        raise InvalidInputError("none of the configurations has a speed-up: all of them failed")
    weighted = pd.concat([_weighted(group, top) for _, group in rows.groupby(CASE, sort=False)])
    weighted["value"] = _values(weighted, against)
    shares = weighted.groupby(["label", "factor", "value"], sort=True)[["share", "expected"]].sum()
    if against != "benchmark":
        shares = shares.div(weighted.groupby("label")["benchmark"].nunique(), level="label", axis=0)
    else:
        # Of a kernel that was measured at several problem sizes, each counts the same.
        cases = weighted.drop_duplicates(CASE).groupby(["label", "value"]).size()
        shares = shares.div(cases.reindex(shares.index.droplevel("factor")).to_numpy(), axis=0)
    key = None if against == "benchmark" else _by_number
    ordered = shares.reset_index().sort_values(["label", "factor", "value"], key=key, kind="stable")
    return ordered.reset_index(drop=True)


def _weighted(kernel: pd.DataFrame, top: float) -> pd.DataFrame:
    """A kernel's rows with their shares of the fastest, and of all; equally fast ones in their own order."""
    # 0.05 × 40 is a little more than 2 in binary.
    fastest = math.ceil(round(top * len(kernel), 9))
    order = kernel.sort_values("speedup", ascending=False, kind="stable").index
    share = pd.Series(0.0, index=kernel.index)
    share.loc[order[:fastest]] = 1 / fastest
    return kernel.assign(share=share, expected=1 / len(kernel))


def _values(rows: pd.DataFrame, against: Against) -> pd.Series:
    if against == "benchmark":
        return rows["benchmark"]
    if against == "local size":
        if (rows["work_items"] == 0).any():
            raise InvalidInputError("the local sizes of some configurations are not known; take another axis")
        return rows["work_items"].astype(str)
    return rows[against].where(rows[against] != "", "none")


def value_order(value: str) -> tuple[float, ...]:
    """Return the sort key of a value on its axis: "none", then numbers, those of several dimensions by each."""
    return tuple(float(part) for part in value.split(",")) if value != "none" else (-1.0,)


def _by_number(column: pd.Series) -> pd.Series:
    return column.map(value_order) if column.name == "value" else column
