"""How much each of the cascade's components says about the decision to coarsen (after Magni, Dubach, O'Boyle, PACT
2014, figure 11): the numbers.

The mutual information of a component's score and the step's target ("does the next step help?"), over all steps
that have a target, by the nearest-neighbour estimate of scikit-learn (B. C. Ross, PLoS ONE 9, 2014), as a share of
the target's entropy: 0 where the component says nothing, 1 where it settles the question.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.feature_selection import mutual_info_classif

from coarsen.errors import InvalidInputError
from coarsen.models.cascade.labels import component_labels
from coarsen.models.cascade.projection import Projection
from coarsen.models.cascade.step_inputs import STEP_FACTORS
from coarsen.models.cascade.step_samples import all_inputs, step_samples
from coarsen.models.cascade.varimax_components import VarimaxComponents
from coarsen.models.examples import Example

from .text import listed

# Fewer steps with an answer say nothing.
FEWEST_STEPS = 10
_NEIGHBOURS = 3
# Of the answers, to find out what chance alone gives.
_SHUFFLES = 40
_CHANCE = 0.95


def shared_projection(examples: Sequence[Example]) -> Projection:
    """One set of components for several devices: fitted on each kernel and dimension once.

    Raises:
        InvalidInputError: there are fewer than two kernels.
    """
    once = {(example.kernel, example.dimension): example for example in examples}
    if len(once) < 2:
        raise InvalidInputError("components need at least two kernels")
    projection: Projection = VarimaxComponents().fit(all_inputs(list(once.values()))).projection_
    return projection


def relevance_table(examples: Sequence[Example]) -> pd.DataFrame:
    """One row for each device and component.

    Args:
        examples: of any devices, with their answers.

    Returns:
        columns `device`, `component` (from 1 on), `label`, `relevance` (share of the target's entropy), `chance`
        (what the most relevant component stays below in 95 % of the cases if the device's answers are shuffled
        among its steps), and `steps`, how many answers of the device it was estimated from. Devices with too few
        answers are left out.

    Raises:
        InvalidInputError: there are fewer than two kernels, or too few answers on every device.
    """
    projection = shared_projection(examples)
    labels = component_labels(projection.loadings)
    rows: list[dict[str, object]] = []
    for device in dict.fromkeys(example.device for example in examples):
        scores, further = _answers([example for example in examples if example.device == device], projection)
        if min(further.sum(), (~further).sum()) <= _NEIGHBOURS or len(further) < FEWEST_STEPS:
            continue
        common = {"device": device, "chance": _chance(scores, further), "steps": len(further)}
        rows += [
            {**common, "component": number, "label": label, "relevance": share}
            for number, (label, share) in enumerate(zip(labels, _relevance(scores, further), strict=True), 1)
        ]
    if not rows:
        raise InvalidInputError("too few steps with an answer on every device")
    return pd.DataFrame(rows)


def relevance_finding(table: pd.DataFrame) -> str:
    """Which component says most on each device, of those that say more than chance."""
    telling, silent = [], []
    for device, own in table.groupby("device", sort=False):
        top = own.loc[own["relevance"].idxmax()]
        if top["relevance"] > top["chance"]:
            telling.append(f"component {top['component']} on {device} ({100 * top['relevance']:.0f} %)")
        else:
            silent.append(str(device))
    if not telling:
        return f"No component says more about coarsening further than chance on {listed(silent)}"
    without = f"; none does on {listed(silent)}" if silent else ""
    return f"Most telling about coarsening further, beyond chance: {listed(telling)}{without}"


def _answers(examples: Sequence[Example], projection: Projection) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, c) of all steps that have a target, and the targets (n,)."""
    samples = [step_samples(examples, factor) for factor in STEP_FACTORS]
    inputs = np.concatenate([each.inputs for each in samples])
    scores = projection.scores(projection.standardise(inputs))
    return scores, np.concatenate([each.further for each in samples])


def _relevance(scores: np.ndarray, further: np.ndarray) -> np.ndarray:
    """Of each component (c,)."""
    information: np.ndarray = mutual_info_classif(scores, further, n_neighbors=_NEIGHBOURS, random_state=0)
    return information / _entropy(further)


def _chance(scores: np.ndarray, further: np.ndarray) -> float:
    generator = np.random.default_rng(0)
    shuffled = [_relevance(scores, generator.permutation(further)).max() for _ in range(_SHUFFLES)]
    return float(np.quantile(shuffled, _CHANCE))


def _entropy(further: np.ndarray) -> float:
    """Of the target, in nats."""
    shares = np.array([further.mean(), 1 - further.mean()])
    return float(-(shares * np.log(shares)).sum())
