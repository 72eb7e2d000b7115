"""Relevance of each of the cascade's components to the decision to coarsen, as mutual information: the numbers.

The mutual information of a component's score and the step's target ("does the next step help?"), over all steps
that have a target, by the nearest-neighbour estimate of scikit-learn (B. C. Ross, PLoS ONE 9, 2014), as a share of
the target's entropy: 0 if the component is uninformative, 1 if it determines the answer. It is no figure of the
paper, whose figure 11 is in `deltas.py`.

What chance alone gives is found by shuffling kernels: each one's targets are put beside another's scores at the
same factors. The steps of a kernel are alike, so shuffling steps would overstate relevance: a component that
only tells kernels apart would seem informative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.model import STEP_FACTORS, Array, Projection, component_labels
from coarsen.models.examples import Example
from coarsen.opencl_bench.reporting.figures.text import listed

# Fewer steps with an answer give no estimate.
FEWEST_STEPS = 10
_NEIGHBOURS = 3
# Of the kernels, to find out what chance alone gives.
_SHUFFLES = 40
_CHANCE = 0.95


@dataclass(frozen=True)
class _Answers:
    """The scores of a device's k kernels for the steps at s factors, by c components.

    Args:
        scores: of each kernel at each factor, (k, s, c).
        places: of the n steps that have a target: kernel and factor as indices, (n, 2).
        further: their targets, (n,).
    """

    scores: Array
    places: NDArray[np.int64]
    further: NDArray[np.bool_]

    def scores_of(self, kernels: NDArray[np.int64]) -> Array:
        """The scores (n, c) beside the targets, where the kernel `kernels[i]`, (k,), stands for the kernel i."""
        return np.asarray(self.scores[kernels[self.places[:, 0]], self.places[:, 1]])


def shared_projection(examples: Sequence[Example]) -> Projection:
    """One set of components for several devices: fitted on each kernel and dimension once.

    Args:
        examples: of any devices.

    Returns:
        The components, which `draw_loadings` draws.

    Raises:
        InvalidInputError: there are fewer than two kernels.
    """
    once = {(example.kernel, example.dimension): example for example in examples}
    if len(once) < 2:
        raise InvalidInputError("components need at least two kernels")
    # Imported late: it needs scikit-learn, which all other figures do without.
    from coarsen.models.cascade.training import all_inputs
    from coarsen.models.cascade.varimax_components import VarimaxComponents

    inputs = all_inputs(list(once.values()))
    projection: Projection = VarimaxComponents().fit(inputs).projection_
    return projection


def relevance_table(examples: Sequence[Example]) -> pd.DataFrame:
    """One row for each device and component.

    Args:
        examples: of any devices, with their answers.

    Returns:
        columns `device`, `component` (from 1 on), `label`, `relevance` (share of the target's entropy), `chance`
        (what the most relevant component stays below in 95 % of the cases if the device's kernels are shuffled),
        and `steps`, how many answers of the device it was estimated from. Devices with too few answers are left
        out.

    Raises:
        InvalidInputError: there are fewer than two kernels, or too few answers on every device.
    """
    projection = shared_projection(examples)
    labels = component_labels(projection.loadings)
    rows: list[dict[str, object]] = []
    for device in dict.fromkeys(example.device for example in examples):
        answers = _answers([example for example in examples if example.device == device], projection)
        further = answers.further
        if min(further.sum(), (~further).sum()) <= _NEIGHBOURS or len(further) < FEWEST_STEPS:
            continue
        scores = answers.scores_of(np.arange(len(answers.scores)))
        common = {"device": device, "chance": _chance(answers), "steps": len(further)}
        rows += [
            {**common, "component": number, "label": label, "relevance": share}
            for number, (label, share) in enumerate(zip(labels, _relevance(scores, further), strict=True), 1)
        ]
    if not rows:
        raise InvalidInputError("too few steps with an answer on every device")
    return pd.DataFrame(rows)


def relevance_finding(table: pd.DataFrame) -> str:
    """Say which component says most on each device, of those that say more than chance."""
    telling, silent = [], []
    for device, own in table.groupby("device", sort=False):
        top = own.loc[own["relevance"].idxmax()]
        if top["relevance"] > top["chance"]:
            telling.append(f"component {top['component']} on {device} ({100 * top['relevance']:.0f} %)")
        else:
            silent.append(str(device))
    if not telling:
        return f"No component says more about coarsening further than chance on {listed(silent)}"
    without = f"; none on {listed(silent)}" if silent else ""
    return f"Most telling about coarsening further, beyond chance: {listed(telling)}{without}"


def _answers(examples: Sequence[Example], projection: Projection) -> _Answers:
    # Imported late: see `shared_projection`.
    from coarsen.models.cascade.training import all_inputs, step_target

    inputs = all_inputs(examples)
    scores = projection.scores(projection.standardise(inputs))
    targets = {
        (kernel, place): target
        for place, factor in enumerate(STEP_FACTORS)
        for kernel, example in enumerate(examples)
        if (target := step_target(example, factor)) is not None
    }
    return _Answers(
        scores.reshape(len(examples), len(STEP_FACTORS), -1),
        np.array(list(targets), dtype=np.int64).reshape(-1, 2),
        np.array(list(targets.values()), dtype=bool),
    )


def _relevance(scores: Array, further: NDArray[np.bool_]) -> Array:
    """Return the relevance of each component (c,), 1 at the most: the estimate can be a little larger."""
    # Imported late: see `shared_projection`.
    from sklearn.feature_selection import mutual_info_classif

    information: Array = mutual_info_classif(scores, further, n_neighbors=_NEIGHBOURS, random_state=0)
    return np.minimum(information / _entropy(further), 1.0)


def _chance(answers: _Answers) -> float:
    generator, kernels = np.random.default_rng(0), len(answers.scores)
    shuffled = [
        _relevance(answers.scores_of(generator.permutation(kernels)), answers.further).max()
        for _ in range(_SHUFFLES)
    ]
    return float(np.quantile(shuffled, _CHANCE))


def _entropy(further: NDArray[np.bool_]) -> float:
    """Return the entropy of the target, in nats."""
    shares = np.array([further.mean(), 1 - further.mean()])
    return float(-(shares * np.log(shares)).sum())
