"""What a figure has to say of its rows: what they were compared with, intervals, confirmations, sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from coarsen.opencl_bench.reporting.figures.axes import SPEEDUP, SPEEDUP_OF_ONE
from coarsen.opencl_bench.reporting.figures.text import listed
from coarsen.opencl_bench.results.rows import CASE, names_of

# More names are of no use in a note.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Remarks:
    """Sentences for the note of a figure, empty where there is nothing to say; `axis` names the speed-ups."""

    axis: str
    intervals: str
    best: str
    sizes: str


def remarks_on(rows: pd.DataFrame) -> Remarks:
    """The remarks on some rows.

    Args:
        rows: from `rows.comparisons`.
    """
    confirmed = "The best of each kernel has the speed-up of its confirmation, where it was measured again."
    chosen = "The best of each kernel was chosen by the speed-ups that are shown, so it is somewhat too large."
    return Remarks(
        axis=SPEEDUP if _several_baselines(rows) else SPEEDUP_OF_ONE,
        intervals="Bars: 95 % intervals." if rows["low"].notna().any() else "Intervals are not known.",
        best=confirmed if rows["confirmed"].any() else chosen,
        sizes=joined(_sizes(rows), *_left_out(rows)),
    )


def _left_out(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what was measured of these kernels too and is not shown, since it does not compare."""
    for column, words in (("other_presets", "at preset"), ("other_baselines", "over the baseline")):
        for other, own in rows[rows[column] != ""].groupby(column):
            names = names_of(own, "benchmark")
            kernels = listed(names) if len(names) <= _NAMED else f"{len(names)} kernels"
            yield f"Not shown: what was measured of {kernels} {words} {other}."


def joined(*sentences: str) -> str:
    """A note of those sentences that aren't empty."""
    return " ".join(sentence for sentence in sentences if sentence)


def _several_baselines(rows: pd.DataFrame) -> bool:
    """Return True if any kernel was tried uncoarsened in several ways: the baseline is the best of them."""
    return bool((rows[rows["factor"] == 1].groupby(CASE).size() > 1).any())


def _sizes(rows: pd.DataFrame) -> str:
    """Return which devices had which problem sizes, where they aren't all the same."""
    places = rows[["label", "preset"]].drop_duplicates()
    if places["preset"].nunique() < 2 or rows.groupby("benchmark")["preset"].nunique().max() < 2:
        return ""
    parts = [
        f"{f'preset {preset}' if preset else 'unknown'} on {listed(names_of(own, 'label'))}"
        for preset, own in sorted(places.groupby("preset"), key=lambda group: (group[0] == "", group[0]))
    ]
    return f"Problem sizes differ: {'; '.join(parts)}."
