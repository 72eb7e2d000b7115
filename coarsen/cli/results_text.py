"""How `coarsen results` prints summaries and rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from coarsen.cli.best_row_json import best_row_as_data
from coarsen.cli.output import counted, print_line, print_table
from coarsen.cli.source_file import source_file
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.records.measurement import Environment, Invalidity, Measurement, Method, Subject
from coarsen.opencl_bench.results.best import Case, Summary, best_words, verified_against
from coarsen.opencl_bench.results.paste import paste_of
from coarsen.opencl_bench.results.speedups import speedup_of

# Keys are shown in part: twelve hexadecimal digits tell more rows apart than any store has.
KEY_DIGITS = 12
MILLISECONDS = 1e-6  # in a nanosecond


def print_summaries(summaries: Sequence[Summary], location: str) -> None:
    """Print a table per device and form of code, a line per benchmark and preset, and below where the rows are."""
    headings = ["benchmark", "preset", "rows", "failed", "best configuration", "speed-up", "key", "newest"]
    ordered = sorted(summaries, key=lambda summary: (_device(summary.case), summary.case))
    several = _several_drivers(summaries)
    for device, group in groupby(ordered, key=lambda summary: _device(summary.case)):
        found = list(group)
        print_line(_place(device, _name(found[0].case) in several))
        print_table(headings, map(_summary_row, found), numbers=["rows"])
        for sentence in _notes(found):
            print_line(sentence)
        print_line()
    rows = sum(summary.rows for summary in summaries)
    print_line(f"{counted(rows, 'row')} in {location}")


def summaries_as_data(summaries: Iterable[Summary], location: str) -> dict[str, Any]:
    """Return the same for JSON."""
    return {"store": location, "cases": [_summary_as_data(summary) for summary in summaries]}


def print_measurement(measurement: Measurement) -> None:
    """Print all that is known of a row, a field a line, and how to use its configuration."""
    print_table(["field", "value"], ([name, value] for name, value in _fields(measurement) if value))
    if measurement.invalidity is Invalidity.CORRECT:
        print_line()
        for line in paste_of(measurement, source_file(measurement.subject.benchmark)).lines:
            print_line(line)


def _device(case: Case) -> tuple[str, str, bool]:
    """Return what a table is of: a device with a form of code, its driver, the state of the caches."""
    return _name(case), case.driver_version, case.cold_cache


def _name(case: Case) -> str:
    return f"{case.device} ({case.platform}), {case.form}"


def _several_drivers(summaries: Iterable[Summary]) -> set[str]:
    """The names of devices with rows of several drivers."""
    counts = Counter(name for name, _ in {_device(summary.case)[:2] for summary in summaries})
    return {name for name, count in counts.items() if count > 1}


def _place(device: tuple[str, str, bool], with_driver: bool) -> str:
    name, driver, cold_cache = device
    return f"{name}{f', driver {driver}' if with_driver else ''}{', cold caches' if cold_cache else ''}"


def _notes(summaries: Iterable[Summary]) -> Iterator[str]:
    """Yield what is to be known of the best of each kernel."""
    for summary in summaries:
        for sentence in summary.best.notes if summary.best else ():
            yield f"{summary.case.benchmark} ({summary.case.preset}): {sentence}"


def _summary_row(summary: Summary) -> list[str]:
    case, best = summary.case, summary.best
    failed = ", ".join(f"{ending} {count}" for ending, count in summary.failures.items())
    return [
        *(case.benchmark, case.preset, str(summary.rows), failed),
        *(str(best.candidate) if best else "", best_words(best.speedup) if best else ""),
        *(best.key[:KEY_DIGITS] if best else "", _minute(summary.newest)),
    ]


def _summary_as_data(summary: Summary) -> dict[str, Any]:
    case = summary.case
    return {
        "device": case.device,
        "platform": case.platform,
        "form": case.form,
        "driver": case.driver_version,
        "cold_cache": case.cold_cache,
        "benchmark": case.benchmark,
        "preset": case.preset,
        "rows": summary.rows,
        "failures": {ending.value: count for ending, count in summary.failures.items()},
        "best": best_row_as_data(summary.best) if summary.best else None,
        "newest": summary.newest,
    }


def _fields(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """The fields of a row with their names, as texts; those without a value are empty."""
    yield "key", measurement.key
    yield from _subject(measurement.subject)
    yield "role", measurement.role.value
    yield "configuration", str(measurement.candidate)
    yield "baseline", str(measurement.baseline or "")
    yield from _outcome(measurement)
    yield from _environment(measurement.environment)
    yield "method", _method(measurement.method)
    yield "started", measurement.started_at
    yield "compiled in", f"{measurement.compile_seconds:.3g} s"
    yield "measured in", f"{measurement.measure_seconds:.3g} s ({measurement.timed_seconds:.3g} s of it timed)"
    yield "SHA-256 of the code", measurement.code_hash


def _outcome(measurement: Measurement) -> Iterator[tuple[str, str]]:
    yield "outcome", measurement.invalidity.value
    yield "reason", measurement.reason
    if measurement.invalidity is Invalidity.CORRECT:
        coarsened = bool(measurement.candidate.coarsenings)
        yield "verified against", verified_against(measurement.oracle, coarsened=coarsened)
        yield "time", _times(measurement.nanoseconds)
        yield "time of the baseline", _times(measurement.baseline_nanoseconds)
        yield "speed-up", str(speedup_of(measurement) or "")


def _subject(subject: Subject) -> Iterator[tuple[str, str]]:
    yield "benchmark", subject.benchmark
    yield "kernel", subject.kernel
    yield "preset", subject.preset
    yield "size", _pairs(dict(subject.size))
    yield "seed", str(subject.seed)
    yield "build options", " ".join(subject.build_options)
    yield "SHA-256 of the IR", subject.ir_hash


def _environment(environment: Environment) -> Iterator[tuple[str, str]]:
    yield "device", environment.device
    yield "device types", ", ".join(environment.device_types)
    yield "vendor", environment.vendor
    yield "compute units", str(environment.compute_units)
    yield "driver", environment.driver_version
    yield "platform", f"{environment.platform}, {environment.platform_version}"
    yield "form of the code", environment.form
    yield "versions", _pairs(dict(environment.versions))


def _method(method: Method) -> str:
    caches = "cold" if method.cold_cache else "warm"
    return (
        f"{method.minimum_repetitions} to {method.repetitions} repetitions with {caches} caches, after "
        f"{method.warm_up} to warm up, until the interval is narrower than {method.interval_width:g}; "
        f"given up after {method.timeout_multiple:g} times the best"
    )


def _times(nanoseconds: Sequence[int]) -> str:
    """Median and range, in milliseconds."""
    if not nanoseconds:
        return ""
    shortest, middle, longest = min(nanoseconds), median(nanoseconds), max(nanoseconds)
    values = [f"{duration * MILLISECONDS:.4g}" for duration in (middle, shortest, longest)]
    return f"{values[0]} ms, the median of {len(nanoseconds)} ({values[1]} to {values[2]} ms)"


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _minute(time: str) -> str:
    """A time in ISO 8601 up to its minutes."""
    return time[:16].replace("T", " ")
