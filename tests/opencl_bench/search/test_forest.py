"""The forest of guided search is scikit-learn's, to the last bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from coarsen.tuning.search.evaluator import Trial
from coarsen.tuning.search.forest import Forest
from coarsen.tuning.search.spaces import Axis, ConstrainedSpace
from coarsen.tuning.search.surrogate import ProductEncoding


@pytest.mark.parametrize("count", [1, 7, 40])
def test_the_trees_are_those_of_scikit_learn(count: int) -> None:
    axes = (Axis("local_size", (16, 32, 64, 128, 256)), Axis("rows", (1, 2, 4, 8)), Axis("way", ("a", "b", "c")))
    space = ConstrainedSpace(axes)
    choices = list(itertools.product(range(5), range(4), range(3)))
    draw = np.random.default_rng(count)
    draw.shuffle(choices)
    trials = [
        Trial(tuple(choice), None if n % 9 == 5 else float(draw.uniform(1, 9))) for n, choice in enumerate(choices)
    ]
    encoding = ProductEncoding(space)
    predicted = Forest(space, 20, encoding=encoding).fit(trials[:count], seed=count).predict(choices)
    slowest = max(trial.time for trial in trials[:count] if trial.time is not None)
    targets = np.log([trial.time or slowest for trial in trials[:count]])
    forest = ExtraTreesRegressor(n_estimators=20, random_state=count)
    forest.fit(encoding.rows([trial.choice for trial in trials[:count]]), targets)
    rows = encoding.rows(choices).astype(np.float32)
    each = np.stack([tree.tree_.predict(rows)[:, 0] for tree in forest.estimators_])
    assert predicted.mean.tobytes() == each.mean(axis=0).tobytes()
    assert predicted.deviation.tobytes() == each.std(axis=0).tobytes()
