"""The rows that every figure starts from: comparisons with the baseline, one per configuration and device."""

from __future__ import annotations

import pandas as pd

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity, Role
from coarsen.opencl_bench.results.labels import device_labels

NEEDED = (
    *(
        "key",
        "benchmark",
        "preset",
        "device",
        "platform",
        "platform_version",
        "driver_version",
        "form",
        "role",
        "factor",
    ),
    *(
        "factors",
        "dimension",
        "stride",
        "local_size",
        "definitions",
        "baseline_local_size",
        "invalidity",
        "oracle",
    ),
    *("speedup", "low", "high", "tie", "cold_cache", "started_at"),
)
# What is compared with what: a kernel on a device.
CASE = ["label", "benchmark"]
# Smaller gains are what the same code shows against itself on a CPU, significant or not (data/README.md).
CLEAR_GAIN = 1.05


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with two more columns: `label`, the device's short name, and `configuration`, all of it as text.

    Args:
        frame: one row per measurement, as `coarsen.opencl_bench.results.frames.frame` makes it.

    Raises:
        InvalidInputError: columns are missing, there are no rows, or a benchmark has rows of several presets on
            one device. Devices may differ in their presets: speed-ups are over the same device's baseline.
    """
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing:
        raise InvalidInputError(f"the frame has no column {', '.join(missing)}")
    if frame.empty:
        raise InvalidInputError("there are no measurements to show")
    rows = frame.assign(label=device_labels(frame), configuration=_configurations(frame))
    _check_presets(rows)
    return rows


def comparisons(frame: pd.DataFrame) -> pd.DataFrame:
    """The labelled rows in which a configuration was compared with the baseline, failed ones among them.

    Where a configuration was measured more than once on a device, the latest measurement counts. One more column,
    `chosen`, tells the row with the largest speed-up of each benchmark on each device, be it uncoarsened.
    Where that configuration was confirmed, the row has the confirmation's speed-up, interval and key, and a last
    column, `confirmed`, says so: the largest of many noisy numbers is too large. A kernel of which no uncoarsened
    configuration ran on a device was never compared there; its failed uncoarsened rows stand for it. Rows are in
    the order of label, benchmark, factor and configuration.

    Raises:
        InvalidInputError: see `labelled`; or none of the rows is a comparison.
    """
    rows = labelled(frame)
    latest = _latest(rows[rows["role"] == Role.COMPARISON.value])
    if latest.empty:
        raise InvalidInputError("none of the measurements compares a configuration with the baseline yet")
    latest = pd.concat([latest, _without_baseline(rows, latest)], ignore_index=True)
    winners = measured(latest).groupby(CASE)["speedup"].idxmax()
    latest["chosen"] = latest.index.isin(winners)
    confirmed = _with_confirmations(latest, measured(rows[rows["role"] == Role.CONFIRMATION.value]))
    ordered = confirmed.sort_values([*CASE, "factor", "configuration"], key=_in_any_case, kind="stable")
    return ordered.reset_index(drop=True)


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a speed-up."""
    return rows[rows["speedup"].notna()]


def outcome_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """How many configurations there are, and how they ended.

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
    """Which rows violate the device's or the kernel's constraints: they were never run."""
    return rows["invalidity"] == Invalidity.CONSTRAINTS.value


def is_failed(rows: pd.DataFrame) -> pd.Series:
    """Which rows were tried and have no speed-up."""
    return rows["speedup"].isna() & ~is_excluded(rows)


def best(rows: pd.DataFrame) -> pd.DataFrame:
    """The chosen row of each benchmark on each device."""
    return rows[rows["chosen"]].reset_index(drop=True)


def baselines(rows: pd.DataFrame) -> pd.DataFrame:
    """The row of the baseline itself of each benchmark on each device, where it was measured.

    It is the uncoarsened row with the baseline's local size; of several (with other `-D` values) the one whose
    speed-up is nearest to 1.
    """
    usable = measured(rows)
    own = usable[(usable["factor"] == 1) & (usable["local_size"] == usable["baseline_local_size"])]
    distance = (own["speedup"] - 1).abs()
    return own.loc[distance.groupby([own[name] for name in CASE], sort=False).idxmin()].reset_index(drop=True)


def is_helped(winners: pd.DataFrame, least: float = 1.0) -> pd.Series:
    """Where coarsening helps: the best of all configurations is coarsened, and its interval lies above 1.

    Args:
        winners: the best row (or point of a curve) of each kernel, uncoarsened ones having competed. The
            interval of one that was not confirmed makes no allowance for having been picked out of many.
        least: what the interval has to lie above, or the speed-up itself where it has no interval.
    """
    return (winners["factor"] > 1) & lies_above(winners, least)


def lies_above(rows: pd.DataFrame, least: float = 1.0) -> pd.Series:
    """Which rows have their whole interval above a speed-up, or the speed-up itself where there is no interval."""
    return rows["low"].fillna(rows["speedup"]) > least


def names_of(rows: pd.DataFrame, column: str) -> list[str]:
    """The values of a column of names, in alphabetical order, upper and lower case alike."""
    return sorted(rows[column].unique(), key=lambda name: (name.casefold(), name))


def work_items(local_size: str) -> int:
    """The number of work-items of a local size that is written as `16×16`."""
    product = 1
    for extent in local_size.split("×"):
        product *= int(extent)
    return product


def _check_presets(rows: pd.DataFrame) -> None:
    presets = rows.groupby(CASE)["preset"].nunique()
    if (presets > 1).any():
        label, benchmark = presets.idxmax()
        own = rows[(rows["label"] == label) & (rows["benchmark"] == benchmark)]
        raise InvalidInputError(
            f"{benchmark} was measured on {label} at several presets, which don't compare; "
            f"choose one with --preset (preset= in Python): {', '.join(names_of(own, 'preset'))}"
        )


def _latest(rows: pd.DataFrame) -> pd.DataFrame:
    """The latest row of each configuration, numbered anew."""
    ordered = rows.sort_values("started_at", kind="stable")
    return ordered.drop_duplicates([*CASE, "configuration"], keep="last").reset_index(drop=True)


def _without_baseline(rows: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """The uncoarsened rows of the kernels of which none ran on a device, so that nothing was compared there.

    A kernel that has an uncoarsened row with a speed-up is only not as far yet.
    """
    selected = _latest(rows[rows["role"] == Role.SELECTION.value])
    without = selected[~pd.MultiIndex.from_frame(selected[CASE]).isin(pd.MultiIndex.from_frame(compared[CASE]))]
    return without[without.groupby(CASE)["speedup"].transform("count") == 0]


def _with_confirmations(rows: pd.DataFrame, confirmations: pd.DataFrame) -> pd.DataFrame:
    """The rows, the chosen ones with what their latest confirmation against the same baseline measured."""
    same = [*CASE, "configuration", "baseline_local_size"]
    again = confirmations.sort_values("started_at").drop_duplicates(same, keep="last").set_index(same)
    cases = pd.MultiIndex.from_frame(rows[same])
    known = rows["chosen"] & cases.isin(again.index)
    rows["confirmed"] = known
    for column in ("key", "speedup", "low", "high", "tie"):
        rows.loc[known, column] = again.loc[cases[known], column].to_numpy()
    return rows


def _configurations(frame: pd.DataFrame) -> list[str]:
    columns = ("factors", "dimension", "stride", "local_size", "definitions")
    return [_configuration(*values) for values in zip(*(frame[name] for name in columns), strict=True)]


def _configuration(factors: str, dimension: str, stride: str, local_size: str, definitions: str) -> str:
    """In the words of `Variant`; published curves don't say their local size."""
    parts = zip(_numbers(factors), _numbers(dimension), _numbers(stride), strict=True)
    coarsenings = " and ".join(
        f"factor {factor} along dimension {along}" + (f" with stride {apart}" if apart != "1" else "")
        for factor, along, apart in parts
    )
    macros = "".join(f", -D {definition}" for definition in definitions.split())
    size = f", local size {local_size}" if local_size else ""
    return f"{coarsenings or 'uncoarsened'}{size}{macros}"


def _numbers(text: str) -> list[str]:
    return text.split(",") if text else []


def _in_any_case(column: pd.Series) -> pd.Series:
    return column if pd.api.types.is_numeric_dtype(column) else column.str.casefold()
