"""Curves as the rows that figures of measurements take: published runtimes drawn by the same functions.

read_curves(runtimes.csv).curves -> curve_frame -> draw_curves, draw_violins, draw_portability, best_table
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.evaluation.scores import GIVEN_UP_SPEEDUP
from coarsen.opencl_bench.records.measurement import CheckedAgainst, Invalidity, Role
from coarsen.opencl_bench.results.curves import Curve
from coarsen.opencl_bench.results.rows import NEEDED
from coarsen.variant.coarsening import Coarsening, configuration
from coarsen.variant.variant import Variant, shape

# The outcome of a factor without a speed-up in a published curve, which gives no reason.
MISSING = "missing"
_UNKNOWN: Mapping[str, object] = {
    **dict.fromkeys(("preset", "platform", "platform_version", "driver_version", "form", "arrays"), ""),
    **dict.fromkeys(("low", "high"), float("nan")),
    "started_at": "",
    "invocation": 0,
    "role": Role.COMPARISON.value,
    "oracle": CheckedAgainst.NOTHING.value,
    "tie": False,
    "cold_cache": False,
}


def curve_frame(curves: Iterable[Curve]) -> pd.DataFrame:
    """The speed-ups of curves as rows, of which the figures of measurements are drawn.

    One row per kernel, device, dimension and factor. Factor 1 has the speed-up 1. A factor that the device has of
    another kernel, but not of this one, could not run: its row failed. Intervals are not known (NaN).

    Args:
        curves: from `read_curves`, such as of a table of runtimes. Those of which only the best factor is known
            are left out: see `draw_best_factors`.

    Returns:
        the columns that the figures need, which `Results.frame` has too, so that frames of both, one below the
        other (`pandas.concat`), make one figure.

    Raises:
        InvalidInputError: none of the curves has speed-ups.
    """
    usable = [curve for curve in curves if curve.speedup]
    if not usable:
        raise InvalidInputError("none of the curves has speed-ups: there is nothing but best factors")
    factors: defaultdict[str, set[int]] = defaultdict(lambda: {1})
    for curve in usable:
        factors[curve.device] |= set(curve.speedup)
    rows = [row for curve in usable for row in _rows(curve, sorted(factors[curve.device]))]
    return pd.DataFrame(rows, columns=list(NEEDED)).drop_duplicates("key", ignore_index=True)


def device_name(device: str) -> str:
    """Return the name of a curve's device in figures: `fermi` is the NVIDIA GTX 480."""
    known = DEVICE_DESCRIPTORS.get(device)
    return known.full_name.partition(" on ")[0] if known else device


def _rows(curve: Curve, factors: Iterable[int]) -> Iterator[dict[str, object]]:
    local_size = shape(curve.local_size) if curve.local_size else ""
    for factor in factors:
        # Along whichever dimension, factor 1 is the same.
        along = {"dimension": str(curve.dimension), "stride": "1"} if factor > 1 else {}
        place = (curve.device, curve.kernel, along.get("dimension", ""), str(factor))
        yield {
            **_UNKNOWN,
            **dict.fromkeys(("dimension", "stride"), ""),
            **along,
            **_outcome(curve, factor),
            "key": "/".join(place),
            "benchmark": curve.kernel,
            "device": device_name(curve.device),
            "factor": factor,
            "local_size": local_size,
            "baseline_local_size": local_size,
            "work_items": math.prod(curve.local_size) if curve.local_size else 0,
            "configuration": _words(curve, factor),
            "launch": local_size,
            "baseline": local_size,
        }


def _words(curve: Curve, factor: int) -> str:
    """A configuration; of a published curve the local size is not known."""
    coarsenings = configuration([Coarsening(factor, curve.dimension)] if factor > 1 else [])
    if curve.local_size is not None:
        return str(Variant(curve.local_size, coarsenings))
    return " and ".join(map(str, coarsenings)) or "uncoarsened"


def _outcome(curve: Curve, factor: int) -> dict[str, object]:
    speedup = 1.0 if factor == 1 else curve.speedup.get(factor)
    if speedup is None:
        return {"speedup": float("nan"), "invalidity": MISSING}
    # Of a curve that was measured here; published data have no such mark.
    if curve.local_size is not None and speedup == GIVEN_UP_SPEEDUP:
        return {"speedup": float("nan"), "invalidity": Invalidity.TIMEOUT.value}
    return {"speedup": speedup, "invalidity": Invalidity.CORRECT.value}
