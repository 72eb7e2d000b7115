"""Fitting the default model and storing it, in one step for whoever has measurements of their own."""

from __future__ import annotations

import datetime
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.models.default.model import DefaultModel
from coarsen.models.default.storage import load_default, save_default
from coarsen.models.examples import Example


def train_default(
    examples: Sequence[Example],
    folder: str | Path,
    *,
    seed: int = 0,
    threads: int | None = None,
    sources: Sequence[str] = (),
) -> DefaultModel:
    """Fit the default model on examples and store it, as `coarsen train --model default` does.

    `coarsen.predict(…, models=folder)` then predicts with it.

    Args:
        examples: curves on any devices, and examples with best factors alone, for devices that were not measured.
        folder: for the model's two files; made if it is not there.
        seed: of the forest.
        threads: that grow trees, as many as there are processors if None; the model is the same for any number.
        sources: where the examples are from, in words, for the model's card.

    Returns:
        The model as it was stored. Its `card` says how good it is on its training kernels, each predicted by the
        trees that never saw its family.

    Raises:
        InvalidInputError: fewer than two families of kernels with curves; an unknown device; the folder can't be
            written; scikit-learn is missing.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise InvalidInputError("training needs scikit-learn: pip install 'coarsen[train]'")
    # Imported late: they load scikit-learn.
    from coarsen.models.default.out_of_bag import out_of_bag_card, out_of_bag_outcomes
    from coarsen.models.default.provenance import provenance_of
    from coarsen.models.default.training import ForestSettings, train

    settings = ForestSettings()
    fitted = train(examples, seed, settings, threads or len(os.sched_getaffinity(0)))
    card = {"out_of_bag": out_of_bag_card(out_of_bag_outcomes(fitted))}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    provenance = provenance_of(examples, seed, settings, date, sources or ("examples given from Python",), card)
    save_default(fitted.model, provenance, Path(folder))
    return load_default(Path(folder))
