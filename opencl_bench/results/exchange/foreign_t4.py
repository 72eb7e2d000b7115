"""Results of other auto-tuners in the format T4, such as the brute-forced spaces of the benchmark hub.

    {"metadata": {"timeunit": "miliseconds"}, "results": [{"configuration": {…}, "times": {"compilation": …,
     "runtimes": […]}, "invalidity": "correct", "measurements": [{"name": "time", "value": …}]}, …]}

`t4` reads the files that this package writes, as measurements. A file of another program names neither a device
nor a baseline, so nothing in it may enter a store: what is read here is for judging searches alone.

Differences from the schema that occur: the unit is misspelt, `times` has `compilation` for `compilation_time`, a
failed result has null for its runtimes and the name of its error for its time. Files may be packed by gzip.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

from coarsen.errors import InvalidInputError
from coarsen.files import MEBIBYTE, read_file
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.results.exchange.t1_conditions import Value

LARGEST_FILE = 256 * MEBIBYTE
LARGEST_UNPACKED = 1024 * MEBIBYTE
_GZIP = b"\x1f\x8b"
# In seconds. The schema's own unit is the millisecond.
_UNITS: Mapping[str, float] = MappingProxyType(
    {
        "seconds": 1.0,
        **dict.fromkeys(("milliseconds", "miliseconds"), 1e-3),
        "microseconds": 1e-6,
        "nanoseconds": 1e-9,
    }
)
_OBJECTIVE = "time"


@dataclass(frozen=True, slots=True)
class ForeignResult:
    """A configuration of another tuner and how it ended.

    Attributes:
        configuration: its values of the parameters, by name.
        invalidity: how it ended.
        time: in seconds, what the tuner minimised; None unless it ended correctly.
        seconds: spent on compiling and on running it; what the tuner itself took is left out.
    """

    configuration: Mapping[str, Value]
    invalidity: Invalidity
    time: float | None
    seconds: float


def read_foreign_t4(path: Path) -> list[ForeignResult]:
    """Read the results in a T4 file of any program (.json, or .json.gz).

    The time of a result is the file's objective `time` (often the mean of the runs, of which the first may be
    slow), or else the median of its runtimes.

    Raises:
        InvalidInputError: the file can't be read or is malformed; the message is one line and names the file.
    """
    data = _unpacked(read_file(path, LARGEST_FILE), path)
    try:
        return _results(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not a JSON file: {' '.join(str(error).split())}") from None
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: not a T4 file: {error}") from None


def _unpacked(data: bytes, path: Path) -> bytes:
    if not data.startswith(_GZIP):
        return data
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = stream.decompress(data, LARGEST_UNPACKED)
    except zlib.error as error:
        raise InvalidInputError(f"{path}: can't be unpacked: {error}") from None
    if not stream.eof:
        how = f"has more than {LARGEST_UNPACKED >> 20} MiB unpacked" if stream.unconsumed_tail else "was cut off"
        raise InvalidInputError(f"{path}: it {how}")
    return unpacked


def _results(document: object) -> list[ForeignResult]:
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        raise InvalidInputError("it has no list 'results'")
    unit = _unit(document.get("metadata"))
    return [_result(each, unit, f"result {number}") for number, each in enumerate(document["results"], 1)]


def _unit(metadata: object) -> float:
    name = metadata.get("timeunit", "milliseconds") if isinstance(metadata, dict) else "milliseconds"
    if not isinstance(name, str) or name not in _UNITS:
        raise InvalidInputError(f"its unit of time is {name!r}; known are {', '.join(_UNITS)}")
    return _UNITS[name]


def _result(written: object, unit: float, where: str) -> ForeignResult:
    if not isinstance(written, dict):
        raise InvalidInputError(f"{where} is no object")
    configuration, times = written.get("configuration"), written.get("times") or {}
    if not isinstance(configuration, dict) or not all(isinstance(each, Value) for each in configuration.values()):
        raise InvalidInputError(f"the configuration of {where} is no object of numbers and texts")
    if written.get("invalidity") not in [*Invalidity]:
        raise InvalidInputError(f"the invalidity of {where} is none of {', '.join(Invalidity)}")
    invalidity = Invalidity(written["invalidity"])
    runtimes = _runtimes(times, where)
    time = None
    if invalidity is Invalidity.CORRECT:
        time = _time(written, runtimes, where) * unit
    return ForeignResult(configuration, invalidity, time, (_compilation(times) + sum(runtimes)) * unit)


def _runtimes(times: object, where: str) -> list[float]:
    runtimes = (times.get("runtimes") or []) if isinstance(times, dict) else None
    if not isinstance(runtimes, list) or not all(map(_is_duration, runtimes)):
        raise InvalidInputError(f"the runtimes of {where} are no list of durations")
    return runtimes


def _compilation(times: Mapping[str, Any]) -> float:
    written = (times.get(name) for name in ("compilation_time", "compilation"))
    return next((float(value) for value in written if _is_duration(value)), 0.0)


def _time(written: Mapping[str, Any], runtimes: list[float], where: str) -> float:
    """Return what the tuner minimised, in the file's unit."""
    measurements = written.get("measurements")
    for each in measurements if isinstance(measurements, list) else ():
        if isinstance(each, dict) and each.get("name") == _OBJECTIVE and _is_duration(each.get("value")):
            return _positive(float(each["value"]), where)
    if not runtimes:
        raise InvalidInputError(f"{where} is correct and has neither a time nor runtimes")
    return _positive(median(runtimes), where)


def _positive(time: float, where: str) -> float:
    if time <= 0:
        raise InvalidInputError(f"{where} took no time")
    return time


def _is_duration(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
