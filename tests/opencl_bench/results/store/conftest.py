"""Stores of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from coarsen.tuning.store.database import Store, open_store


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where a store can be created."""
    return str(tmp_path / "results.sqlite")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """A new store."""
    with open_store(url) as opened:
        yield opened
