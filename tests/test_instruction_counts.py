"""Coarsened by 8, no benchmark has more than 1.1 times the uncoarsened kernel's instructions for each replica."""

from __future__ import annotations

import pytest

from coarsen.opencl_bench.workloads.lookup import SUITE
from tests import instruction_counts
from tests.instruction_counts import STRIDES, main, rows


@pytest.mark.parametrize("name", [*SUITE])
def test_no_replica_has_a_tenth_more(name: str) -> None:
    found = list(rows(name))
    assert len(found) == len(STRIDES) * len(SUITE[name].dimensions)
    for row in found:
        assert row.keeps_rule, (row.coarsening, row.growth)
        assert row.cleaned.code <= row.without.code


def test_prints_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_counts, "SUITE", {"mt": SUITE["mt"]})
    assert main() == 0
    assert "instructions per replica" in capsys.readouterr().out
