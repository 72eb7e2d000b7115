"""Tables of the features: what each one is, and its unit."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.features import FEATURES, MECHANISM_FEATURES, FeatureDescription


def features_in_markdown() -> str:
    """The 17 features of the paper."""
    return _table(FEATURES)


def mechanism_features_in_markdown() -> str:
    """The mechanism features."""
    return _table(MECHANISM_FEATURES)


def _table(features: Iterable[FeatureDescription]) -> str:
    rows = (f"| `{each.name}` | {_literal(each.description)} | {each.unit} |" for each in features)
    return "\n".join(["| feature | what it is | unit |", "| --- | --- | --- |", *rows])


def _literal(text: str) -> str:
    return text.replace("|", "\\|")
