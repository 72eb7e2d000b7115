"""The method's figures about answers of `coarsen predict` are those of the stored answers."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).parents[3]
METHOD = ROOT / "models" / "launch" / "METHOD.md"


def test_the_figures_are_those_of_the_answers() -> None:
    with (ROOT / "opencl_bench" / "data" / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))

    def mean(column: str) -> float:
        return math.exp(fmean(math.log(float(row[column])) for row in rows))

    gain, own = mean("over_best_uncoarsened"), mean("over_own")
    oracle = mean("oracle_over_best_uncoarsened")
    (text,) = re.findall(
        r"^\*\*What `coarsen predict` answered\*\*.*?\n\n?(?=\Z|\*\*|#)", METHOD.read_text(), re.M | re.S
    )
    text = " ".join(text.split())
    assert f"{gain:.2f} over the best uncoarsened launch and {own:.2f} over the launch's own" in text
    assert f"the oracle has {oracle:.2f}: **{gain / oracle:.3f}** of it" in text
    below = [row for row in rows if float(row["over_best_uncoarsened"]) < 0.97]
    assert "Four answers are below 0.97" in text and len(below) == 4
    for row in below:
        name, value = row["kernel"].removeprefix("judge-"), float(row["over_best_uncoarsened"])
        assert f"`{name}` {value:.2f}" in text
