"""The rows that every figure starts from: comparisons with the baseline, one per configuration and device."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.results.best import seconds_of, shown_presets
from coarsen.opencl_bench.results.frames import device_labels, frame
from coarsen.tuning.engine.choice import Choice, Compared, choose
from coarsen.tuning.measure.speedup import CLEAR_GAIN as CLEAR_GAIN
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role

NEEDED = (
    *("key", "benchmark", "preset", "device", "platform", "platform_version", "driver_version", "form", "role"),
    *("factor", "dimension", "stride", "local_size", "baseline_local_size", "work_items"),
    *("configuration", "arrays", "launch", "baseline", "invalidity", "oracle"),
    *("speedup", "low", "high", "tie", "cold_cache", "started_at", "invocation"),
)
# What is compared with what: a kernel on a device.
CASE = ["label", "benchmark"]


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the column `label`, the device's short name, and at one preset for each kernel.

    Where a kernel was measured on a device at several presets, the newest is kept (see `shown_presets`) and the
    column `other_presets` names the others. Devices may differ in their presets: speed-ups are over the same
    device's baseline.

    Args:
        frame: one row per measurement, as `coarsen.opencl_bench.results.frames.frame` makes it.

    Raises:
        InvalidInputError: columns are missing, or there are no rows.
    """
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing:
        raise InvalidInputError(f"the frame has no column {', '.join(missing)}")
    if frame.empty:
        raise InvalidInputError("there are no measurements to show")
    rows = frame.assign(label=device_labels(frame))
    cases = list(rows[CASE].itertuples(index=False, name=None))
    compares = rows["role"] == Role.COMPARISON.value
    decisive = zip(rows["preset"], map(seconds_of, rows["started_at"]), compares, strict=True)
    shown = shown_presets(zip(cases, decisive, strict=True))
    kept = [shown[case].preset == preset for case, preset in zip(cases, rows["preset"], strict=True)]
    return rows.assign(other_presets=[" and ".join(shown[case].others) for case in cases])[kept]


def comparisons(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the labelled rows in which a configuration was compared with the baseline of its kernel and device.

    Failed ones are among them. Where a configuration was measured more than once, the latest counts, and where it
    was confirmed, all of its confirmations as one; rows over another baseline are left out (see `choose`, which
    decides all this). `baseline` is what all speed-ups are over. More columns: `chosen`, whether it is the best
    configuration, which is the baseline itself where nothing is faster; `confirmed`, whether it was timed once
    more, in new processes; `other_presets` and `other_baselines`, what else was measured of the kernel and is left
    out. A kernel of which no uncoarsened configuration ran on a device was never compared there; its failed
    uncoarsened rows stand for it. Rows are in the order of label, benchmark, factor and configuration.

    Raises:
        InvalidInputError: see `labelled`; or none of the rows is a comparison.
    """
    rows = labelled(frame).reset_index(drop=True)
    if not (rows["role"] == Role.COMPARISON.value).any():
        raise InvalidInputError("none of the measurements compares a configuration with the baseline yet")
    shown = pd.concat([_shown(rows, choice) for choice in choices(rows).values() if choice.rows])
    every = pd.concat([shown, _without_baseline(rows, shown)], ignore_index=True)
    for column in ("chosen", "confirmed"):
        every[column] = every[column].eq(True)
    every["other_baselines"] = every["other_baselines"].fillna("")
    ordered = every.sort_values(
        [*CASE, "factor", "configuration"],
        key=lambda column: column if column.name == "factor" else column.str.casefold(),
        kind="stable",
    )
    return ordered.reset_index(drop=True)


def choices(rows: pd.DataFrame) -> dict[tuple[str, str], Choice]:
    """Return the choice of the best for each label and benchmark; a row's key in it is its place in the index.

    Args:
        rows: from `labelled`, with an index that counts.
    """
    groups: dict[tuple[str, str], list[Compared]] = {}
    for row in rows.itertuples():
        groups.setdefault((row.label, row.benchmark), []).append(_compared(row))
    return {case: choose(own) for case, own in groups.items()}


def deciding_keys(frame: pd.DataFrame) -> set[str]:
    """Return the keys of the rows whose intervals decide which configuration is the best; see `choose`.

    Raises:
        InvalidInputError: see `labelled`.
    """
    rows = labelled(frame).reset_index(drop=True)
    places = {int(place) for choice in choices(rows).values() for place in choice.looked_at}
    return set(rows.loc[sorted(places), "key"])


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that have a speed-up."""
    return rows[rows["speedup"].notna()]


def outcome_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many configurations there are, and how they ended.

    Returns:
        a row per label and benchmark, the index; columns `configurations`, `measured` (have a speed-up),
        `excluded` (outside the constraints, never run) and `failed` (all others).
    """
    grouped = pd.DataFrame(
        {
            "label": rows["label"],
            "benchmark": rows["benchmark"],
            "configurations": 1,
            "measured": rows["speedup"].notna().astype(int),
            "excluded": is_excluded(rows).astype(int),
            "failed": is_failed(rows).astype(int),
        }
    )
    return grouped.groupby(CASE, sort=False).sum()


def is_excluded(rows: pd.DataFrame) -> pd.Series:
    """Return which rows violate the device's or the kernel's constraints: they were never run."""
    return rows["invalidity"] == Invalidity.CONSTRAINTS.value


def is_failed(rows: pd.DataFrame) -> pd.Series:
    """Return which rows were tried and have no speed-up."""
    return rows["speedup"].isna() & ~is_excluded(rows)


def best(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the chosen row of each benchmark on each device."""
    return rows[rows["chosen"]].reset_index(drop=True)


def is_helped(winners: pd.DataFrame, least: float = 1.0) -> pd.Series:
    """Return where coarsening helps: the best of all configurations is coarsened, and its interval lies above 1.

    Args:
        winners: the best row (or point of a curve) of each kernel, uncoarsened ones having competed. The
            interval of one that was not confirmed makes no allowance for having been picked out of many.
        least: what the interval has to lie above, or the speed-up itself where it has no interval.
    """
    return (winners["factor"] > 1) & lies_above(winners, least)


def lies_above(rows: pd.DataFrame, least: float = 1.0) -> pd.Series:
    """Return which rows have their whole interval, or without one their speed-up, above a speed-up."""
    return rows["low"].fillna(rows["speedup"]) > least


def names_of(rows: pd.DataFrame, column: str) -> list[str]:
    """Return the values of a column of names, in alphabetical order, upper and lower case alike."""
    return sorted(rows[column].unique(), key=lambda name: (name.casefold(), name))


def is_rearranged(rows: pd.DataFrame) -> pd.Series:
    """Return which rows have arrays that lie otherwise than in the source, or a kernel rewritten alone."""
    return rows["arrays"] != ""


def _compared(row: Any) -> Compared:  # noqa: ANN401 (a row of a frame has no type)
    gain = None if math.isnan(row.speedup) else Speedup(float(row.speedup), float(row.low), float(row.high))
    return Compared(
        key=str(row.Index),
        configuration=row.configuration,
        launch=row.launch or None,
        baseline=row.baseline or None,
        factor=int(row.factor),
        role=Role(row.role),
        started=seconds_of(row.started_at),
        gain=gain,
        invocation=int(row.invocation),
        is_rearranged=bool(getattr(row, "arrays", "")),
    )


def _shown(rows: pd.DataFrame, choice: Choice) -> pd.DataFrame:
    """The rows that a choice was made from, with what it says of them."""
    own = rows.loc[[int(row.key) for row in choice.rows]].copy()
    gains = [row.gain for row in choice.rows]
    for name, column in (("ratio", "speedup"), ("low", "low"), ("high", "high")):
        own[column] = [getattr(gain, name) if gain else math.nan for gain in gains]
    own["tie"] = (own["low"] <= 1) & (own["high"] >= 1)
    own["chosen"] = [choice.best is not None and row.key == choice.best.key for row in choice.rows]
    own["confirmed"] = [row.key in choice.confirmed for row in choice.rows]
    own["baseline"] = choice.baseline or ""
    own["other_baselines"] = " and ".join(map(str, choice.others))
    sizes = dict(zip(own["launch"], own["local_size"], strict=True))
    known = own.loc[own["baseline_local_size"] != "", "baseline_local_size"]
    own["baseline_local_size"] = sizes.get(choice.baseline, known.iloc[0] if len(known) else "")
    return own


def _without_baseline(rows: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """The uncoarsened rows of the kernels of which none ran on a device, so that nothing was compared there.

    A kernel that has an uncoarsened row with a speed-up is only not as far yet.
    """
    ordered = rows[rows["role"] == Role.SELECTION.value].sort_values("started_at", kind="stable")
    selected = ordered.drop_duplicates([*CASE, "configuration"], keep="last")
    without = selected[~pd.MultiIndex.from_frame(selected[CASE]).isin(pd.MultiIndex.from_frame(compared[CASE]))]
    return without[without.groupby(CASE)["speedup"].transform("count") == 0]


# The best configuration of each kernel on each device, and the geometric means.

_TEXTS = ("key", "baseline", "configuration", "arrays", "oracle")


def best_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per kernel and device, in the order of their names, also where nothing has a speed-up.

    Args:
        frame: of `Results.frame`.

    Returns:
        columns `label`, `benchmark`, `preset` (the newest of those measured), `key`, `baseline` (its local size
        and `-D` values), `configuration` (the baseline itself where nothing is faster), `arrays` (those that lie
        otherwise in it, empty for none), `factor`, `speedup`,
        `low`, `high`, `tie` (the interval holds 1), `confirmed` (timed once more, in new processes), `oracle`
        ("reference", "uncoarsened" or "nothing": what the results were compared with), `configurations`,
        `measured`, `excluded`, `failed`. Where no configuration has a speed-up, the texts are empty, `factor` is 0
        and the other numbers NaN.

    Raises:
        InvalidInputError: no rows.
    """
    rows = labelled(frame).reset_index(drop=True)
    is_compared = (rows["role"] == Role.COMPARISON.value).any()
    counts = outcome_counts(comparisons(frame)).to_dict("index") if is_compared else {}
    none = dict.fromkeys(("configurations", "measured", "excluded", "failed"), 0)
    lines = [{**_best_line(rows, *each), **counts.get(each[0], none)} for each in choices(rows).items()]
    table = pd.DataFrame(lines).astype(dict.fromkeys(_TEXTS, object))
    return table.sort_values(["benchmark", "label"], key=lambda column: column.str.casefold())


def _best_line(rows: pd.DataFrame, case: tuple[str, str], choice: Choice) -> dict[str, object]:
    """The best of a kernel on a device; the baseline where nothing is faster, whether it has a row or not."""
    label, benchmark = case
    preset = rows.loc[(rows["label"] == label) & (rows["benchmark"] == benchmark), "preset"].iloc[0]
    gain, own = choice.speedup or Speedup(math.nan, math.nan, math.nan), {**dict.fromkeys(_TEXTS, ""), "factor": 0}
    if choice.best is not None:
        own = rows.loc[int(choice.best.key), [*_TEXTS, "factor"]].to_dict()
    elif choice.speedup is not None:
        own |= {"configuration": f"uncoarsened, local size {choice.baseline}", "factor": 1}
    return {
        "label": label,
        "benchmark": benchmark,
        "preset": preset,
        **own,
        "baseline": choice.baseline if choice.speedup else "",
        "speedup": gain.ratio,
        "low": gain.low,
        "high": gain.high,
        "tie": gain.low <= 1 <= gain.high,
        "confirmed": choice.processes > 0,
    }


def geometric_means(table: pd.DataFrame) -> pd.DataFrame:
    """Return the geometric mean of the best speed-ups of each device.

    Args:
        table: from `best_table`.

    Returns:
        columns `label`, `speedup` (NaN of fewer than two kernels), `measured` (kernels that the mean is of),
        `helped` (kernels whose best is coarsened, its interval above 1), `laid_out` (those whose best has arrays
        that lie otherwise, and isn't coarsened) and `kernels`.
    """
    return pd.DataFrame([_mean(label, table[table["label"] == label]) for label in names_of(table, "label")])


def _mean(label: str, rows: pd.DataFrame) -> dict[str, object]:
    usable = measured(rows)
    return {
        "label": label,
        "speedup": float(np.exp(np.log(usable["speedup"]).mean())) if len(usable) > 1 else np.nan,
        "measured": len(usable),
        "helped": int(is_helped(usable).sum()),
        "laid_out": int(((usable["factor"] == 1) & is_rearranged(usable) & lies_above(usable)).sum()),
        "kernels": len(rows),
    }


def frame_with_intervals(
    measurements: Sequence[Measurement], keys_of: Callable[[pd.DataFrame], Iterable[str]]
) -> pd.DataFrame:
    """Return the frame of measurements with intervals in some rows: `low`, `high` are NaN in others, `tie` False.

    The intervals that decide which configuration is the best are always there.

    Args:
        measurements: any.
        keys_of: given the frame without any intervals, the keys of the rows that need one.
    """
    rows = frame(measurements, intervals=False)
    wanted = {*keys_of(rows), *deciding_keys(rows)}
    chosen = frame(measurement for measurement in measurements if measurement.key in wanted)
    known = chosen.drop_duplicates("key").set_index("key")
    for column in ("low", "high"):
        rows[column] = rows["key"].map(known[column])
    rows["tie"] = rows["key"].isin(known.index[known["tie"]])
    return rows
