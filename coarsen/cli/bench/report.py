"""What a run of `coarsen bench` came to: one table for the kernels, and what it says about the run itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

from coarsen.cli.output import counted, picked, print_json, print_line, print_records, print_table, shortened
from coarsen.cli.progress import duration
from coarsen.cli.results.text import best_row_as_data, source_file
from coarsen.errors import CoarsenError
from coarsen.opencl_bench.results.best import BestRow, best_row, best_words, geometric_mean, launch_words
from coarsen.opencl_bench.results.paste import Paste, paste_of
from coarsen.opencl_bench.sweep.several import SweepResult
from coarsen.tuning.engine.observer import Searched
from coarsen.tuning.records.measurement import Invalidity, Measurement
from coarsen.variant.variant_json import variant_to_json

_NUMBERS = re.compile(r"\d+(\.\d+)?")
LISTED_FAILURES = 20
# In characters; an export has reasons in full.
LONGEST_REASON = 100
# Lines to paste are for one kernel, or a few.
PASTED = 3


def print_report(results: Sequence[SweepResult], seconds: float, location: str) -> None:
    """Print the results as tables.

    Args:
        results: one per sweep.
        seconds: wall-clock time of the run.
        location: where the rows are.
    """
    headings = ["kernel", "device", "baseline", "best configuration", "speed-up", "verified against", "failed"]
    print_table(headings, map(_table_row, results), numbers=["failed"])
    print_line()
    _print_remarks(results)
    for mean in means(results):
        count = counted(mean["kernels"], "kernel")
        print_line(f"{mean['device']}: geometric mean {mean['speedup']:.2f} over {count}")
    _print_failures(failures(results))
    print_line(_run_line(**run_as_data(results, seconds)))
    print_line(f"The rows are in {location}")
    _print_pastes(results)


def print_report_as_json(results: Sequence[SweepResult], seconds: float, location: str) -> None:
    """Print the results as JSON; arguments as those of `print_report`."""
    print_json(
        {
            "sweeps": [_as_data(result) for result in results],
            "geometric_means": means(results),
            "failures": failures(results),
            "run": run_as_data(results, seconds),
            "store": location,
        }
    )


def means(results: Sequence[SweepResult]) -> list[dict[str, Any]]:
    """Return the geometric mean of the best speed-ups on each device with several, and the number of kernels."""
    found = []
    for device in dict.fromkeys(result.device for result in results):
        rows = [best for result in results if result.device == device and (best := _best(result)) is not None]
        mean = geometric_mean(rows)
        if mean is not None:
            found.append({"device": device, "speedup": mean, "kernels": len(rows)})
    return found


def failures(results: Iterable[SweepResult]) -> list[dict[str, Any]]:
    """Return the failed rows in groups: of one way to fail, for reasons that differ in numbers only."""
    failed = [row for result in results for row in result.rows if row.invalidity is not Invalidity.CORRECT]
    groups = [list(rows) for _, rows in groupby(sorted(failed, key=_kind), key=_kind)]
    found = [
        {
            "invalidity": rows[0].invalidity.value,
            "rows": len(rows),
            "reason": rows[0].reason,
            "kernels": list(dict.fromkeys(row.subject.benchmark for row in rows)),
        }
        for rows in groups
    ]
    return sorted(found, key=lambda each: (each["invalidity"] == "constraints", each["invalidity"], -each["rows"]))


def run_as_data(results: Sequence[SweepResult], seconds: float) -> dict[str, Any]:
    """Return the rows of a run, how many were measured now, and its wall-clock time."""
    rows = sum(len(result.feasible_rows) for result in results)
    measured = sum(len(result.measured_rows) for result in results)
    infeasible = sum(len(result.rows) for result in results) - rows
    return {"rows": rows, "infeasible": infeasible, "measured": measured, "seconds": seconds}


def _best(result: SweepResult) -> BestRow | None:
    return best_row(result.rows) if result.rows else None


def _table_row(result: SweepResult) -> list[str]:
    best = _best(result)
    failed = sum(row.invalidity is not Invalidity.CORRECT for row in result.feasible_rows)
    what = [result.benchmark, result.plan.device]
    if best is None:
        # Why, in full, comes with the other errors, at the end.
        return [*what, "", "none", "", "", str(failed)]
    shown = [launch_words(best.baseline), str(best.candidate), best_words(best.speedup)]
    return [*what, *shown, best.verified_against, str(failed)]


def _paste(result: SweepResult, best: BestRow) -> Paste:
    if best.row is None or not best.is_certain:
        return Paste("", "", "")
    return paste_of(best.row, source_file(result.plan.benchmark))


def _print_remarks(results: Iterable[SweepResult]) -> None:
    """Say of each sweep how its search went, and what is to be known of its best."""
    for result in results:
        best = _best(result)
        searched = _search_lines(result.searched) if result.searched is not None else ()
        for sentence in (*searched, *((*best.notes, *_conversion(result, best)) if best else ())):
            print_line(f"{result.benchmark} on {result.plan.device}: {sentence}")


def _conversion(result: SweepResult, best: BestRow) -> Iterator[str]:
    """Say what the conversion of the best one's arrays costs, if it wants any."""
    if best.row is None or not any(plan.moves_fields for plan in best.candidate.arrays):
        return
    # Imported late: most have none.
    from coarsen.opencl_bench.workloads.lookup import find_benchmark
    from coarsen.tuning.engine.conversion import conversion_of
    from coarsen.tuning.measure.machine import LaunchError

    try:
        yield conversion_of(find_benchmark(str(result.plan.benchmark)), best.row).sentence
    except (CoarsenError, LaunchError) as error:
        yield f"what it costs to pack its arrays is not known: {error}"


def _print_pastes(results: Sequence[SweepResult]) -> None:
    """Say how to use each best configuration that is certainly faster: of several, of the largest gains."""
    known = [(result, best) for result in results if (best := _best(result)) is not None]
    found = [(result, best) for result, best in known if best.is_coarsened and best.is_certain]
    ranked = sorted(found, key=lambda entry: -entry[1].speedup.ratio)
    for result, best in ranked[:PASTED]:
        print_line()
        print_line(f"To run {result.benchmark} {best.speedup.ratio:.2f} times as fast on {result.plan.device}:")
        for line in _paste(result, best).lines:
            print_line(f"  {line}")
    if len(ranked) > PASTED:
        print_line()
        print_line(f"… and {len(ranked) - PASTED} more; `coarsen results show KEY` has the lines of each")


def _as_data(result: SweepResult) -> dict[str, Any]:
    best = _best(result)
    return {
        "benchmark": result.benchmark,
        "device": result.device,
        "preset": result.plan.preset,
        "rows": len(result.feasible_rows),
        "infeasible": len(result.rows) - len(result.feasible_rows),
        "measured": len(result.measured),
        "seconds": result.seconds,
        "problem": result.problem,
        **({} if result.searched is None else {"search": _search_as_data(result.searched)}),
        "best": None if best is None else _best_as_data(best, _paste(result, best)),
    }


def _best_as_data(best: BestRow, paste: Paste) -> dict[str, Any]:
    return {
        **best_row_as_data(best),
        "verified_against": best.row.oracle.value if best.row else None,
        "python": paste.python,
        "command": paste.command,
    }


def _kind(row: Measurement) -> tuple[str, str]:
    return row.invalidity.value, _NUMBERS.sub("0", row.reason)


def _print_failures(found: Sequence[Mapping[str, Any]]) -> None:
    if not found:
        return
    totals: Counter[str] = Counter()
    for each in found:
        totals[each["invalidity"]] += each["rows"]
    print_line()
    print_line(f"Configurations without a time: {', '.join(f'{kind} {rows}' for kind, rows in totals.items())}")
    print_records(found[:LISTED_FAILURES], _FAILURES, numbers=["rows"])
    if len(found) > LISTED_FAILURES:
        more = len(found) - LISTED_FAILURES
        print_line(f"… and {more} more reasons; `coarsen results export FILE.csv` writes all")
    print_line()


_FAILURES: Mapping[str, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        "": lambda each: each["invalidity"],
        "rows": lambda each: str(each["rows"]),
        "reason, of the first": lambda each: shortened(each["reason"], LONGEST_REASON),
        "kernels": lambda each: ", ".join(each["kernels"][:3]) + (", …" if len(each["kernels"]) > 3 else ""),
    }
)


def _run_line(rows: int, infeasible: int, measured: int, seconds: float) -> str:
    text = counted(rows, "row") + (f" and {infeasible} that break a constraint" if infeasible else "")
    now = f"; {measured} of them measured now, in {duration(seconds)}"
    return f"{text}{now if measured else ', all of them stored before'}"


def _search_lines(searched: Searched) -> Iterator[str]:
    """Enumerate what is to be said of a search: what was tried, its ending, its best, its notes."""
    share = f" of {searched.choices} ({searched.share:.1%})" if searched.choices and searched.share else ""
    tried = f"{counted(searched.tried, 'configuration')}{share}"
    failed = f"{searched.failed} failed" if searched.failed else "none failed"
    yield f"{searched.searcher} search tried {tried}, {failed}; {searched.found.ending}"
    trial = searched.found.best
    if trial is None or trial.time is None:
        yield "nothing that it tried ran"
    else:
        yield f"the best that it met, before confirmation: {searched.best}, {1 / trial.time:.2f}"
    yield from searched.found.notes


def _search_as_data(searched: Searched) -> dict[str, Any]:
    """Return a search as JSON takes it."""
    trial = searched.found.best
    return {
        **picked(searched, "searcher tried failed choices share"),
        "ending": searched.found.ending,
        "best": None if searched.best is None else variant_to_json(searched.best),
        "best_time": None if trial is None else trial.time,
        "notes": list(searched.found.notes),
    }
