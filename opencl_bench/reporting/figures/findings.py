"""The sentence that a figure shows, computed from its numbers: its title."""

from __future__ import annotations

import pandas as pd

from coarsen.opencl_bench.reporting.figures.text import listed
from coarsen.opencl_bench.reporting.numbers.curves import By, Choice, best_points, series_order
from coarsen.opencl_bench.results.rows import CLEAR_GAIN, is_helped, names_of


def curves_finding(points: pd.DataFrame, by: By, choice: Choice = "best") -> str:
    """Say how many kernels coarsening helps: on each device, or along which dimension (with which stride).

    Args:
        points: from `curves.curve_points`.
        by: what a curve is of.
        choice: which configurations the points were taken of.
    """
    finding = _devices_finding(points, best_points(points)) if by == "device" else _series_finding(points)
    if choice == "best":
        return finding
    return "At the baseline's local size " + finding.replace("Coarsening ", "coarsening ", 1)


def _series_finding(points: pd.DataFrame) -> str:
    """Say how many kernels coarsening helps on a device, and along which dimension or with which stride."""
    winners = best_points(points, ["benchmark"])
    helping = winners[is_helped(winners)]
    total, device = points["benchmark"].nunique(), points["label"].iloc[0]
    if total == 1:
        return _one_kernel(points, winners.assign(place=winners["series"].map(_place)))
    without = _remarks([f"{total - len(winners)} without a result"] if len(winners) < total else [])
    if helping.empty:
        return f"Coarsening helps none of {_kernels(total)}{without} on {device}"
    counts = helping["series"].value_counts()
    order = sorted(counts.index, key=lambda name: (-counts[name], series_order(name)))
    alternatives = points[(points["factor"] > 1) & (points["measured"] > 0)]
    rivals = alternatives.groupby("benchmark")["series"].nunique()
    alone = helping.loc[helping["benchmark"].map(rivals) == 1, "series"].value_counts()
    shares = [f"{name} for {counts[name]}{_no_other(int(alone.get(name, 0)))}" for name in order]
    shares[0] = shares[0].replace(" for ", " is best for ", 1)
    return f"Coarsening helps {len(helping)} of {_kernels(total)}{without} on {device}: {listed(shares)}"


def _place(series: str) -> str:
    return f" along {series}" if series.startswith("dimension") else f" with {series}"


def _no_other(count: int) -> str:
    """Return a remark on the kernels that had no choice."""
    return f" ({count} with no other to choose)" if count else ""


def _devices_finding(points: pd.DataFrame, winners: pd.DataFrame) -> str:
    if points["benchmark"].nunique() == 1:
        return _one_kernel(points, winners.assign(place=""))
    parts: list[str] = []
    for device in names_of(points, "series"):
        own = winners[winners["series"] == device]
        total = points.loc[points["series"] == device, "benchmark"].nunique()
        helped, clearly = int(is_helped(own).sum()), int(is_helped(own, CLEAR_GAIN).sum())
        remarks = [f"{clearly} by more than {_percent(CLEAR_GAIN - 1)}"] if clearly < helped else []
        remarks += [f"{total - len(own)} without a result"] if len(own) < total else []
        kernels = str(total) if parts else _kernels(total)
        parts.append(f"{helped or 'none'} of {kernels}{_remarks(remarks)} on {device}")
    return "Coarsening helps " + listed(parts)


def _remarks(remarks: list[str]) -> str:
    return f" ({', '.join(remarks)})" if remarks else ""


def _one_kernel(points: pd.DataFrame, winners: pd.DataFrame) -> str:
    """Say what coarsening does to the only kernel on each device; the winners' `place` says where on it."""
    kernel = points["benchmark"].iloc[0]
    helping, known = winners[is_helped(winners)], set(winners["label"])
    unhelped = [name for name in names_of(winners, "label") if name not in set(helping["label"])]
    unknown = [name for name in names_of(points, "label") if name not in known]
    parts = []
    if len(helping):
        gains = [
            f"{_times(row.speedup)} on {row.label} at factor {row.factor}{row.place}"
            for row in helping.itertuples()
        ]
        gains[0] = gains[0].replace(" times ", " times as fast ", 1)
        parts.append(f"makes {kernel} {listed(gains)}")
    if unhelped:
        parts.append(f"does not help {'it' if parts else kernel} on {listed(unhelped)}")
    sentences = ["Coarsening " + ", and ".join(parts)] if parts else []
    sentences += [f"{kernel} has no result on {listed(unknown)}"] if unknown else []
    sentences += ["what lies above was timed once"] if points["unsure"].any() else []
    return "; ".join(sentences)


def _times(speedup: float) -> str:
    """Return the speed-up in words, with a third digit if two would read 1."""
    return f"{speedup:.3f} times" if f"{speedup:.2f}" == "1.00" else f"{speedup:.2f} times"


def _kernels(count: int) -> str:
    return f"{count} kernel" if count == 1 else f"{count} kernels"


def _percent(share: float) -> str:
    """Rounded, but no share that is less than all of it reads 100 %, and none above 0 reads 0 %."""
    text = f"{100 * share:.0f} %"
    if text == "100 %" and share < 1:
        return "over 99 %"
    return "under 1 %" if text == "0 %" and share > 0 else text
