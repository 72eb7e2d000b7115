"""The table of the features: what each one is, and its unit."""

from __future__ import annotations

from coarsen.features import FEATURES


def features_in_markdown() -> str:
    """The 17 features of the paper."""
    rows = (f"| `{each.name}` | {_literal(each.description)} | {each.unit} |" for each in FEATURES)
    return "\n".join(["| feature | what it is | unit |", "| --- | --- | --- |", *rows])


def _literal(text: str) -> str:
    return text.replace("|", "\\|")
