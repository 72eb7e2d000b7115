"""Fixtures of all tests of sweeps and their store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coarsen.tuning.processes.compiler import CompilePool


@pytest.fixture(scope="session")
def pool() -> Iterator[CompilePool]:
    """Processes that compile and measure for many sweeps: most of a small sweep is the start of its processes."""
    with CompilePool() as opened:
        yield opened
