"""`coarsen search`: replays as a table, as JSON, as rows and drawn, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from coarsen.cli.messages import logging_to_stderr
from coarsen.cli.search_progress import Watch, WatchOnTerminal, watching
from coarsen.opencl_bench.search.replay import Progress
from coarsen.opencl_bench.search.replay_files import read_rows
from coarsen.opencl_bench.search.replay_journal import Entry, Journal
from tests.opencl_bench.search.made_up import made_up_table, rows
from tests.opencl_bench.search.test_foreign_tables import results_file, space_file

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep replays in this process: starting others takes longer than they do."""
    monkeypatch.setattr("coarsen.processes.processors", lambda: 1)


def replayed(run: Run, folder: Path, *words: object) -> Any:  # noqa: ANN401
    space = ("--space", space_file(folder, height=2))
    return run("search", "replay", results_file(folder), *space, "--searchers", "exhaustive,random", *words)


def test_a_table_of_spaces_and_of_qualities(tmp_path: Path, run: Run) -> None:
    outcome = replayed(run, tmp_path, "--seeds", 3, "--budget", "10%")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    table = made_up_table()
    failed = len(table.trials) - len(table.times)
    assert lines[0].split() == ["space", "valid", "failed", "median", "point", "default"]
    assert lines[1].split()[:5] == ["made", "up", "GPU", str(len(rows())), str(failed)]
    assert [line.split()[3] for line in lines if line.startswith("made up GPU")][1:] == ["exhaustive", "random"]
    assert "the medians of 3 runs; random is exact" in lines[-1]


def test_json_has_quartiles(tmp_path: Path, run: Run) -> None:
    found = json.loads(replayed(run, tmp_path, "--seeds", 3, "--budget", 20, "-f", "json").out)
    assert [space["valid"] for space in found["spaces"]] == [len(rows())]
    assert [each["searcher"] for each in found["qualities"]] == ["exhaustive", "random"]
    for each in found["qualities"]:
        last = each["shares"][-1]
        assert 0 <= last["lower"] <= last["quality"] <= last["upper"] <= 1
    assert [each["searcher"] for each in found["geometric_means"]] == ["exhaustive", "random"]


def test_rows_are_written_and_drawn_again(tmp_path: Path, run: Run) -> None:
    parquet, table, figure, other = (tmp_path / name for name in ("r.parquet", "r.csv", "q.svg", "o.svg"))
    outcome = replayed(run, tmp_path, "--seeds", 2, "-o", parquet, "--figure", figure)
    assert (outcome.code, outcome.err) == (
        0,
        f"coarsen: note: written: {parquet}\ncoarsen: note: written: {figure}\n",
    )
    replayed(run, tmp_path, "--seeds", 2, "-o", table)
    pd.testing.assert_frame_equal(read_rows(parquet), read_rows(table))
    assert run("search", "draw", parquet, "-o", other).code == 0
    assert other.read_bytes() == figure.read_bytes()


def test_an_interrupted_replay_goes_on(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    add, words = Journal.add, ("--seeds", 2, "-o", tmp_path / "r.parquet", "--processes", 1)

    def add_one(journal: Journal, entry: Entry) -> None:
        if journal.path.exists():
            raise KeyboardInterrupt
        add(journal, entry)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "add", add_one)
        outcome = replayed(run, tmp_path, *words)
    kept = tmp_path / "r.runs.jsonl"
    assert (outcome.code, outcome.out, outcome.err) == (
        *(130, ""),
        f"coarsen: interrupted: 1 of 2 runs are kept in {kept}; the same command goes on from there\n",
    )
    outcome = replayed(run, tmp_path, *words)
    assert outcome.err.startswith("coarsen: note: 1 of 2 runs had been done before\ncoarsen: note: written: ")
    assert len(read_rows(tmp_path / "r.parquet")["seed"].dropna().unique()) == 2


def test_an_interrupted_replay_without_an_output(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("coarsen.opencl_bench.search.replay.as_they_end", interrupted)
    outcome = replayed(run, tmp_path)
    assert (outcome.code, outcome.err) == (130, "coarsen: interrupted\n")


def test_progress_is_said_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    moments = iter([0.0, 1.0, 31.0, 32.0])
    with logging_to_stderr():
        watch = Watch(lambda: next(moments))
        for done in range(3):
            watch.update(Progress(9, 4, done))
    assert capsys.readouterr().err == (
        "coarsen: note: 4 of 9 runs had been done before\ncoarsen: note: 5 of 9 runs, 31 s\n"
    )


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with logging_to_stderr(), watching() as watch:
        watch.update(Progress(9, 4, 2))
        assert isinstance(watch, WatchOnTerminal)
        (task,) = watch.bar.tasks
        assert (task.total, task.completed, task.description) == (5, 2, "runs beside 4 done before")


def test_remarks_are_notes(tmp_path: Path, run: Run) -> None:
    outcome = run("search", "replay", results_file(tmp_path), "--searchers", "random")
    assert outcome.err == (
        "coarsen: note: made up GPU: no space was given for it: what the results have is taken for all that is "
        "valid\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--budget", "much"), "--budget is a share such as 5% or a whole number, not 'much'"),
        (("--budget", "0%"), "a budget is a share above 0 and at most 1 of the space"),
        (("--budget", "0"), "a budget has at least one trial"),
        (("--budget", "nan%"), "a budget is a share above 0"),
        (("--searchers", "randon"), "there is no searcher 'randon' (did you mean random?)"),
        (("--searchers", ","), "name at least one searcher"),
        (("--shared", "depth"), "made up GPU has no parameter 'depth' to be shared"),
        (("-b", "sgemm"), "benchmarks are chosen from stored sweeps; there is none"),
        (("-o", "rows.txt"), "rows.txt: the name of a file of rows ends in .parquet or .csv"),
        (("--processes", 0), "invalid value for '--processes'"),
        (("--figure", "quality.gif"), "quality.gif: a figure's file ends in .png, .svg or .pdf"),
    ],
)
def test_refusals(words: tuple[str, ...], message: str, tmp_path: Path, run: Run) -> None:
    outcome = replayed(run, tmp_path, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(message)


def test_files_that_are_refused(tmp_path: Path, run: Run) -> None:
    assert "can't be read" in run("search", "replay", tmp_path / "none.json.gz", "--searchers", "random").error
    damaged = tmp_path / "rows.parquet"
    damaged.write_bytes(b"PAR1 is no table")
    outcome = run("search", "draw", damaged, "-o", tmp_path / "q.svg")
    assert (outcome.code, outcome.error.startswith(f"{damaged}: has no rows of a replay: ")) == (2, True)
    (tmp_path / "rows.csv").write_text("space,choices\none,3\n")
    assert (
        "has no rows of a replay" in run("search", "draw", tmp_path / "rows.csv", "-o", tmp_path / "q.svg").error
    )


def test_replaying_needs_packages(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    outcome = run("search", "replay", tmp_path / "T4.json")
    assert (outcome.code, outcome.error) == (
        *(2, "replaying searches needs more packages: pip install 'coarsen[bench]'"),
    )
