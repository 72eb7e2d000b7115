"""Measurements as a pandas frame: one row each, numbers ready to be drawn.

measurements ─▶ frame ─▶ tables and figures
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

import pandas as pd

from coarsen.opencl_bench.results.best import launch_words
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.measure.speedup import median
from coarsen.tuning.records.measurement import Measurement
from coarsen.variant.variant import Variant, shape

_NUMBERS = ("median_ns", "baseline_median_ns", "speedup", "low", "high")
COLUMNS = (
    *("key", "benchmark", "kernel", "preset", "seed"),
    *("device", "vendor", "platform", "platform_version", "driver_version", "compute_units", "form"),
    *(
        "role",
        "factor",
        "factors",
        "dimension",
        "stride",
        "local_size",
        "definitions",
        "arrays",
        "baseline_local_size",
    ),
    *("configuration", "launch", "baseline", "work_items"),
    *("invalidity", "reason", "oracle", *_NUMBERS, "tie", "repetitions", "cold_cache"),
    *("compile_seconds", "measure_seconds", "timed_seconds", "started_at", "invocation"),
)


def frame(measurements: Iterable[Measurement], intervals: bool = True) -> pd.DataFrame:
    """Return one row per measurement, in their order; the columns are `COLUMNS`.

    `factor` is the product over the dimensions; `factors`, `dimension` and `stride` are texts with one number per
    coarsened dimension ("2,4"), empty where uncoarsened. `local_size` reads "16×16", `definitions` "A=1 B=2".
    `arrays` names those that lie otherwise than in the source, in words, and the tile and long indices of what
    isn't coarsened.
    `configuration` is all of it in words, `launch` the same uncoarsened ("16×16, -D A=1"), `baseline` the launch
    that it was timed against, and `work_items` the number that the local size has.
    `median_ns`, `baseline_median_ns`, `speedup`, `low` and `high` are NaN where the configuration failed, and
    `tie` is False there. `started_at` is UTC as ISO 8601 text. `invocation` counts the fresh processes of a
    confirmation from 0.

    Args:
        measurements: of any devices, benchmarks and roles.
        intervals: whether to compute `low`, `high` and `tie`; it takes some milliseconds a row. NaN and False
            without.
    """
    rows = [_row(measurement, intervals) for measurement in measurements]
    empty = pd.DataFrame(columns=list(COLUMNS)).astype(_types())
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(_types()) if rows else empty


def _row(measurement: Measurement, intervals: bool) -> dict[str, Any]:
    return {
        "key": measurement.key,
        **{name: getattr(measurement.subject, name) for name in COLUMNS[1:5]},
        **{name: getattr(measurement.environment, name) for name in COLUMNS[5:12]},
        "role": measurement.role.value,
        **_candidate(measurement.candidate),
        "baseline_local_size": shape(measurement.baseline.local_size) if measurement.baseline else "",
        "baseline": launch_words(measurement.baseline) if measurement.baseline else "",
        "invalidity": measurement.invalidity.value,
        "reason": measurement.reason,
        "oracle": measurement.oracle.value,
        **_numbers(measurement, intervals),
        "repetitions": len(measurement.nanoseconds),
        "cold_cache": measurement.method.cold_cache,
        **{name: getattr(measurement, name) for name in COLUMNS[-5:]},
    }


def _candidate(candidate: Variant) -> dict[str, Any]:
    coarsenings = candidate.coarsenings
    return {
        "factor": candidate.factor,
        "factors": ",".join(str(coarsening.factor) for coarsening in coarsenings),
        "dimension": ",".join(str(coarsening.dimension) for coarsening in coarsenings),
        "stride": ",".join(str(coarsening.stride) for coarsening in coarsenings),
        "local_size": shape(candidate.local_size),
        "definitions": " ".join(f"{name}={value}" for name, value in candidate.definitions),
        "arrays": ", ".join(
            (*map(str, candidate.arrays), *(() if candidate.is_coarsened else candidate.transforms.words))
        ),
        "configuration": str(candidate),
        "launch": launch_words(candidate),
        "work_items": math.prod(candidate.local_size),
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
    whole = ("seed", "compute_units", "factor", "work_items", "repetitions", "invocation")
    numbers = {**dict.fromkeys((*_NUMBERS, *seconds), "float64"), **dict.fromkeys(whole, "int64")}
    texts = dict.fromkeys(COLUMNS, "str")
    return {**texts, **numbers, "tie": "bool", "cold_cache": "bool"}


# Label of a device in a figure: short, and different from every other's.
#
# pthread-skylake-avx512-AMD EPYC, Portable Computing Language  ->  AMD EPYC (PoCL)

PLATFORMS = MappingProxyType(
    {
        "portable computing language": "PoCL",
        "intel(r) opencl": "Intel",
        "intel(r) opencl graphics": "Intel graphics",
        "nvidia cuda": "OpenCL",  # what it calls itself is misread as CUDA kernels
        "nvidia cuda driver": "PTX",
        "amd accelerated parallel processing": "AMD APP",
        "oclgrind": "Oclgrind",
    }
)
FORMS = MappingProxyType({"opencl_c": "OpenCL C", "spirv": "SPIR-V", "ptx": "PTX"})

# PoCL puts its driver and perhaps LLVM's name of the CPU before the device's own name.
_POCL_PREFIX = re.compile(r"^(?:pthread|cpu|basic)-(?:[a-z0-9_-]+-)?(?=[A-Z])")
_NOISE = re.compile(
    r"\((?:R|TM|C)\)|\bCPU\b|@ ?[\d.]+ ?GHz|\b(?:\d+|\w+)-Core\b|\bProcessor\b|\bwith .* Graphics\b", re.IGNORECASE
)
_IDENTITY = ["device", "platform", "platform_version", "driver_version", "form", "cold_cache"]


def device_labels(rows: pd.DataFrame) -> pd.Series:
    """Return a label for each row: the same for one device, driver, form of code and state of the caches.

    The form, the driver's version, a cold cache and the like are named only where rows would be called alike
    without.
    """
    places = rows[_IDENTITY].drop_duplicates()
    names = pd.Series(
        [_name(device, platform) for device, platform in zip(places["device"], places["platform"], strict=True)],
        index=places.index,
        dtype=object,
    )
    for column, describe in _DISTINCTIONS:
        names = names + _distinction(names, places[column].map(describe))
    known = dict(zip(places.itertuples(index=False, name=None), names, strict=True))
    return pd.Series(
        [known[identity] for identity in rows[_IDENTITY].itertuples(index=False, name=None)],
        index=rows.index,
        dtype=object,
    )


def short_device(name: str) -> str:
    """Return a device's name without clock rate, number of cores, trade marks and PoCL's prefix."""
    words = _NOISE.sub(" ", _POCL_PREFIX.sub("", name)).split()
    return " ".join(words) or name


def short_platform(name: str) -> str:
    """Return a platform's name as its users call it."""
    return PLATFORMS.get(name.strip().casefold(), " ".join(_NOISE.sub(" ", name).split()) or name)


def _name(device: str, platform: str) -> str:
    return f"{short_device(device)} ({short_platform(platform)})" if platform else short_device(device)


def _distinction(names: pd.Series, words: pd.Series) -> pd.Series:
    """For each place what sets it apart from the others of its name; nothing where they all agree in it."""
    differing = words.groupby(names).transform("nunique") > 1
    return (", " + words).where(differing & (words != ""), "")


_DISTINCTIONS = (
    ("form", lambda form: FORMS.get(form, form)),
    ("driver_version", lambda version: f"driver {version}"),
    ("cold_cache", lambda cold: "cold cache" if cold else ""),
    ("platform_version", str),
    ("device", str),
    ("platform", str),
)
