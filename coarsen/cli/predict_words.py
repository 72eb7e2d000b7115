"""Words that the outputs of `coarsen predict` have in common."""

from __future__ import annotations

from pathlib import Path

from coarsen.cli.messages import note

CHOSEN = "◀ chosen"


def say_whose(place: Path | None, named: Path | None) -> None:
    """Say that a model is the user's own, where nobody named its folder."""
    if place is not None and named is None:
        note(f"by the model that you trained, in {place}; --shipped takes that of the package")


def known_kernel_remark(name: str) -> str:
    """Say that a kernel is among those that a model learned from."""
    return f"{name} is one of the model's training kernels, so this is not an independent prediction"


def ratio_text(value: float) -> str:
    """Write a speed-up to three digits: measurements are no more precise."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"
