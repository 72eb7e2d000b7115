"""Replay of searches: rows for each trial, from random bases, the same for the same seeds."""

from __future__ import annotations

import pandas as pd
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.additive import PAPER
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.notes import merged
from coarsen.opencl_bench.search.quality import random_quality
from coarsen.opencl_bench.search.replay import Plan, Progress, planned_trials, replay
from coarsen.opencl_bench.search.replay_rows import COLUMNS
from tests.opencl_bench.search.made_up import made_up_table

TENTH = Budget(share=0.1)


def test_rows_of_each_trial() -> None:
    table = made_up_table()
    rows = replay([table], Plan(("exhaustive",), 2, TENTH)).rows
    choices = len(table.trials)
    assert tuple(rows.columns) == COLUMNS
    assert len(rows) == 2 * (choices // 10)
    first = rows[rows["seed"] == 0]
    assert first["tried"].tolist() == list(range(1, choices // 10 + 1))
    assert first["share"].tolist() == [tried / choices for tried in first["tried"]]
    assert first["seconds"].tolist() == [tried * 0.5 for tried in first["tried"]]
    assert first["quality"].is_monotonic_increasing
    # Runs differ in their bases, hence in the order of what they try.
    assert first["time"].tolist() != rows.loc[rows["seed"] == 1, "time"].tolist()


def test_the_whole_space_has_the_optimum() -> None:
    rows = replay([made_up_table()], Plan(("exhaustive", "random"), 1, Budget(share=1.0))).rows
    assert rows.groupby("searcher")["quality"].last().to_dict() == {"exhaustive": 1.0, "random": 1.0}
    assert rows["share"].max() == 1.0


def test_random_search_is_computed() -> None:
    table = made_up_table()
    rows = replay([table], Plan(("random",), 30, TENTH)).rows
    assert rows["seed"].isna().all() and rows["time"].isna().all()
    expected = random_quality(table.times, len(table.trials), 7)
    row = rows[rows["tried"] == 7].iloc[0]
    assert (row["mean"], row["lower"], row["quality"], row["upper"]) == (
        *(expected.mean, expected.lower, expected.median, expected.upper),
    )


def test_a_seed_gives_the_same_rows_in_any_number_of_processes() -> None:
    tables = [made_up_table("one"), made_up_table("two")]
    plan = Plan(("exhaustive", "random"), 3, TENTH)
    pd.testing.assert_frame_equal(replay(tables, plan).rows, replay(tables, plan, processes=2).rows)


def test_progress_is_told_at_the_start_and_after_each_run() -> None:
    told: list[Progress] = []
    replay([made_up_table()], Plan(("exhaustive", "random"), 2, TENTH), watch=told.append)
    assert told == [Progress(2, 0, 0), Progress(2, 0, 1), Progress(2, 0, 2)]


def test_the_default_base_is_the_same_for_every_seed() -> None:
    rows = replay([made_up_table()], Plan(("exhaustive",), 2, TENTH, "default")).rows
    one, other = (rows[rows["seed"] == seed]["time"].tolist() for seed in (0, 1))
    assert one == other


def test_planned_trials_are_bases_and_supports() -> None:
    # Six widths; beside each, heights of at most 128 work-items, three other tiles and one other layout.
    heights = [5, 5, 5, 5, 4, 3]
    assert planned_trials(PAPER, made_up_table().space, 0) == sum(count + 3 + 1 for count in heights)


def test_rows_of_an_additive_search_say_where_its_checks_begin() -> None:
    rows = replay([made_up_table()], Plan(("additive-paper",), 1, Budget(share=1.0), "default")).rows
    planned = planned_trials(PAPER, made_up_table().space, 0)
    assert rows["planned"].tolist() == [planned] * (planned + 5)
    assert replay([made_up_table()], Plan(("exhaustive",), 1, TENTH)).rows["planned"].isna().all()


def test_notes_of_several_runs_are_merged() -> None:
    notes = ["R² -0.50 on 9 points", "2 relays", "R² 0.25 on 10 points", "R² 0.10 on 10 points", "f32 is x1.5"]
    assert merged(notes) == {"R² 0.10 on 10 points": 3, "2 relays": 1, "f32 is x1.5": 1}


@pytest.mark.parametrize(
    ("searchers", "seeds", "message"),
    [
        (("randon",), 1, r"there is no searcher 'randon' \(did you mean random\?\)"),
        (("random", "random"), 1, "each of them once"),
        ((), 1, "name at least one searcher"),
        (("random",), 0, "the number of seeds must be at least 1, not 0"),
    ],
)
def test_plans_that_are_refused(searchers: tuple[str, ...], seeds: int, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Plan(searchers, seeds, TENTH)


def test_two_tables_of_one_name() -> None:
    with pytest.raises(InvalidInputError, match="two of the spaces have one name"):
        replay([made_up_table(), made_up_table()], Plan(("random",), 1, TENTH))
