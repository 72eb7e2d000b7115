"""Fixtures of the tests of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyopencl as cl
import pytest

from tests.runtime.launch_routes import Buffers


@pytest.fixture
def buffers(context: cl.Context) -> Buffers:
    return Buffers(context)


@pytest.fixture
def no_builds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Forbids builds and lowering from then on."""

    def forbid() -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("built at a launch")

        monkeypatch.setattr(cl.Program, "build", refuse)
        monkeypatch.setattr("coarsen.runtime.plan.build_for_launches", refuse)
        monkeypatch.setattr("coarsen.runtime.code.Codes._coarsened", refuse)

    yield forbid
