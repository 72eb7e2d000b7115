"""The speed-ups of predicted factors on kernels held out (Magni, Dubach, O'Boyle, PACT 2014, figure 10): the
drawing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from coarsen.models.evaluation.entrants import ORACLE
from coarsen.opencl_bench.reporting.evaluations import (
    MEAN,
    method_means,
    predictions_finding,
    speedup_bars,
)
from coarsen.opencl_bench.reporting.sheet import (
    BLACK,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    PAGE_WIDTH,
    PURPLE,
    SKY,
    VERMILLION,
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
