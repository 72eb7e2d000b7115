"""The method's figures about answers of `coarsen predict` are those of the stored answers."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).parents[3]
METHOD = (ROOT / "models" / "launch" / "METHOD.md").read_text()
DEVICES = {"intel": "Intel", "pocl": "PoCL"}


def answers(suite: str, device: str) -> list[dict[str, str]]:
    with (ROOT / "opencl_bench" / "data" / "answers.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if (row["suite"], row["device"]) == (suite, device)]


def mean(rows: list[dict[str, str]], column: str) -> float:
    return math.exp(fmean(math.log(float(row[column])) for row in rows))


@pytest.mark.parametrize("called", DEVICES)
@pytest.mark.parametrize("suite", ["judge", "nest"])
def test_the_figures_are_those_of_the_answers(suite: str, called: str) -> None:
    rows = answers(suite, called)
    assert len(rows) == 30
    oracle = mean(rows, "oracle_over_best_uncoarsened")
    cells = [f"{oracle:.2f}"]
    for rule, mark in (("", "**"), ("clear_", "")):
        gain = mean(rows, rule + "over_best_uncoarsened")
        below = sum(float(row[rule + "over_best_uncoarsened"]) < 0.97 for row in rows)
        share = f"{mark}{gain / oracle:.3f}{mark}"
        cells += [f"{gain:.2f}", f"{mean(rows, rule + 'over_own'):.2f}", share, str(below)]
    name = "nests" if suite == "nest" else suite
    assert f"| {name}, {DEVICES[called]} | {' | '.join(cells)} |" in METHOD


def test_the_seconds_are_those_of_the_answers() -> None:
    seconds = [
        float(row["seconds"]) for suite in ("judge", "nest") for each in DEVICES for row in answers(suite, each)
    ]
    assert f"It took {min(seconds):.0f} to {max(seconds):.0f} seconds a kernel" in " ".join(METHOD.split())


def test_the_worst_answers_are_named() -> None:
    rows = [row for suite in ("judge", "nest") for called in DEVICES for row in answers(suite, called)]
    worst: dict[str, list[str]] = {}
    for row in rows:
        if float(row["over_best_uncoarsened"]) < 0.7:
            worst.setdefault(row["kernel"], []).append(f"{float(row['over_best_uncoarsened']):.2f}")
    assert len(worst) == 4
    for kernel, values in worst.items():
        assert f"`{kernel}` {' and '.join(values)}" in " ".join(METHOD.split())
