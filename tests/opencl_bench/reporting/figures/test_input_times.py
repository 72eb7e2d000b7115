"""Time over the input: the numbers of a tuned file and what is drawn of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.evidence import Evidence
from coarsen.opencl_bench.reporting.figures.draw_input_times import draw_input_times
from coarsen.opencl_bench.reporting.figures.files import rendered
from coarsen.opencl_bench.reporting.figures.style import PAGE_WIDTH, SMALLEST_SIZE
from coarsen.opencl_bench.reporting.numbers.input_times import input_times
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.opencl_bench.reporting.figures.writing import texts, written

VERSIONS = (Variant((64,)), Variant((64,), (Coarsening(4),)), Variant((256,)))
LENGTHS = (1, 16, 256, 4096, 65536)
# The second version takes long to begin with and less for each item; the third fails where there is little to do.
SECONDS = [[1e-6 + 1e-9 * n, 4e-6 + 0.3e-9 * n, np.nan if n < 100 else 5e-6 + 1e-9 * n] for n in LENGTHS]


def tuned(seconds: list[list[float]] = SECONDS, threshold: float = 5000.0) -> TunedFile:
    points = tuple(InputPoint(f"input-{n}", f"n={n}", {"length": float(n), "order": n % 3 / 2}) for n in LENGTHS)
    times = VersionTimes(points, VERSIONS, np.array(seconds), 0)
    return TunedFile(
        kernel="scan",
        arguments=(KernelArgument("n", ArgumentKind.WHOLE),),
        source_hash="0",
        device="a device",
        driver="1",
        build_options=(),
        coarsen_version="1",
        features=(Feature("length", "n"), Feature("order", None)),
        versions=tuple(map(TunedVersion, VERSIONS)),
        default=0,
        tree=Split("length", threshold, Leaf(0), Leaf(1)),
        evidence=Evidence("scan.toml", 0.05, times).to_json(),
    )


def test_numbers_are_those_that_the_file_keeps() -> None:
    found = input_times(tuned())
    assert (found.kernel, found.feature, found.values) == ("scan", "length", tuple(map(float, LENGTHS)))
    assert found.seconds[1] == pytest.approx([row[1] for row in SECONDS])
    assert np.isnan(found.seconds[2][0])
    assert found.chosen == (0, 0, 0, 0, 1)
    # 4096 items take 5.1 and 5.2 µs, which is noise.
    assert [(each.before, each.after, each.low, each.high) for each in found.break_evens] == [(0, 1, 256, 65536)]
    assert found.break_evens[0].is_ill_defined


def test_inputs_of_one_value_are_one_point() -> None:
    found = input_times(tuned(), "order")
    assert found.values == (0.5,) and found.break_evens == () and found.chosen == (None,)
    assert found.seconds[0][0] == pytest.approx(np.exp(np.log([row[0] for row in SECONDS]).mean()))


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


def test_one_version_that_is_always_chosen_is_said() -> None:
    assert "in one version at every length" in draw_input_times(tuned(threshold=1e9)).get_label()
