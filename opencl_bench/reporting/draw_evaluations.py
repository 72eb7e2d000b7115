"""The speed-ups of predicted factors on kernels held out (Magni, Dubach, O'Boyle, PACT 2014, figure 10): the
drawing, and the numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation.evaluation import NEVER, ORACLE, Evaluation
from coarsen.models.evaluation.scores import Outcome
from coarsen.opencl_bench.reporting.sheet import (
    BLACK,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    PAGE_WIDTH,
    PURPLE,
    SKY,
    VERMILLION,
    listed,
    mark_one,
    page,
    speedup_axis,
    styled,
)

# How the bars of each method look.
Looks = Mapping[str, Mapping[str, object]]

_PANEL_HEIGHT = 1.9
_GROUP = 0.8  # of the room for a kernel
_YLABEL = "speed-up over the uncoarsened kernel"
_LOOKS = {
    "unique": {"facecolor": LIGHT_GREY},
    "published": {"facecolor": PURPLE, "hatch": "xxxx"},
    "cascade": {"facecolor": VERMILLION, "hatch": "////"},
    ORACLE: {"facecolor": "white", "edgecolor": BLACK},
}
_OTHERS = (
    {"facecolor": GREEN, "hatch": "...."},
    {"facecolor": ORANGE, "hatch": "\\\\\\\\"},
    {"facecolor": SKY, "hatch": "++++"},
)
_MEANS_SIZE = 6.8
_BAR_NOTE = (
    "Each bar: the speed-up of the factor that was chosen with the kernel and its family held out, the geometric "
    "mean over seeds; a factor that can't run counts as the next smaller one that can. No bar: a speed-up of 1. "
    "Lines: lowest and highest over seeds. Oracle: the best factor, known afterwards."
)


def draw_predictions(choices: pd.DataFrame) -> Figure:
    """A panel per device: for each kernel a bar per method, and on the right the geometric means.

    Args:
        choices: from `predictions.choice_table`; devices without runtimes are left out.

    Raises:
        InvalidInputError: no runtimes are known.
    """
    bars = speedup_bars(choices)
    with styled():
        return _bars(bars)


def _bars(bars: pd.DataFrame) -> Figure:
    devices = list(dict.fromkeys(bars["device"]))
    looks = _looks(list(dict.fromkeys(bars["method"])))
    kernels = [*sorted(set(bars["kernel"]) - {MEAN}, key=str.casefold), MEAN]
    width = max(PAGE_WIDTH, 0.36 * len(kernels))
    height = _PANEL_HEIGHT * len(devices) + 0.7
    entries = [Patch(label=name, **look) for name, look in looks.items()]
    sheet = page(width, height, predictions_finding(bars), _BAR_NOTE, entries, least=1.3 * len(devices) + 0.7)
    panels = sheet.figure.subplots(len(devices), 1, sharex=True, squeeze=False)[:, 0]
    for axes, device in zip(panels, devices, strict=True):
        own = bars[bars["device"] == device]
        _panel(axes, own, looks, kernels)
        speedup_axis(axes, [*own["speedup"], *own["low"], *own["high"]], ticks=7)
        mark_one(axes)
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
        means = method_means(own)[device]
        texts = ", ".join(f"{name} {means[name]:.2f}" for name in looks if name in means)
        axes.set_title(f"geometric means: {texts}", loc="right", fontsize=_MEANS_SIZE, pad=4)
    panels[-1].set_xticks(range(len(kernels)), kernels, rotation=40, ha="right", rotation_mode="anchor")
    panels[-1].get_xticklabels()[-1].set_fontweight("bold")
    sheet.label_axes("", _YLABEL, height - 0.7)
    return sheet.settled()


def _panel(axes: Axes, bars: pd.DataFrame, looks: Looks, kernels: list[str]) -> None:
    breadth = _GROUP / len(looks)
    for index, (method, look) in enumerate(looks.items()):
        own = bars[bars["method"] == method].set_index("kernel").reindex(kernels)
        places = np.arange(len(kernels)) + breadth * (index - (len(looks) - 1) / 2)
        # From 1 up, or down: what is drawn is the gain or the loss.
        axes.bar(places, own["speedup"] - 1, breadth, bottom=1, zorder=2, gid=f"bars {method}", **look)
        spread = own["high"] > own["low"] * 1.001
        axes.vlines(
            places[spread],
            own["low"][spread],
            own["high"][spread],
            color=BLACK,
            linewidth=0.9,
            zorder=3,
            gid="seeds",
        )
    axes.axvline(len(kernels) - 1.5, color=BLACK, linewidth=0.6, linestyle=":")
    axes.set_xlim(-0.6, len(kernels) - 0.4)
    axes.tick_params(axis="x", length=0)


def _looks(methods: Sequence[str]) -> Looks:
    """Return the look of each method's bars, in the order in which they are drawn; the oracle comes last."""
    others = [name for name in methods if name not in _LOOKS]
    known = {name: look for name, look in _LOOKS.items() if name in methods and name != ORACLE}
    known |= {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(others)}
    known |= {ORACLE: _LOOKS[ORACLE]} if ORACLE in methods else {}
    return {name: {"edgecolor": BLACK, "linewidth": 0.4, **look} for name, look in known.items()}


# Choices of predictors for kernels held out, and their results (Magni, Dubach, O'Boyle, PACT 2014, table 5 and
# figure 10): the numbers.

# What stands for all kernels of a device together.
MEAN = "geometric mean"


def choice_table(evaluation: Evaluation) -> pd.DataFrame:
    """One row per device, kernel and method, the oracle among them, in the order of the data.

    Args:
        evaluation: of any methods on any devices.

    Returns:
        columns `device`, `kernel`, `best` (the best factor), `method`, `factor` (that which most seeds chose, the
        smaller of equals), `share` (of the seeds that chose it), `speedup` (geometric mean over seeds), `low` and
        `high` (over seeds). The speed-ups are NaN where the best factor alone is known.
    """
    return pd.DataFrame(
        [
            _choice(method, own)
            for device in evaluation.devices
            for method, outcomes in evaluation.on(device).items()
            for own in _by_kernel(outcomes)
        ]
    )


def speedup_bars(choices: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a speed-up, and after each device's kernels a row per method with the geometric mean.

    Args:
        choices: from `choice_table`. `never` is left out: its speed-up is 1.

    Returns:
        columns `device`, `kernel` (or `MEAN`), `method`, `speedup`, `low`, `high`; those of a mean are NaN.

    Raises:
        InvalidInputError: there is no speed-up.
    """
    columns = ["device", "kernel", "method", "speedup", "low", "high"]
    known = choices.loc[choices["speedup"].notna() & (choices["method"] != NEVER), columns]
    if known.empty:
        raise InvalidInputError("no runtimes are known, only best factors: there are no speed-ups to show")
    means = [
        {
            "device": device,
            "kernel": MEAN,
            "method": method,
            "speedup": float(np.exp(np.log(own["speedup"]).mean())),
        }
        for (device, method), own in known.groupby(["device", "method"], sort=False)
    ]
    return pd.concat([known, pd.DataFrame(means)], ignore_index=True)


def factor_table(choices: pd.DataFrame) -> pd.DataFrame:
    """Best and predicted factors, as in table 5: one row per kernel.

    Args:
        choices: from `choice_table`.

    Returns:
        columns `kernel` and, for each device, `DEVICE best` and `DEVICE METHOD`, without oracle and `never`; text,
        with `~` where not all seeds agree, and empty where nothing is known.
    """
    table: dict[str, dict[str, str]] = {}
    for row in choices.itertuples():
        cells = table.setdefault(row.kernel, {})
        cells[f"{row.device} best"] = str(row.best)
        if row.method not in (NEVER, ORACLE):
            cells[f"{row.device} {row.method}"] = f"{row.factor}{'~' if row.share < 1 else ''}"
    rows = pd.DataFrame.from_dict(table, orient="index").fillna("")
    return rows.rename_axis("kernel").reset_index()


def markdown(table: pd.DataFrame) -> str:
    """A table as Markdown.

    Args:
        table: of whatever can be written as text, such as `factor_table` gives.

    Returns:
        The lines of the table, its heading first.
    """
    lines = [list(map(str, table.columns)), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def predictions_finding(bars: pd.DataFrame) -> str:
    """Say which method comes nearest to the best factors on each device, by the geometric mean.

    Args:
        bars: from `speedup_bars`.
    """
    means = method_means(bars)
    parts = [_nearest(device, own) for device, own in means.items() if set(own) - {ORACLE}]
    if not parts:
        best = [f"{own[ORACLE]:.2f} on {device}" for device, own in means.items()]
        return f"Geometric mean of the speed-ups of the best factors: {listed(best)}"
    if all(ORACLE in own for own in means.values()):
        return f"Nearest to the best factors on kernels held out, by the geometric mean: {'; '.join(parts)}"
    return f"Largest geometric mean of the speed-ups on kernels held out: {'; '.join(parts)}"


def method_means(bars: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the geometric means by device and method, in their order.

    Args:
        bars: from `speedup_bars`.
    """
    found: dict[str, dict[str, float]] = {}
    for row in bars[bars["kernel"] == MEAN].itertuples():
        found.setdefault(row.device, {})[row.method] = row.speedup
    return found


def _nearest(device: str, means: Mapping[str, float]) -> str:
    """The method of the largest mean, or all of those that are written alike."""
    shown = {method: f"{mean:.2f}" for method, mean in means.items() if method != ORACLE}
    largest = max(means[method] for method in shown)
    names = listed([method for method, text in shown.items() if text == f"{largest:.2f}"])
    beside = f" of {means[ORACLE]:.2f}" if ORACLE in means else ""
    return f"{names} on {device} ({largest:.2f}{beside})"


def _by_kernel(outcomes: Sequence[Outcome]) -> Iterator[list[Outcome]]:
    kernels: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kernels.setdefault(outcome.example.kernel, []).append(outcome)
    yield from kernels.values()


def _choice(method: str, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The row of one kernel's outcomes, one for each seed."""
    example = outcomes[0].example
    counts = Counter(outcome.factor for outcome in outcomes)
    factor = min(counts, key=lambda each: (-counts[each], each))
    logs = [outcome.log_speedup if outcome.is_measured else math.nan for outcome in outcomes]
    return {
        "device": example.device,
        "kernel": example.kernel,
        "best": example.best_factor,
        "method": method,
        "factor": factor,
        "share": counts[factor] / len(outcomes),
        "speedup": math.exp(float(np.mean(logs))),
        "low": math.exp(min(logs)),
        "high": math.exp(max(logs)),
    }
