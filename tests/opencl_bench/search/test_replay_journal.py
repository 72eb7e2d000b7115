"""Replays that go on where they were interrupted: what is kept, what is done again, and the same rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search import replay_origin
from coarsen.opencl_bench.search.budget import Budget
from coarsen.opencl_bench.search.compared import REPLAYED
from coarsen.opencl_bench.search.replay import Plan, Progress, replay
from coarsen.opencl_bench.search.replay_files import write_rows
from coarsen.opencl_bench.search.replay_journal import Journal
from coarsen.opencl_bench.search.replay_origin import program_digest, table_digest
from coarsen.opencl_bench.search.tables import with_base
from tests.opencl_bench.search.made_up import made_up_table

TENTH = Budget(share=0.1)
PLAN = Plan(("exhaustive", "greedy", "random"), 2, TENTH)


def begun(journal: Journal, plan: Plan = PLAN, name: str = "made up") -> Progress:
    """How far a replay is when it begins."""
    told: list[Progress] = []
    replay([made_up_table(name)], plan, journal=journal, watch=told.append)
    return told[0]


def test_a_replay_goes_on_after_an_interruption(tmp_path: Path) -> None:
    journal = Journal.beside(tmp_path / "rows.parquet")
    assert journal.path == tmp_path / "rows.runs.jsonl"

    def interrupt(progress: Progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay([made_up_table()], PLAN, journal=journal, watch=interrupt)
    assert begun(journal) == Progress(4, 3, 0)
    assert begun(journal) == Progress(4, 4, 0)


def test_rows_are_the_same_bytes_whatever_was_kept(tmp_path: Path) -> None:
    plan = replace(PLAN, searchers=("additive-paper", *PLAN.searchers))
    whole = replay([made_up_table()], plan)
    journal = Journal(tmp_path / "kept.runs.jsonl")
    replay([made_up_table()], replace(plan, seeds=1), journal=journal)
    again = replay([made_up_table()], plan, journal=journal)
    assert again.notes == whole.notes
    for name, done in (("one", whole), ("other", again)):
        write_rows(done.rows, tmp_path / f"{name}.parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()


def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "kept.runs.jsonl")
    first = replay([made_up_table()], PLAN, journal=journal)
    journal.path.write_bytes(journal.path.read_bytes()[:-20])
    assert begun(journal) == Progress(4, 3, 0)
    # The line that was added is none with the remainder before it.
    assert begun(journal) == Progress(4, 4, 0)
    pd.testing.assert_frame_equal(replay([made_up_table()], PLAN, journal=journal).rows, first.rows)


def test_runs_of_something_else_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "kept.runs.jsonl")
    begun(journal)
    assert begun(journal, replace(PLAN, budget=Budget(share=0.2))).kept == 0
    assert begun(journal, replace(PLAN, base="default")).kept == 0
    assert begun(journal, name="the same under another name").kept == 4
    monkeypatch.setattr(replay_origin, "_version", lambda package: f"another {package}")
    assert begun(journal).kept == 0


def test_tables_differ_by_their_times_and_by_their_base() -> None:
    table = made_up_table()
    choice, trial = next((choice, trial) for choice, trial in table.trials.items() if trial.time is not None)
    faster = replace(table, trials={**table.trials, choice: replace(trial, time=0.001)})
    other_base = with_base(table, max(table.trials))
    digests = [table_digest(each) for each in (table, faster, other_base)]
    assert len(set(digests)) == 3
    assert table_digest(made_up_table()) == digests[0]


def test_searchers_differ_by_their_source_and_by_their_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {name: program_digest(searcher) for name, searcher in REPLAYED.items()}
    assert len(set(digests.values())) == len(REPLAYED)
    source = replay_origin._source
    changed = "coarsen.opencl_bench.search.forest"
    monkeypatch.setattr(replay_origin, "_source", lambda name: source(name) + "#" * (name == changed))
    different = {name for name, searcher in REPLAYED.items() if program_digest(searcher) != digests[name]}
    assert different == {"guided"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"origin": "abc"}', r"kept.runs.jsonl, line 1: the run has no field 'space'"),
        ("[1, 2]", r"kept.runs.jsonl, line 1: the run is not a JSON object"),
    ],
)
def test_a_file_of_something_else_is_refused(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.runs.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(InvalidInputError, match=message):
        begun(Journal(path))
    assert path.read_text() == f"{line}\n"


def test_a_journal_that_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"kept.runs.jsonl: can't be written: "):
        begun(Journal(tmp_path / "no folder" / "kept.runs.jsonl"))
