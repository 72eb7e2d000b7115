"""The speed-ups of predicted factors on kernels held out (Magni, Dubach, O'Boyle, PACT 2014, figure 10): the
drawing."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from .axes import mark_one, speedup_axis
from .page import page
from .predictions import MEAN, predictions_finding, speedup_bars
from .style import BLACK, BLUE, GREEN, LIGHT_GREY, PAGE_WIDTH, PURPLE, VERMILLION, styled

_PANEL_HEIGHT = 1.9
_GROUP = 0.8  # of the room for a kernel
_YLABEL = "speed-up over the uncoarsened kernel"
_LOOKS = {
    "unique": {"facecolor": LIGHT_GREY},
    "published": {"facecolor": PURPLE, "hatch": "xxxx"},
    "cascade": {"facecolor": VERMILLION, "hatch": "////"},
    "default": {"facecolor": BLUE},
    "oracle": {"facecolor": "white", "edgecolor": BLACK},
}
_OTHER = {"facecolor": GREEN, "hatch": "...."}
_NOTE = (
    "Each bar: the speed-up of the factor that was chosen with the kernel and its family held out, the geometric "
    "mean over seeds; a factor that can't run counts as the next smaller one that can. Lines: lowest and highest "
    "over seeds. Oracle: the best factor, known afterwards."
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
        return _figure(bars)


def _figure(bars: pd.DataFrame) -> Figure:
    devices = list(dict.fromkeys(bars["device"]))
    methods = [*(name for name in _LOOKS if name in set(bars["method"]))]
    methods += [name for name in dict.fromkeys(bars["method"]) if name not in _LOOKS]
    kernels = [*sorted(set(bars["kernel"]) - {MEAN}, key=str.casefold), MEAN]
    width = max(PAGE_WIDTH, 0.36 * len(kernels))
    height = _PANEL_HEIGHT * len(devices) + 0.7
    entries = [Patch(label=name, **_look(name)) for name in methods]
    sheet = page(width, height, predictions_finding(bars), _NOTE, entries, least=1.3 * len(devices) + 0.7)
    panels = sheet.figure.subplots(len(devices), 1, sharex=True, squeeze=False)[:, 0]
    for axes, device in zip(panels, devices, strict=True):
        own = bars[bars["device"] == device]
        _panel(axes, own, methods, kernels)
        speedup_axis(axes, [*own["speedup"], *own["low"], *own["high"]], ticks=7)
        mark_one(axes)
        axes.set_title(device, loc="left", fontweight="bold", pad=4)
    panels[-1].set_xticks(range(len(kernels)), kernels, rotation=40, ha="right", rotation_mode="anchor")
    panels[-1].get_xticklabels()[-1].set_fontweight("bold")
    sheet.label_axes("", _YLABEL, height - 0.7)
    return sheet.settled()


def _panel(axes: Axes, bars: pd.DataFrame, methods: list[str], kernels: list[str]) -> None:
    breadth = _GROUP / len(methods)
    for index, method in enumerate(methods):
        own = bars[bars["method"] == method].set_index("kernel").reindex(kernels)
        places = np.arange(len(kernels)) + breadth * (index - (len(methods) - 1) / 2)
        # From 1 up, or down: what is drawn is the gain or the loss.
        axes.bar(places, own["speedup"] - 1, breadth, bottom=1, zorder=2, gid=f"bars {method}", **_look(method))
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


def _look(method: str) -> dict[str, object]:
    return {"edgecolor": BLACK, "linewidth": 0.4, **_LOOKS.get(method, _OTHER)}
