"""Where a fitted model comes from, for its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from coarsen.models.default.card import Provenance
from coarsen.models.default.training import ForestSettings
from coarsen.models.examples import Example

# What the numbers of a model depend on, beside its data.
_PACKAGES = ("coarsen", "numpy", "scikit-learn")


def provenance_of(
    examples: Sequence[Example],
    seed: int,
    settings: ForestSettings,
    date: str,
    sources: Sequence[str],
    evaluation: Mapping[str, object] | None = None,
) -> Provenance:
    """Return what a card says of a model's origin.

    Args:
        examples: what it was fitted on.
        seed: with which seed.
        settings: of its forest.
        date: of the training, as YYYY-MM-DD.
        sources: where the examples are from, in words.
        evaluation: what is known of how good it is, as JSON.
    """
    measured = [example for example in examples if example.speedup]
    return Provenance(
        date=date,
        sources=tuple(sources),
        curves=_by_device(measured),
        best_factors=_by_device([example for example in examples if not example.speedup]),
        kernels=len({example.kernel for example in measured}),
        families=len({example.family for example in measured}),
        settings={
            "max_features": settings.max_features,
            "min_samples_leaf": settings.min_samples_leaf,
            "seed": seed,
        },
        versions={package: version(package) for package in _PACKAGES},
        evaluation=evaluation or {},
        identities=_identities(measured),
        best_factor_identities=_identities([example for example in examples if not example.speedup]),
    )


def _by_device(examples: Sequence[Example]) -> Mapping[str, int]:
    return dict(sorted(Counter(example.device for example in examples).items()))


def _identities(examples: Sequence[Example]) -> Mapping[str, str]:
    """The identities of the kernels that have one, by their names."""
    return {example.kernel: example.table.identity for example in examples if example.table.identity}
