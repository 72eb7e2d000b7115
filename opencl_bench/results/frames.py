"""Measurements as a pandas frame: one row each, numbers ready to be drawn.

measurements -> frame -> best_rows -> geometric_mean
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import Environment, Measurement, Role, Subject
from coarsen.opencl_bench.results.summaries import speedup_of
from coarsen.variant.variant import Variant, shape

__all__ = ["CASE", "COLUMNS", "CONFIGURATION", "DEVICE", "best_rows", "frame", "geometric_mean", "speedup_of"]

# A row of results for each of these: a best configuration is one of its benchmark at its size on its device, which
# is another one when it is given another form of code, has another driver or begins with cold caches.
DEVICE = ["device", "platform", "form", "driver_version", "cold_cache"]
CASE = [*DEVICE, "benchmark", "preset"]
# What tells the configurations of a case apart.
CONFIGURATION = ["factors", "dimension", "stride", "local_size", "definitions", "baseline_local_size"]

_NUMBERS = ("median_ns", "baseline_median_ns", "speedup", "low", "high")
COLUMNS = (
    *("key", "benchmark", "kernel", "preset", "seed"),
    *("device", "vendor", "platform", "platform_version", "driver_version", "compute_units", "form"),
    *("role", "factor", "factors", "dimension", "stride", "local_size", "definitions", "baseline_local_size"),
    *("invalidity", "reason", "oracle", *_NUMBERS, "tie", "repetitions", "cold_cache"),
    *("compile_seconds", "measure_seconds", "timed_seconds", "started_at"),
)


def frame(measurements: Iterable[Measurement], intervals: bool = True) -> pd.DataFrame:
    """One row per measurement, in their order; the columns are `COLUMNS`.

    `factor` is the product over the dimensions; `factors`, `dimension` and `stride` are texts with one number per
    coarsened dimension ("2,4"), empty where uncoarsened. `local_size` reads "16×16", `definitions` "A=1 B=2".
    `median_ns`, `baseline_median_ns`, `speedup`, `low` and `high` are NaN where the configuration failed, and
    `tie` is False there. `started_at` is UTC as ISO 8601 text.

    Args:
        measurements: of any devices, benchmarks and roles.
        intervals: whether to compute `low`, `high` and `tie`; it takes some milliseconds a row. NaN and False
            without.
    """
    rows = [_row(measurement, intervals) for measurement in measurements]
    empty = pd.DataFrame(columns=list(COLUMNS)).astype(_types())
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(_types()) if rows else empty


def best_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The fastest configuration of each benchmark and preset on each device.

    It is the correct comparison with the largest speed-up (of several equal ones the first). The row returned is
    that configuration's latest confirmation, whose samples are not those that it was chosen by: the largest of
    many noisy numbers is too large. Where nothing confirmed it, it is the comparison itself.
    """
    measured = rows[rows["speedup"].notna()]
    compared = measured[measured["role"] == Role.COMPARISON].reset_index(drop=True)
    chosen = compared.loc[compared.groupby(CASE)["speedup"].idxmax()]
    confirmed = measured[measured["role"] == Role.CONFIRMATION].sort_values("started_at", kind="stable")
    latest = confirmed.drop_duplicates([*CASE, *CONFIGURATION], keep="last")
    wanted = chosen[[*CASE, *CONFIGURATION]].merge(latest, how="inner", on=[*CASE, *CONFIGURATION])
    unconfirmed = chosen[~_cases(chosen).isin(_cases(wanted))]
    found = pd.concat([wanted[list(rows.columns)], unconfirmed])
    return found.sort_values(CASE, kind="stable").reset_index(drop=True)


def _cases(rows: pd.DataFrame) -> pd.Series:
    return pd.Series(list(zip(*(rows[name] for name in CASE), strict=True)), index=rows.index, dtype="object")


def geometric_mean(rows: pd.DataFrame) -> pd.Series:
    """The geometric mean of the rows' speed-ups on each device, indexed by the columns `DEVICE`.

    Rows without a speed-up are left out; those of 1 and below count. Of `best_rows` it is the mean over the
    benchmarks.
    """
    measured = rows[rows["speedup"].notna()]
    logarithms = np.log(measured["speedup"])
    return np.exp(logarithms.groupby([measured[name] for name in DEVICE]).mean())


def _row(measurement: Measurement, intervals: bool) -> dict[str, Any]:
    return {
        "key": measurement.key,
        **_subject(measurement.subject),
        **_environment(measurement.environment),
        "role": measurement.role.value,
        **_candidate(measurement.candidate),
        "baseline_local_size": shape(measurement.baseline.local_size) if measurement.baseline else "",
        "invalidity": measurement.invalidity.value,
        "reason": measurement.reason,
        "oracle": measurement.oracle.value,
        **_numbers(measurement, intervals),
        "repetitions": len(measurement.nanoseconds),
        "cold_cache": measurement.method.cold_cache,
        "compile_seconds": measurement.compile_seconds,
        "measure_seconds": measurement.measure_seconds,
        "timed_seconds": measurement.timed_seconds,
        "started_at": measurement.started_at,
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {
        "benchmark": subject.benchmark,
        "kernel": subject.kernel,
        "preset": subject.preset,
        "seed": subject.seed,
    }


def _environment(environment: Environment) -> dict[str, Any]:
    names = ("device", "vendor", "platform", "platform_version", "driver_version", "compute_units", "form")
    return {name: getattr(environment, name) for name in names}


def _candidate(candidate: Variant) -> dict[str, Any]:
    coarsenings = candidate.coarsenings
    return {
        "factor": candidate.factor,
        "factors": ",".join(str(coarsening.factor) for coarsening in coarsenings),
        "dimension": ",".join(str(coarsening.dimension) for coarsening in coarsenings),
        "stride": ",".join(str(coarsening.stride) for coarsening in coarsenings),
        "local_size": shape(candidate.local_size),
        "definitions": " ".join(f"{name}={value}" for name, value in candidate.definitions),
    }


def _numbers(measurement: Measurement, intervals: bool) -> dict[str, Any]:
    gain = speedup_of(measurement, intervals)
    timed, baseline = measurement.nanoseconds, measurement.baseline_nanoseconds
    return {
        "median_ns": median(timed) if timed else math.nan,
        "baseline_median_ns": median(baseline) if baseline else math.nan,
        "speedup": gain.ratio if gain else math.nan,
        "low": gain.low if gain else math.nan,
        "high": gain.high if gain else math.nan,
        "tie": gain is not None and intervals and not gain.significant,
    }


def _types() -> dict[str, str]:
    seconds = ("compile_seconds", "measure_seconds", "timed_seconds")
    whole = ("seed", "compute_units", "factor", "repetitions")
    numbers = {**dict.fromkeys((*_NUMBERS, *seconds), "float64"), **dict.fromkeys(whole, "int64")}
    texts = dict.fromkeys(COLUMNS, "str")
    return {**texts, **numbers, "tie": "bool", "cold_cache": "bool"}
