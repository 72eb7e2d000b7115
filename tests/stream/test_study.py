"""The study of reductions measures versions that there are, and compares results."""

from __future__ import annotations

import pyopencl as cl
import pytest

from coarsen.opencl_bench.streams import yardsticks
from coarsen.opencl_bench.studies import reductions
from coarsen.stream.reduction_text import PARAMETERS

pytestmark = pytest.mark.compiled_devices


def test_fixed_versions_are_some_of_all() -> None:
    assert all(value in PARAMETERS[name] for each in reductions.FIXED for name, value in each.items())


def test_a_line_for_each_size(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "FIXED", reductions.FIXED[:1])
    monkeypatch.setattr(yardsticks, "_ROUNDS", 2)
    for what in ("max", "iamax"):
        lines = [*reductions.rows(queue, what, (64, 100), reductions.ours(what))]
        assert [line[1:3] for line in lines] == [[what, 64], [what, 100]]
