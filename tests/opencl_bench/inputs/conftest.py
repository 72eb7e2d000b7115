"""What is tuned over inputs here is kept, however busy this machine is."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def certain_here(certain: None) -> None:
    """Every interval is narrow enough."""
