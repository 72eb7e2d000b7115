"""A configuration, a speed-up and a verification are worded alike, whichever command tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.cli.bench.report import print_report
from coarsen.opencl_bench.sweep.several import SweepResult
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.records.measurement import CheckedAgainst, Measurement, Role
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant import Variant
from tests.cli.conftest import Run
from tests.opencl_bench.measurements import some_measurement

BASELINE = Variant((32, 8), (), (("TILE", "16"),))
TIMES = (1_000_000, 1_000_400, 1_000_200, 999_900, 1_000_100)
FASTER = some_measurement(baseline=BASELINE)
TIE = some_measurement(
    candidate=BASELINE,
    baseline=BASELINE,
    oracle=CheckedAgainst.NOTHING,
    nanoseconds=TIMES,
    baseline_nanoseconds=TIMES[::-1],
)


@pytest.mark.parametrize(
    ("best", "words"),
    [
        (
            FASTER,
            (
                "factor 2 along dimension 0 with stride 8, local size 16×16, -D TILE=16",
                "2.00 (2.00 to 2.00)",
                "reference",
            ),
        ),
        (
            TIE,
            (
                "uncoarsened, local size 32×8, -D TILE=16",
                "1.00 (leave it as it is)",
                "is the original",
            ),
        ),
    ],
)
def test_three_commands(
    best: Measurement,
    words: tuple[str, str, str],
    tmp_path: Path,
    run: Run,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with open_store(str(tmp_path / "store")) as store:
        store.add(best)
        location = store.location
    result = SweepResult(SweepPlan("sgemm", "intel"), "sgemm", "0:0", (best,), frozenset({best.key}), 1.0)
    print_report([result], 1.0, location)
    report = capsys.readouterr().out.splitlines()[1]
    explored = run("results", "best", "--store", location).out.splitlines()[1]
    shown = run("results", "show", best.key, "--store", location).out
    listed = run("results", "ls", "--store", location).out
    assert best.role is Role.COMPARISON
    for text in (report, explored):
        assert all(f"  {word}" in text for word in words)
    # A row is shown as it was timed, be it the baseline against itself.
    itself = "no significant difference (1.00 to 1.00)" if best is TIE else words[1]
    assert all(f"  {word}" in shown for word in (words[0], itself, words[2]))
    assert all(f"  {word}" in listed for word in words[:2])
    if best is FASTER:
        assert "  32×8, -D TILE=16  " in report
