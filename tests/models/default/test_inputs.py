"""What the forest sees, by hand, and how examples become rows with weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.default.inputs import (
    COARSENED,
    COLUMNS_OF_FEATURE,
    INPUT_NAMES,
    POINT_NAMES,
    compressed,
    input_rows,
    kernel_point,
)
from coarsen.models.default.training_rows import curve_of, training_rows
from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
from coarsen.models.examples import Example


def column(name: str) -> int:
    return INPUT_NAMES.index(name)


def test_inputs_by_hand(examples: tuple[Example, ...]) -> None:
    example = examples[0]
    mechanism = replace(example.mechanism, rows={**example.mechanism.rows, 8: replace(
        example.mechanism.at(8), uniform_load_share=1.0
    )})  # fmt: skip
    rows = input_rows(example.table, mechanism, DEVICE_DESCRIPTORS["cypress"])
    assert rows.shape == (5, len(INPUT_NAMES))
    assert rows[:, column("loads")] == pytest.approx(math.log2(1 + example.table.at(1).loads), rel=1e-3)
    assert rows[:, column("log2_factor")].tolist() == [1, 2, 3, 4, 5]
    assert rows[2, column("uniform_load_share at factor")] == 1.0
    assert rows[2, column("uniform_load_share")] == rows[0, column("uniform_load_share at factor")]
    assert rows[0, column("vliw_width")] == pytest.approx(math.log2(6), rel=1e-3)


def test_growth_is_one_where_all_is_repeated_and_where_there_is_nothing(examples: tuple[Example, ...]) -> None:
    example = examples[0]
    uniform = {factor: replace(row, instructions=100.0) for factor, row in example.table.rows.items()}
    rows = input_rows(replace(example.table, rows=uniform), example.mechanism, DEVICE_DESCRIPTORS["pocl"])
    assert (rows[:, column("loads growth")] == 1.0).all()
    assert (rows[:, column("barriers growth")] == 1.0).all()
    assert rows[:, column("instructions growth")] == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32])


def test_inputs_fit_half_precision(examples: tuple[Example, ...]) -> None:
    example = examples[0]
    huge = {factor: replace(row, branches=1e300, loads=1e-30) for factor, row in example.table.rows.items()}
    rows = input_rows(replace(example.table, rows=huge), example.mechanism, DEVICE_DESCRIPTORS["pocl"])
    assert np.isfinite(rows).all()
    assert np.array_equal(rows, rows.astype(np.float16).astype(np.float32))


def test_logarithms_keep_signs_and_zero() -> None:
    assert compressed(np.array([-3.0, 0.0, 1.0])).tolist() == [-2.0, 0.0, 1.0]


def test_a_features_columns_are_its_two_inputs() -> None:
    assert [INPUT_NAMES[index] for index in COLUMNS_OF_FEATURE["loads"]] == ["loads", "loads growth"]
    two = [INPUT_NAMES[index] for index in COLUMNS_OF_FEATURE["uniform_load_share"]]
    assert two == ["uniform_load_share", "uniform_load_share at factor"]
    grouped = {index for columns in COLUMNS_OF_FEATURE.values() for index in columns}
    assert grouped == set(range(column("log2_factor")))
    assert len(set(INPUT_NAMES)) == len(INPUT_NAMES) < 255


def test_a_kernels_place_has_no_device_in_it(examples: tuple[Example, ...]) -> None:
    points = [kernel_point(example.table, example.mechanism) for example in examples[:3]]
    assert points[0].shape == (len(POINT_NAMES),)
    assert np.array_equal(points[0], points[1])


def test_every_device_has_the_same_weight_and_within_it_every_curve(examples: tuple[Example, ...]) -> None:
    one_factor = replace(examples[0], speedup={2: 1.5})
    chosen = [one_factor, *(example for example in examples[3:30] if example.device != "h200"), examples[5]]
    rows = training_rows(map(curve_of, chosen))
    devices = np.array([curve.example.device for curve in rows.curves])
    totals = [rows.weights[devices == device].sum() for device in ("pocl", "intel", "h200")]
    assert totals == pytest.approx([totals[0]] * 3)
    assert rows.weights.mean() == pytest.approx(1.0)
    first, second = (rows.row_weights[rows.places[:, 0] == curve].sum() for curve in (0, 1))
    assert (rows.places[:, 0] == 0).sum() == 1
    assert first == pytest.approx(second)


def test_factors_that_could_not_run_are_no_rows(examples: tuple[Example, ...]) -> None:
    gaps = replace(examples[0], speedup={2: 1.5, 16: 0.5})
    rows = training_rows([curve_of(gaps), curve_of(examples[3])])
    assert [COARSENED[place] for curve, place in rows.places if curve == 0] == [2, 16]
    assert rows.targets[:2] == pytest.approx([math.log(1.5), math.log(0.5)])


def test_an_unknown_device_is_refused_with_the_known_ones(examples: tuple[Example, ...]) -> None:
    with pytest.raises(InvalidInputError, match="no descriptor of the device 'voodoo'; there is: fermi, kepler"):
        curve_of(replace(examples[0], device="voodoo"))
