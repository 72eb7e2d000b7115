"""Tuned files as tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench import plots
from coarsen.opencl_bench.inputs.left_open_times import LeftOpenTimes
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


def test_the_driver_s_local_size_is_a_baseline_where_it_was_measured() -> None:
    twice = LeftOpenTimes(tuple(2 * row[0] for row in SECONDS), (0,) * len(SECONDS))
    found = plots.input_gains(replace(tuned(), evidence={**tuned().evidence, "left_open": twice.to_json()}))
    assert found["over_left_open"] == pytest.approx(2 * found["over_default"])


def test_how_well_each_way_chooses() -> None:
    found = plots.chooser_table(tuned_over_shapes()).set_index("chosen_by")
    assert found.loc["best of what was tried", "share"] == pytest.approx(1)
    assert 0 < found.loc["the default version", "share"] <= 1
    assert all(type(value) is float for name in found.columns for value in found[name])
    assert (found["low"] <= found["share"]).all() and (found["share"] <= found["high"]).all()


def test_what_searches_would_have_found() -> None:
    found = plots.input_search_table(tuned_over_shapes(), seeds=1).set_index("search")
    # Three versions are tried whole by the guided search.
    assert found.loc["guided, warm, 30%", ["tried", "quality", "lowest"]].tolist() == [1, 1, 1]
    assert found.index.tolist() == ["staircase", "guided, warm, 30%"]
    assert (found["lowest"] <= found["quality"]).all() and (found["quality"] <= 1).all()
    with pytest.raises(InvalidInputError, match="at least one seed, not 0"):
        plots.input_search_table(tuned_over_shapes(), seeds=0)


def test_where_the_fastest_changes() -> None:
    (first,) = plots.break_even_table(plots.input_times(tuned())).to_dict("records")
    assert first == {"before": 0, "after": 1, "low": 256, "high": 65536, "octaves": 8.0, "between": 1}
    (section,) = plots.section_times(tuned_over_shapes())
    assert plots.break_even_table(section)["between"].tolist() == [0]
