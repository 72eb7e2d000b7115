"""The sentence that a figure shows, computed from its numbers: its title."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .curves import By, Choice, best_points, series_order
from .hinton import TOP, Against
from .portability import MEASURED, NO_BEST, NOT_MEASURED
from .rows import CLEAR_GAIN, is_helped, names_of
from .text import listed


def curves_finding(points: pd.DataFrame, by: By, choice: Choice = "best") -> str:
    """How many kernels coarsening helps: on each device, or along which dimension (with which stride).

    Args:
        points: from `curves.curve_points`.
        by: what a curve is of.
        choice: which configurations the points were taken of.
    """
    finding = _devices_finding(points, best_points(points)) if by == "device" else _series_finding(points)
    if choice == "best":
        return finding
    return "At the baseline's local size " + finding[0].lower() + finding[1:]


def _series_finding(points: pd.DataFrame) -> str:
    """How many kernels coarsening helps on a device, and along which dimension or with which stride."""
    winners = best_points(points, ["benchmark"])
    helping = winners[is_helped(winners)]
    counts = helping["series"].value_counts()
    order = sorted(counts.index, key=lambda name: (-counts[name], series_order(name)))
    total, device = points["benchmark"].nunique(), points["label"].iloc[0]
    if not order:
        return f"Coarsening helps none of {_kernels(total)} on {device}"
    alternatives = points[(points["factor"] > 1) & (points["measured"] > 0)]
    rivals = alternatives.groupby("benchmark")["series"].nunique()
    alone = helping.loc[helping["benchmark"].map(rivals) == 1, "series"].value_counts()
    shares = [f"{name} is best for {counts[name]}{_no_other(int(alone.get(name, 0)))}" for name in order]
    return f"Coarsening helps {len(helping)} of {_kernels(total)} on {device}: {listed(shares)}"


def _no_other(count: int) -> str:
    """So many kernels had no choice."""
    return f" ({count} without any other)" if count else ""


def _devices_finding(points: pd.DataFrame, winners: pd.DataFrame) -> str:
    if points["benchmark"].nunique() == 1:
        return _one_kernel(points, winners)
    parts: list[str] = []
    for device in names_of(points, "series"):
        own = winners[winners["series"] == device]
        total = points.loc[points["series"] == device, "benchmark"].nunique()
        kernels = "" if parts else " kernels"
        helped, clearly = int(is_helped(own).sum()), int(is_helped(own, CLEAR_GAIN).sum())
        remarks = [f"{clearly} by more than {_percent(CLEAR_GAIN - 1)}"] if clearly < helped else []
        remarks += [f"{total - len(own)} without a result"] if len(own) < total else []
        remark = f" ({', '.join(remarks)})" if remarks else ""
        parts.append(f"{helped} of {total}{kernels}{remark} on {device}")
    return "Coarsening helps " + listed(parts)


def _one_kernel(points: pd.DataFrame, winners: pd.DataFrame) -> str:
    kernel = points["benchmark"].iloc[0]
    helping = winners[is_helped(winners)]
    others = [name for name in names_of(points, "series") if name not in set(helping["series"])]
    if helping.empty:
        return f"Coarsening does not help {kernel} on {listed(others)}"
    gains = [
        f"{row.speedup:.2f} times faster on {row.series} (factor {row.factor})" for row in helping.itertuples()
    ]
    without = f", and does not help on {listed(others)}" if others else ""
    return f"Coarsening makes {kernel} {listed(gains)}{without}"


def violins_finding(points: pd.DataFrame) -> str:
    """What share of the configurations with a speed-up is faster than the baseline, and how far apart they lie.

    Those that were given up because they were too slow are not among them.

    Args:
        points: from `violins.violin_points`.
    """
    once = points.drop_duplicates(["label", "benchmark", "configuration"])
    coarsened = once[once["factor"] > 1]
    if coarsened.empty:
        return "No coarsened configuration was measured"
    labels = names_of(coarsened, "label")
    faster = [(coarsened.loc[coarsened["label"] == label, "low"] > 1).mean() for label in labels]
    parts = [f"{_percent(share)} on {label}" for share, label in zip(faster, labels, strict=True)]
    parts[0] = f"{_percent(faster[0])} of the measured coarsened configurations on {labels[0]}"
    low, high = coarsened["speedup"].min(), coarsened["speedup"].max()
    return f"{listed(parts)} are faster than the baseline; speed-ups reach from {low:.2g} to {high:.2g}"


def hinton_finding(shares: pd.DataFrame, against: Against, top: float = TOP) -> str:
    """Where the largest share of the fastest configurations lies on each device.

    Args:
        shares: from `hinton.top_shares`.
        against: the other axis.
        top: the part of the configurations that counts as fastest.
    """
    parts = [
        f"{_peak(shares[shares['label'] == label], against)} on {label}" for label in names_of(shares, "label")
    ]
    return f"The fastest {100 * top:g} % of the configurations lie most often " + listed(parts)


def _peak(shares: pd.DataFrame, against: Against) -> str:
    """The cell with the largest share; how many they are where several have it."""
    largest = shares["share"].max()
    peaks = shares[shares["share"] > largest - 1e-9]
    if len(peaks) > 1:
        return f"in {len(peaks)} places alike ({_percent(largest)} each)"
    value, factor = peaks["value"].iloc[0], peaks["factor"].iloc[0]
    if value == "none":
        return f"at no coarsening ({_percent(largest)})"
    unit = " work-items" if against == "local size" else ""
    return f"at factor {factor}, {against} {value}{unit} ({_percent(largest)})"


def portability_finding(pairs: pd.DataFrame) -> str:
    """What is left of the best speed-up with another device's best configuration.

    Args:
        pairs: from `portability.transfers`.
    """
    foreign = pairs[pairs["tuned_on"] != pairs["run_on"]]
    usable = foreign[foreign["outcome"] == MEASURED]
    if usable.empty:
        return "No configuration that is best on one device could be measured on another"
    mean = float(np.exp(np.log(usable["relative"]).mean()))
    worst = usable.loc[usable["relative"].idxmin()]
    unknown = int(foreign["outcome"].isin([NOT_MEASURED, NO_BEST]).sum())
    failed = len(foreign) - len(usable) - unknown
    counts = [f"{failed} of {len(foreign)} failed there"] if failed else []
    counts += [f"{unknown} of {len(foreign)} could not be compared"] if unknown else []
    without = f"; {listed(counts)}" if counts else ""
    return (
        f"Another device's best configuration keeps {_percent(mean)} of the own best speed-up (geometric mean), "
        f"at worst {_percent(worst['relative'])} ({worst['benchmark']}){without}"
    )


def _kernels(count: int) -> str:
    return f"{count} kernel" if count == 1 else f"{count} kernels"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
