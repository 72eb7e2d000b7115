"""The places of the launch model's two files."""

from __future__ import annotations

from pathlib import Path

NAME = "launch"
SHIPPED = Path(__file__).parent / "data"


def has_launch(folder: Path = SHIPPED) -> bool:
    """Return True if a folder holds a launch model."""
    return (folder / f"{NAME}.safetensors").exists()
