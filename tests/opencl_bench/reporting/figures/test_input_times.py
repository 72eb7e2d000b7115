"""Time over the input: the numbers of a tuned file and what is drawn of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.evidence import Evidence
from coarsen.opencl_bench.reporting.draw_input_times import draw_input_times, input_times, section_times
from coarsen.opencl_bench.reporting.sheet import PAGE_WIDTH, SMALLEST_SIZE, rendered
from coarsen.variant.variant import Variant
from tests.opencl_bench.reporting.figures.writing import texts, written
from tests.opencl_bench.reporting.tuned_files import LENGTHS, SECONDS, VERSIONS, tuned, tuned_over_shapes

CLOSE = (4, 1023, 1024, 1025, 4096)


def test_numbers_are_those_that_the_file_keeps() -> None:
    found = input_times(tuned())
    assert (found.kernel, found.feature, found.values) == ("scan", "length", tuple(map(float, LENGTHS)))
    assert found.seconds[1] == pytest.approx([row[1] for row in SECONDS])
    assert np.isnan(found.seconds[2][0])
    assert found.chosen == (0, 0, 0, 0, 1)
    # 4096 items take 5.1 and 5.2 µs, which is noise.
    assert [(each.before, each.after, each.low, each.high) for each in found.break_evens] == [(0, 1, 256, 65536)]


def test_inputs_of_one_value_are_one_point() -> None:
    found = input_times(tuned(), "order")
    assert found.values == (0.5,) and found.break_evens == () and found.chosen == (None,)
    assert found.seconds[0][0] == pytest.approx(np.exp(np.log([row[0] for row in SECONDS]).mean()))


def test_ratios_are_to_the_fastest_version_of_the_same_input() -> None:
    found = input_times(tuned())
    assert found.over_fastest[0] == pytest.approx([1, 1, 1, 1, SECONDS[4][0] / SECONDS[4][1]])
    assert np.isnan(found.over_fastest[2][0])


def test_the_default_and_the_fixed_best_are_said() -> None:
    assert input_times(tuned()).roles(0) == ("the default", "fixed best")
    slow = [[4 * row[0], *row[1:]] for row in SECONDS]
    found = input_times(tuned(slow))
    assert (found.roles(0), found.roles(1), found.roles(2)) == (("the default",), ("fixed best",), ())


def test_of_one_size_all_inputs_are_one_section() -> None:
    (section,) = section_times(tuned())
    assert (section.feature, section.held, section.values) == ("n", {}, tuple(map(float, LENGTHS)))
    assert section.break_evens == input_times(tuned()).break_evens


def test_of_two_sizes_only_inputs_that_share_the_other_one_are_a_section() -> None:
    (section,) = section_times(tuned_over_shapes())
    assert (section.feature, section.held, section.values) == ("width", {"height": 8}, (16, 64, 256, 1024))
    assert [(each.low, each.high) for each in section.break_evens] == [(64, 256)]
    assert section.chosen == (0, 0, 1, 1) and section.groups[0] == "height=8 width=16"
    assert input_times(tuned_over_shapes()).held is None


def test_a_version_without_times_is_refused() -> None:
    other = replace(tuned(), versions=(*tuned().versions, TunedVersion(Variant((8,)))))
    with pytest.raises(InvalidInputError, match="no times of one of its versions"):
        input_times(other)
    with pytest.raises(InvalidInputError, match="isn't the one that its times are compared with"):
        input_times(replace(tuned(), default=2))


def test_a_feature_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"no feature 'lenght' \(did you mean length\?\)"):
        input_times(tuned(), "lenght")
    with pytest.raises(InvalidInputError, match="keeps no times"):
        input_times(replace(tuned(), evidence={}))


def test_curves_choice_and_break_evens_are_drawn() -> None:
    figure = draw_input_times(tuned())
    (axes,) = figure.axes
    drawn = {line.get_gid(): line for line in axes.lines}
    assert sorted(drawn) == ["chosen", "version-0", "version-1", "version-2"]
    assert [*drawn["chosen"].get_ydata()] == pytest.approx([row[0] for row in SECONDS[:4]] + [SECONDS[4][1]])
    assert [patch.get_gid() for patch in axes.patches] == ["break-even"]
    assert "0 → 1" in written(figure)
    assert figure.get_label() == "scan is fastest in 2 versions, by length (a device)"
    assert min(text.get_fontsize() for text in texts(figure)) >= SMALLEST_SIZE
    assert figure.get_size_inches()[0] <= PAGE_WIDTH + 0.01
    assert rendered(figure, "svg") == rendered(figure, "svg")


def test_changes_that_are_close_are_named_together() -> None:
    points = [(InputPoint(f"input-{n}", f"n={n}", {"length": float(n), "order": 0.5}), n) for n in CLOSE]
    file = tuned()
    seconds = np.array([[1.0, 2.0, 9.0] if n in (1023, 1025) else [2.0, 1.0, 9.0] for _, n in points])
    times = VersionTimes(tuple(point for point, _ in points), VERSIONS, seconds, 0)
    evidence = Evidence("scan.toml", 0.05, times).to_json()
    figure = draw_input_times(replace(file, evidence=evidence))
    # From 4 to 1023 and from 1025 to 4096 are brackets with room for a name of their own.
    names = [line for line in written(figure).splitlines() if "→" in line]
    assert names == ["1 → 0", "0 → 1 → 0", "0 → 1"]


def test_numbers_are_written_in_full() -> None:
    (axes,) = draw_input_times(tuned()).axes
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert "1048576" in labels or "65536" in labels
    assert not [label for label in labels if "e+" in label and float(label) < 1e7]


def test_one_version_that_is_always_chosen_is_said() -> None:
    figure = draw_input_times(tuned(threshold=1e9))
    assert figure.get_label() == "One version of scan is chosen for every value of length (a device)"


def test_bands_are_explained_where_there_are_some() -> None:
    assert "Grey band" in written(draw_input_times(tuned()))
    alike = [[row[0], 2 * row[0], 3 * row[0]] for row in SECONDS]
    assert "Grey band" not in written(draw_input_times(tuned(alike)))


def test_times_that_hardly_differ_have_labels_too() -> None:
    figure = draw_input_times(tuned([[1e-3 + 1e-4 * place, 1.3e-3, 1.4e-3] for place in range(len(LENGTHS))]))
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    assert len([tick for tick in axes.get_yticks() if low <= tick <= high]) >= 3
    assert "1.2 ms" in written(figure)


def test_where_other_features_choose_too_that_is_said() -> None:
    figure = draw_input_times(tuned(), "order")
    assert figure.get_label() == "scan runs in versions that are chosen by more than order (a device)"


def test_where_other_sizes_differ_ratios_are_drawn_and_no_break_even() -> None:
    figure = draw_input_times(tuned_over_shapes())
    (axes,) = figure.axes
    drawn = {line.get_gid(): line for line in axes.lines}
    found = input_times(tuned_over_shapes())
    assert [*drawn["version-1"].get_ydata()] == pytest.approx([*found.over_fastest[1]])
    assert min(drawn["chosen"].get_ydata()) == pytest.approx(1)
    assert [*axes.patches] == [] and "2×" in written(figure)
    assert "Other sizes differ from input to input" in " ".join(written(figure).split())
