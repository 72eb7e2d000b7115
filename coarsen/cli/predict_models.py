"""Whose model answers `coarsen predict`."""

from __future__ import annotations

from pathlib import Path

from coarsen.cli.messages import note


def say_whose(place: Path | None, named: Path | None) -> None:
    """Say that a model is the user's own, where nobody named its folder."""
    if place is not None and named is None:
        note(f"by the model that you trained, in {place}; --shipped takes that of the package")
