"""The launch model's card: what it is, what it learned from, how good it is, and what it needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coarsen.models.launch.case import LaunchCase
from coarsen.models.launch.files import NAME
from coarsen.models.launch.inputs import COARSENING_INPUTS, LOCAL_SIZE_INPUTS
from coarsen.models.launch.model import LaunchModel
from coarsen.models.model_files import Card

FORMAT_VERSION = 1
_METHOD = (
    "Trees predict the logarithm of a launch's speed in two parts: of the local size uncoarsened, and of the "
    "coarsening at that local size. Errors are quantiles of what was seen on kernels that were never fitted on, "
    "as speed-ups over the best uncoarsened local size; the launch of the largest mean less the expected loss, "
    "weighed by the risk, is taken. models/launch/METHOD.md has the details."
)


@dataclass(frozen=True)
class LaunchProvenance:
    """The origin of a model.

    Attributes:
        date: of the training, as YYYY-MM-DD.
        sources: what it learned from, such as the files' names.
        settings: of the trees, with the seed.
        versions: of the packages that fitted it.
        cases: how many cases of each device it learned from; `settled_on` how many its decision was settled on.
        kernels: how many kernels, and `families` how many unrelated ones.
        identities: of the kernels that were learned from, by name.
        evaluation: what is known of how good it is, as JSON.
    """

    date: str
    sources: tuple[str, ...]
    settings: Mapping[str, object]
    versions: Mapping[str, str]
    cases: Mapping[str, int]
    settled_on: Mapping[str, int]
    kernels: int
    families: int
    identities: Mapping[str, str]
    evaluation: Mapping[str, object] = field(default_factory=dict)


def cases_by_device(cases: Sequence[LaunchCase]) -> Mapping[str, int]:
    """Return the number of cases of each device."""
    return dict(sorted(Counter(case.device for case in cases).items()))


def launch_card(model: LaunchModel, provenance: LaunchProvenance, sha256: str) -> Card:
    """Return the card of a model; `sha256` is that of the file with its numbers."""
    return {
        "format_version": FORMAT_VERSION,
        "name": NAME,
        "method": _METHOD,
        "date": provenance.date,
        "data": {
            "sources": list(provenance.sources),
            "cases": dict(provenance.cases),
            "settled_on": dict(provenance.settled_on),
            "kernels": provenance.kernels,
            "families": provenance.families,
            "identities": dict(provenance.identities),
        },
        "evaluation": dict(provenance.evaluation),
        "settings": dict(provenance.settings),
        "trees": {"local": model.parts.local.trees, "coarsened": model.parts.coarsened.trees},
        "slope": model.slope,
        "rules": {
            risk.value: {
                "aversion": rule.aversion,
                "margin": rule.margin,
                "limit": rule.limit if math.isfinite(rule.limit) else "Infinity",
            }
            for risk, rule in model.rules.items()
        },
        "neighbourhood": list(model.neighbourhood.kernels),
        "coarsening_inputs": [list(name) for name in COARSENING_INPUTS],
        "local_size_inputs": [list(name) for name in LOCAL_SIZE_INPUTS],
        "versions": dict(provenance.versions),
        "sha256": sha256,
    }
