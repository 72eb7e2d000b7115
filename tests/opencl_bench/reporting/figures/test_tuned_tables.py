"""Tuned files as tables."""

from __future__ import annotations

import math

import pytest

from coarsen.opencl_bench import plots
from tests.opencl_bench.reporting.tuned_files import SECONDS, tuned, tuned_over_shapes


def test_what_each_version_is_worth() -> None:
    found = plots.version_table(tuned())
    assert found["chosen"].tolist() == [4, 1, 0] and found["fastest"].tolist() == [4, 1, 0]
    assert found["is_default"].tolist() == [True, False, False]
    assert found["over_default"].tolist()[1] == pytest.approx(SECONDS[4][0] / SECONDS[4][1])
    assert math.isnan(found["over_default"].tolist()[2])


def test_what_choosing_is_worth() -> None:
    gain = (SECONDS[4][0] / SECONDS[4][1]) ** (1 / 5)
    expected = {"over_default": gain, "over_fixed": gain, "share": 1.0}
    assert plots.input_gains(tuned()) == pytest.approx(expected)


def test_where_the_fastest_changes() -> None:
    (first,) = plots.break_even_table(plots.input_times(tuned())).to_dict("records")
    assert first == {"before": 0, "after": 1, "low": 256, "high": 65536, "octaves": 8.0, "between": 1}
    (section,) = plots.section_times(tuned_over_shapes())
    assert plots.break_even_table(section)["between"].tolist() == [0]
