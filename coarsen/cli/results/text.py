"""How `coarsen results` prints summaries, rows, and the best configuration of each kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coarsen.cli.messages import note
from coarsen.cli.output import (
    counted,
    picked,
    print_fields,
    print_json,
    print_line,
    print_lines,
    print_records,
    record_fields,
)
from coarsen.cli.stores import KEY_DIGITS
from coarsen.errors import CoarsenError
from coarsen.opencl_bench.results.best import BestRow, Summary, best_words, newest_versions, verified_against
from coarsen.opencl_bench.results.paste import paste_of, paste_of_variant
from coarsen.tuning.engine.speedups import speedup_of
from coarsen.tuning.measure.speedup import Speedup, median
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.tuning.remembered.choice import RememberedChoice
from coarsen.tuning.remembered.choice_json import choice_to_json
from coarsen.variant.variant_json import variant_to_json

if TYPE_CHECKING:
    import pandas as pd


MILLISECONDS = 1e-6  # in a nanosecond


def print_summaries(summaries: Sequence[Summary], location: str) -> None:
    """Print a line per device, form of code, benchmark and preset, and below where the rows are."""
    if summaries:
        print_records(summaries, _SUMMARY_COLUMNS, numbers=["rows"])
        for summary in summaries:
            for sentence in summary.best.notes if summary.best else ():
                print_line(f"{summary.case.benchmark} ({summary.case.preset}): {sentence}")
        print_line()
    rows = sum(summary.rows for summary in summaries)
    print_line(f"{counted(rows, 'row')} in {location}")


def print_measurement(measurement: Measurement) -> None:
    """Print all that is known of a row, a field a line, and how to use its configuration."""
    print_fields(_fields(measurement))
    if measurement.invalidity is Invalidity.CORRECT:
        print_line()
        print_lines(*paste_of(measurement, source_file(measurement.subject.benchmark)).lines)


_SUMMARY_COLUMNS: Mapping[str, Callable[[Summary], str]] = MappingProxyType(
    {
        "benchmark": lambda each: each.case.benchmark,
        "device": lambda each: f"{each.case.device} ({each.case.platform})",
        "driver": lambda each: each.case.driver_version,
        "form": lambda each: f"{each.case.form}{', cold caches' if each.case.cold_cache else ''}",
        "preset": lambda each: each.case.preset,
        "rows": lambda each: str(each.rows),
        "failed": lambda each: ", ".join(f"{ending} {count}" for ending, count in each.failures.items()),
        "best configuration": lambda each: str(each.best.candidate) if each.best else "",
        "speed-up": lambda each: best_words(each.best.speedup) if each.best else "",
        "key": lambda each: each.best.key[:KEY_DIGITS] if each.best else "",
        "newest": lambda each: _minute(each.newest),
    }
)


def summary_as_data(summary: Summary) -> dict[str, Any]:
    """Return a summary for JSON."""
    return {
        **picked(summary.case, "device platform form"),
        "driver": summary.case.driver_version,
        **picked(summary.case, "cold_cache benchmark preset"),
        "rows": summary.rows,
        "failures": {ending.value: count for ending, count in summary.failures.items()},
        "best": best_row_as_data(summary.best) if summary.best else None,
        "newest": summary.newest,
    }


def _fields(row: Measurement) -> Iterator[tuple[str, str]]:
    """The fields of a row, as the page about results calls them; those without a value are empty."""
    yield "key", row.key
    if row.invalidity is Invalidity.CORRECT:
        yield "speed-up", str(speedup_of(row) or "")
        yield "verified against", verified_against(row.oracle, coarsened=bool(row.candidate.coarsenings))
    for name, text in record_fields(row):
        yield name, _times(getattr(row, name.replace(" ", "_"))) if name.endswith("nanoseconds") else text


def _times(nanoseconds: Sequence[int]) -> str:
    """Median and range, in milliseconds."""
    if not nanoseconds:
        return ""
    shortest, middle, longest = min(nanoseconds), median(nanoseconds), max(nanoseconds)
    values = [f"{duration * MILLISECONDS:.4g}" for duration in (middle, shortest, longest)]
    return f"{values[0]} ms, the median of {len(nanoseconds)} ({values[1]} to {values[2]} ms)"


def _minute(time: str) -> str:
    """A time in ISO 8601 up to its minutes."""
    return time[:16].replace("T", " ")


def print_best(table: pd.DataFrame, *, is_json: bool) -> None:
    """Print the best configurations and the geometric means; `table` is from `Results.best`."""
    from coarsen.opencl_bench.results.rows import geometric_means

    if is_json:
        print_json({"best": records(table), "geometric_means": records(geometric_means(table))})
        return
    print_records(table.itertuples(), _BEST_COLUMNS, numbers=("measured", "failed"))
    print_line()
    for row in geometric_means(table).itertuples():
        mean = "" if math.isnan(row.speedup) else f"geometric mean {row.speedup:.2f}; "
        kernels = f"{row.measured} of {counted(row.kernels, 'kernel')} measured"
        others = f", other layouts and rewriting alone {row.laid_out} more" if row.laid_out else ""
        print_line(f"{row.label}: {mean}{kernels}; coarsening helps {row.helped}{others}")


def records(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows as JSON has them, null where there is no number."""
    plain = rows.rename(columns={"label": "device"}).astype(object)
    return [
        {
            str(name): None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in plain.to_dict("records")
    ]


def _best_speedup(row: Any) -> str:  # noqa: ANN401 (a row of pandas)
    return "none" if math.isnan(row.speedup) else best_words(Speedup(row.speedup, row.low, row.high))


_BEST_COLUMNS: Mapping[str, Callable[[Any], str]] = MappingProxyType(
    {
        "kernel": lambda row: row.benchmark,
        "device": lambda row: row.label,
        "baseline": lambda row: row.baseline,
        "best configuration": lambda row: row.configuration or "none",
        "speed-up": _best_speedup,
        "verified against": lambda row: verified_against(row.oracle, coarsened=row.factor > 1 or bool(row.arrays)),
        "measured": lambda row: f"{row.measured} of {row.configurations}",
        "failed": lambda row: str(row.failed),
    }
)


# How `coarsen results` prints remembered choices.

_AS_IT_IS = "as it is"


def print_choices(choices: Sequence[RememberedChoice], location: str) -> None:
    """Print a line per choice, and below where they are."""
    if choices:
        print_records(choices, _CHOICE_COLUMNS)
        print_line()
    print_line(f"{counted(len(choices), 'choice')} in {location}")


def choices_as_data(choices: Iterable[RememberedChoice], location: str) -> dict[str, Any]:
    """Return the same for JSON."""
    return {"store": location, "remembered": [choice_to_json(choice) for choice in choices]}


def print_choice(choice: RememberedChoice) -> None:
    """Print all that is known of a choice, a field a line, and how to use it in a program."""
    print_fields(_choice_fields(choice))
    print_line()
    print_lines(*paste_of_variant(choice.variant, choice.key.kernel).lines)


_CHOICE_COLUMNS: Mapping[str, Callable[[RememberedChoice], str]] = MappingProxyType(
    {
        "key": lambda choice: choice.key.digest[:KEY_DIGITS],
        "kernel": lambda choice: choice.key.kernel,
        "device": lambda choice: f"{choice.key.device} ({choice.key.platform})",
        "sizes": lambda choice: str(choice.key.size_class),
        "choice": lambda choice: _words(choice),
        "speed-up": lambda choice: str(choice.speedup) if choice.has_result else "-",
        "found": lambda choice: _minute(choice.found_at),
    }
)


def _words(choice: RememberedChoice) -> str:
    if not choice.has_result:
        return f"no result in {choice.seconds:.3g} s"
    return _AS_IT_IS if choice.leaves_as_is else str(choice.variant)


def _choice_fields(choice: RememberedChoice) -> Iterator[tuple[str, str]]:
    """All fields with their names; empty ones are not shown."""
    yield "key", choice.key.digest
    yield "choice", _words(choice)
    results = () if choice.has_result else ("speedup", "trials", "processes")
    yield from ((name, text) for name, text in record_fields(choice) if name not in ("variant", *results))


# Leave out rows of kernels that were edited since, and say so.


def without_history(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Return the rows of each kernel's newest version; says how many others there are."""
    rows, others = newest_versions(measurements)
    say_left_out(others)
    return rows


def say_left_out(others: int) -> None:
    """Say how many rows of earlier versions are not shown, if there are any."""
    if others:
        note(f"{others} row{'' if others == 1 else 's'} of earlier versions of a kernel left out")


def best_row_as_data(best: BestRow) -> dict[str, Any]:
    """Return a best row as data for JSON."""
    return {
        "key": best.key,
        "configuration": variant_to_json(best.candidate),
        "baseline": variant_to_json(best.baseline),
        "speedup": best.speedup.ratio,
        "interval": [best.speedup.low, best.speedup.high],
        "significant": best.is_coarsened,
        "certain": best.is_certain,
        "confirmed": best.is_confirmed,
        "processes": best.processes,
        "notes": list(best.notes),
    }


UNKNOWN = "FILE.cl"


def source_file(benchmark: str | Path) -> str:
    """Return the path of a benchmark's kernel, as short as it can be; a stand-in where there is no such file.

    Args:
        benchmark: a name of the suite, or the path of a description.
    """
    # Imported late: it loads the suite.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark

    try:
        found = find_benchmark(benchmark)
    except CoarsenError:
        return UNKNOWN
    if found.source_text and found.source_file is None:
        return UNKNOWN
    file, here = found.kernel_file.absolute(), Path.cwd()
    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
