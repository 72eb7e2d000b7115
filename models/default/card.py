"""The default model's card: what it is, what it learned from, how good it is, and what it needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from coarsen.features import FACTORS, FEATURE_SET_VERSION, MECHANISM_FEATURE_SET_VERSION
from coarsen.models.default.inputs import FEATURE_NAMES, INPUT_NAMES, MECHANISM_NAMES
from coarsen.models.default.joint import AVERSION
from coarsen.models.default.model import NAME, DefaultModel
from coarsen.models.model_files import TRANSFORMS, Card

FORMAT_VERSION = 1
_METHOD = (
    "A forest of extremely randomised trees over all devices, each grown on a bootstrap sample of kernel "
    "families, predicts the logarithm of the speed-up at each factor. Errors are Gaussian over a curve, with a "
    "covariance and a scale for each device learned from out-of-bag predictions. The factor with the largest mean "
    f"less {AVERSION:g} times the expected loss is chosen; kernels that are too unlike the training kernels stay "
    "at factor 1. models/README.md has the formulas."
)


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from.

    Args:
        date: of the training, as YYYY-MM-DD.
        sources: what it learned from, in words, such as the files' names.
        curves: how many curves of each device it learned from; `best_factors`: how many best factors.
        kernels: how many kernels have curves, and `families` how many unrelated ones.
        settings: the forest's settings, the number of trees apart, and the seed.
        versions: of the packages that fitted it, by name.
        evaluation: whatever is known of how good it is, as JSON; empty where it was not evaluated.
        identities: of the kernels that have curves, by name (`FeatureTable.identity`).
        best_factor_identities: of those of which best factors are known.
    """

    date: str
    sources: tuple[str, ...]
    curves: Mapping[str, int]
    best_factors: Mapping[str, int]
    kernels: int
    families: int
    settings: Mapping[str, float]
    versions: Mapping[str, str]
    evaluation: Mapping[str, object] = field(default_factory=dict)
    identities: Mapping[str, str] = field(default_factory=dict)
    best_factor_identities: Mapping[str, str] = field(default_factory=dict)


def model_card(model: DefaultModel, provenance: Provenance, sha256: str) -> Card:
    """Return the card of a model; `sha256` is that of the file with its numbers."""
    limit = model.neighbourhood.limit
    return {
        "format_version": FORMAT_VERSION,
        "name": NAME,
        "method": _METHOD,
        "date": provenance.date,
        "data": {
            "sources": list(provenance.sources),
            "curves": dict(provenance.curves),
            "best_factors": dict(provenance.best_factors),
            "kernels": provenance.kernels,
            "families": provenance.families,
            "identities": dict(provenance.identities),
            "best_factor_identities": dict(provenance.best_factor_identities),
        },
        "transforms": TRANSFORMS,
        "evaluation": dict(provenance.evaluation),
        "settings": {"trees": model.forest.trees, **provenance.settings},
        "factors": list(FACTORS),
        "aversion": AVERSION,
        "error_model": {
            "ratio": model.errors.ratio,
            "sharpness": model.steps.sharpness,
            "device_scales": dict(model.errors.scales.devices),
            "kind_scales": dict(model.errors.scales.kinds),
        },
        "adjustments": {device: asdict(numbers) for device, numbers in model.adjustments.items()},
        "feature_set_version": FEATURE_SET_VERSION,
        "features": list(FEATURE_NAMES),
        "mechanism_feature_set_version": MECHANISM_FEATURE_SET_VERSION,
        "mechanism_features": list(MECHANISM_NAMES),
        "inputs": list(INPUT_NAMES),
        "neighbourhood": {
            "limit": limit if math.isfinite(limit) else "Infinity",
            "kernels": list(model.neighbourhood.kernels),
        },
        "versions": dict(provenance.versions),
        "sha256": sha256,
    }
