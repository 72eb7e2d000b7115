"""The seven programs of Liu, Zhang and Shen (IPDPS 2009), rebuilt: their Table I beside what is found here.

Their accuracy is of exact hits, inputs left out one by one, on a GeForce 8800 GT; an iteration is a run of their
search. Ours are of the groups of inputs that were held out, and of the staircase on the inputs that are searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.models.inputs.acceptance import hit_criteria
from coarsen.models.inputs.entrants import Entrant
from coarsen.models.inputs.evaluation import Outcome
from coarsen.models.inputs.scores import entrant_score, hits, is_sensitive
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.studies.input_judging import JudgedKernel
from coarsen.opencl_bench.studies.input_tables import NOT_MEASURED, criterion_cell, scored, table


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row of their Table I, and the kernel here that is like it.

    Attributes:
        name: theirs.
        kernel: the name of the kernel here.
        inputs: how many they had.
        accuracy: of their trees, as a share.
        iterations: of their search, over all inputs.
        seconds: that it took.
        is_sensitive: whether the text calls it sensitive to inputs.
    """

    name: str
    kernel: str
    inputs: int
    accuracy: float
    iterations: int
    seconds: int
    is_sensitive: bool


TABLE_I = (
    PaperRow("convolution", "adaptive-convolutionSeparable", 10, 1.0, 200, 2825, False),
    PaperRow("matrixMul", "adaptive-matrixMul", 9, 1.0, 196, 2539, False),
    PaperRow("mvMul", "adaptive-mvMul", 15, 0.933, 124, 124, True),
    PaperRow("reduction", "adaptive-reduction", 15, 0.8, 75, 29, True),
    PaperRow("scalarProd", "adaptive-scalarProd", 7, 1.0, 93, 237, False),
    PaperRow("transpose", "adaptive-transpose", 18, 1.0, 54, 1639, True),
    PaperRow("transpose-co", "adaptive-transposeCo", 18, 1.0, 54, 631, False),
)


def paper_table(kernels: Sequence[JudgedKernel]) -> Iterator[str]:
    """Yield the table, then the hits on these kernels alone, which criterion 7 aims at.

    Args:
        kernels: of one device.
    """
    by_name = {each.stored.kernel.name: each for each in kernels}
    head = ["program", "inputs", "accuracy", "iterations", "seconds", "sensitive"]
    ours = ["inputs", "exact hits: tree; paper's trees; fixed best", "hits: tree", "over default"]
    rows = (_row(row, by_name.get(row.kernel)) for row in TABLE_I)
    yield from table([*head, *ours, "staircase: runs, inputs", "seconds", "sensitive"], rows)
    outcomes = [
        each.result.outcome
        for row in TABLE_I
        if (each := by_name.get(row.kernel)) is not None and each.result is not None
    ]
    if not outcomes:
        return
    yield ""
    for what, values in (("hits", _within_noise), ("exact hits", _exact)):
        mean, lowest = hit_criteria(outcomes, "7f", "7g", what, values)
        yield f"- {len(outcomes)} of the seven, {mean.text}: {criterion_cell(mean)} (theirs: 0.962, exact)"
        yield f"- {len(outcomes)} of the seven, {lowest.text}: {criterion_cell(lowest)} (theirs: 0.8, exact)"


def _row(paper: PaperRow, judged: JudgedKernel | None) -> list[str]:
    theirs = [
        paper.name,
        f"{paper.inputs}",
        f"{paper.accuracy:.1%}",
        f"{paper.iterations}",
        f"{paper.seconds}",
        "yes" if paper.is_sensitive else "no",
    ]
    if judged is None or judged.result is None:
        return [*theirs, *[NOT_MEASURED] * 7]
    outcome = judged.result.outcome
    scores = [entrant_score([outcome], each) for each in (Entrant.TREE, Entrant.PAPER, Entrant.FIXED)]
    staircase = judged.staircase
    searched = NOT_MEASURED if staircase is None else f"{staircase.trials}, {len(staircase.searched)}"
    return [
        *theirs,
        f"{len(outcome.inputs)}",
        "; ".join(f"{score.exact_hits.value:.1%}" for score in scores),
        f"{scores[0].hits.value:.1%}",
        scored(scores[0].over_default),
        searched,
        f"{judged.tuning_seconds:.0f}",
        "yes" if is_sensitive(outcome) else "no",
    ]


def _within_noise(outcome: Outcome) -> Array:
    return hits(outcome, Entrant.TREE)


def _exact(outcome: Outcome) -> Array:
    return np.array(outcome.is_exact[Entrant.TREE], dtype=np.float64)
