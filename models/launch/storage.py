"""Reading and writing the launch model: `launch.safetensors` with the numbers, `launch.json` the card."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError
from coarsen.models.flat_forest import FlatForest
from coarsen.models.launch import NAME, SHIPPED, Risk, has_launch
from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.decision import LEVELS, Binned, ErrorTable, Place, Rule
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS, PLACE_NAMES
from coarsen.models.launch.model import LaunchModel, Medians, Neighbourhood, Parts
from coarsen.models.model_files import (
    LARGEST,
    LARGEST_LOGARITHM,
    SMALLEST,
    Card,
    Tensors,
    check_format,
    checked_tensor,
    read_card,
    read_tensors,
    write_model,
)

_FORESTS = ("local", "coarsened")
_TABLES = ("errors", "own_errors")
_INFINITY = "Infinity"


def load_launch(folder: Path = SHIPPED) -> LaunchModel:
    """Load the launch model.

    Args:
        folder: where its two files are; that of the package if left out.

    Raises:
        InvalidInputError: there is none, its files are damaged, or it was made for other inputs.
    """
    if not has_launch(folder):
        raise InvalidInputError(
            f"there is no launch model in {folder}: `coarsen train --model launch --data FILE` makes one"
        )
    card = read_card(NAME, folder)
    check_format(NAME, card, FORMAT_VERSION)
    for key, names in (("coarsening_inputs", COARSENING_INPUTS), ("local_size_inputs", LOCAL_SIZE_INPUTS)):
        if card.get(key) != [list(name) for name in names]:
            raise InvalidInputError(
                f"the model '{NAME}' was made for other inputs than those of this version; train it again"
            )
    tensors = read_tensors(NAME, folder, card)
    try:
        return _model(card, tensors)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise InvalidInputError(f"the model '{NAME}' is damaged: {error}") from None


def save_launch(model: LaunchModel, facts: Card, folder: Path) -> tuple[Path, Path]:
    """Write the launch model's two files, and say where; `launch_card` says which facts.

    Raises:
        InvalidInputError: the folder can't be written.
    """
    return write_model(NAME, folder, _tensors(model), lambda sha256: launch_card(model, facts, sha256))


def _tensors(model: LaunchModel) -> Tensors:
    found: dict[str, NDArray[Any]] = {
        "medians.local": model.medians.local,
        "medians.coarsened": model.medians.coarsened,
        "neighbourhood.points": model.neighbourhood.points,
        "neighbourhood.mean": model.neighbourhood.mean,
        "neighbourhood.scale": model.neighbourhood.scale,
    }
    for name in _FORESTS:
        forest: FlatForest = getattr(model.parts, name)
        found[f"{name}.feature"] = forest.feature
        found[f"{name}.number"] = forest.number.astype(np.float16)
    for name in _TABLES:
        table: ErrorTable = getattr(model, name)
        for group, places in table.binned.items():
            for place, binned in places.items():
                found[f"{name}.{group}.{int(place)}.edges"] = binned.edges
                found[f"{name}.{group}.{int(place)}.quantiles"] = binned.quantiles
    return found


def _model(card: Card, tensors: Tensors) -> LaunchModel:
    parts = Parts(**{name: _forest(card["trees"][name], name, tensors) for name in _FORESTS})
    parts.check(LARGEST_LOGARITHM)
    kernels, inputs = tuple(map(str, card["neighbourhood"])), len(PLACE_NAMES)
    slope = float(card["slope"])
    if not 0 < slope <= LARGEST:
        raise ValueError("its slope is no positive number, or too large")
    return LaunchModel(
        parts=parts,
        slope=slope,
        errors=_table("errors", tensors),
        own_errors=_table("own_errors", tensors),
        rules={risk: _rule(card["rules"][risk.value]) for risk in Risk},
        neighbourhood=Neighbourhood(
            kernels,
            checked_tensor(tensors, "neighbourhood.points", (len(kernels), inputs), np.float64),
            checked_tensor(tensors, "neighbourhood.mean", (inputs,), np.float64),
            checked_tensor(tensors, "neighbourhood.scale", (inputs,), np.float64, SMALLEST),
        ),
        medians=Medians(
            checked_tensor(tensors, "medians.local", (len(LOCAL_SIZE_INPUTS),), np.float32),
            checked_tensor(tensors, "medians.coarsened", (len(COARSENING_INPUTS),), np.float32),
        ),
        card=card,
    )


def _forest(trees: int, name: str, tensors: Tensors) -> FlatForest:
    feature, number = tensors[f"{name}.feature"], tensors[f"{name}.number"]
    if feature.dtype != np.uint8 or number.dtype != np.float16:
        raise ValueError("the arrays of its trees are of another type")
    return FlatForest(int(trees), feature, number)


def _table(name: str, tensors: Tensors) -> ErrorTable:
    found: dict[str, dict[Place, Binned]] = {}
    for key in tensors:
        start, _, last = key.rpartition(".")
        if not start.startswith(f"{name}.") or last != "edges":
            continue
        group, _, place = start.removeprefix(f"{name}.").rpartition(".")
        count, limits = tensors[key].size, (-LARGEST_LOGARITHM, LARGEST_LOGARITHM)
        edges = checked_tensor(tensors, key, (count,), np.float64, *limits, may_be_empty=True)
        shape = (count + 1, len(LEVELS))
        quantiles = checked_tensor(tensors, f"{start}.quantiles", shape, np.float64, *limits)
        if (np.diff(edges) < 0).any() or (np.diff(quantiles, axis=1) < 0).any():
            raise ValueError(f"'{start}' has edges or quantiles that fall")
        binned = Binned(edges, quantiles)
        found.setdefault(group, {})[Place(int(place))] = binned
    return ErrorTable(found)


def _rule(written: Mapping[str, Any]) -> Rule:
    limit = math.inf if written["limit"] == _INFINITY else float(written["limit"])
    rule = Rule(float(written["aversion"]), float(written["margin"]), limit)
    if not (0 <= rule.aversion <= LARGEST and abs(rule.margin) <= LARGEST and not math.isnan(rule.limit)):
        raise ValueError("a rule of its decision is none")
    return rule


# The launch model's card: what it is, what it learned from, how good it is, and what it needs.

FORMAT_VERSION = 1
_METHOD = (
    "Trees predict the logarithm of a launch's speed in two parts: of the local size uncoarsened, and of the "
    "coarsening at that local size. Errors are quantiles of what was seen on kernels that were never fitted on, "
    "as speed-ups over the best uncoarsened local size; the launch of the largest mean less the expected loss, "
    "weighed by the risk, is taken. models/launch/METHOD.md has the details."
)


def cases_by_device(cases: Sequence[LaunchCase]) -> Mapping[str, int]:
    """Return the number of cases of each device."""
    return dict(sorted(Counter(case.device for case in cases).items()))


def launch_card(model: LaunchModel, facts: Card, sha256: str) -> Card:
    """Return the card of a model.

    Args:
        model: the model.
        facts: what else is known of it: `date`, `data`, `evaluation`, `settings` and `versions`, as JSON. Of the
            data it is asked later for `cases` (by device) and `identities` (of kernels that it learned from).
        sha256: of the file with its numbers.
    """
    return {
        "format_version": FORMAT_VERSION,
        "name": NAME,
        "method": _METHOD,
        **facts,
        "trees": {"local": model.parts.local.trees, "coarsened": model.parts.coarsened.trees},
        "slope": model.slope,
        "rules": {
            risk.value: {**asdict(rule), "limit": rule.limit if math.isfinite(rule.limit) else _INFINITY}
            for risk, rule in model.rules.items()
        },
        "neighbourhood": list(model.neighbourhood.kernels),
        "coarsening_inputs": [list(name) for name in COARSENING_INPUTS],
        "local_size_inputs": [list(name) for name in LOCAL_SIZE_INPUTS],
        "sha256": sha256,
    }
