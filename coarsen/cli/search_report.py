"""The output of `coarsen search replay`: the spaces, and the quality of searchers after shares of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from coarsen.cli.messages import note
from coarsen.cli.output import counted, print_line, print_table
from coarsen.opencl_bench.measure.speedup import median
from coarsen.opencl_bench.reporting.numbers.search import geometric_means, percent, quality_at, quality_curves
from coarsen.opencl_bench.search.replay import Replay
from coarsen.opencl_bench.search.replay_rows import RANDOM
from coarsen.opencl_bench.search.tables import Table

_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MOST_SHARES = 5
_ALL = "geometric mean"


def print_replay(tables: Sequence[Table], replay: Replay) -> None:
    """Print the spaces, then a row for each searcher on each space, and what there is to say of them."""
    headings = ("space", "valid", "failed", "median point", "default")
    print_table(headings, map(_space_cells, tables), numbers=headings[1:])
    print_line()
    curves = quality_curves(replay.rows)
    shares = _shares_of(curves)
    at = quality_at(curves, shares)
    columns = [percent(share) for share in shares]
    print_table(("space", "searcher", *columns), _quality_cells(at), numbers=columns)
    print_line()
    print_line(_reading(curves))
    for table in tables:
        for remark in table.remarks:
            note(f"{table.name}: {remark}")
    for (space, searcher, text), runs in replay.notes.items():
        note(f"{space}, {searcher}, {runs} of {_runs_of(curves, space, searcher)} runs: {text}")


def replay_as_data(tables: Sequence[Table], replay: Replay) -> dict[str, object]:
    """Return the same for JSON, with the quartiles."""
    curves = quality_curves(replay.rows)
    shares = _shares_of(curves)
    at = {name: quality_at(curves, shares, name) for name in ("quality", "lower", "upper")}
    means = geometric_means(at["quality"])
    return {
        "spaces": [_space_data(table) for table in tables],
        "qualities": [
            {
                "space": space,
                "searcher": searcher,
                "seeds": _runs_of(curves, space, searcher),
                "shares": [
                    {"share": share, **{name: _number(at[name].loc[(space, searcher), share]) for name in at}}
                    for share in shares
                ],
            }
            for space, searcher in at["quality"].index
        ],
        "geometric_means": [
            {"searcher": searcher, "shares": {str(share): _number(row[share]) for share in shares}}
            for searcher, row in means.iterrows()
        ],
        "notes": [
            {"space": space, "searcher": searcher, "runs": runs, "text": text}
            for (space, searcher, text), runs in replay.notes.items()
        ],
    }


def _space_data(table: Table) -> dict[str, object]:
    return {
        "space": table.name,
        "valid": len(table.trials),
        "failed": len(table.trials) - len(table.times),
        "quality_of_median": table.optimum / median(table.times),
        "quality_of_default": _default_quality(table),
        "remarks": list(table.remarks),
    }


def _space_cells(table: Table) -> tuple[str, ...]:
    data = _space_data(table)
    default = _default_quality(table)
    return (
        table.name,
        str(data["valid"]),
        str(data["failed"]),
        f"{table.optimum / median(table.times):.2f}",
        "fails" if default is None else f"{default:.2f}",
    )


def _default_quality(table: Table) -> float | None:
    time = table.trials[(0,) * len(table.space.axes)].time
    return None if time is None else table.optimum / time


def _quality_cells(at: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    for (space, searcher), row in at.iterrows():
        yield (space, searcher, *map(_cell, row))
    if at.index.get_level_values("space").nunique() > 1:
        for searcher, row in geometric_means(at).iterrows():
            yield (_ALL, str(searcher), *map(_cell, row))


def _cell(quality: float) -> str:
    return "" if math.isnan(quality) else f"{quality:.3f}"


def _number(quality: float) -> float | None:
    return None if math.isnan(quality) else float(quality)


def _shares_of(curves: pd.DataFrame) -> list[float]:
    """The largest of the round shares that the runs reached in some space, or else all that was tried."""
    reached = float(curves["share"].max())
    return [share for share in _SHARES if share <= reached * 1.02][-_MOST_SHARES:] or [reached]


def _runs_of(curves: pd.DataFrame, space: str, searcher: str) -> int:
    own = curves[(curves["space"] == space) & (curves["searcher"] == searcher)]
    return int(own["seeds"].iloc[0])


def _reading(curves: pd.DataFrame) -> str:
    """Say what the numbers are of."""
    seeds = int(curves["seeds"].max())
    runs = f"the medians of {counted(seeds, 'run')}" if seeds else "medians over all ways to draw"
    random = f"; {RANDOM} is exact" if seeds and (curves["seeds"] == 0).any() else ""
    return f"Quality after a share of the valid configurations, 1 at the optimum: {runs}{random}."
