"""Tables of results: what is looked up, bases, defaults that are not valid, what is refused."""

from __future__ import annotations

import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.spaces import Axis, valid_choices, values_of
from coarsen.opencl_bench.search.tables import ReplayEvaluator, Row, Table, nearest, table_of, with_base
from tests.opencl_bench.search.made_up import AXES, DEFAULT, made_up_table, rows


def times_by_values(table: Table) -> dict[frozenset[tuple[str, object]], float | None]:
    return {
        frozenset(values_of(table.space, choice).items()): trial.time for choice, trial in table.trials.items()
    }


def test_a_table_has_each_result() -> None:
    table = made_up_table()
    expected = {frozenset(configuration.items()): time for configuration, time, _ in rows()}
    assert times_by_values(table) == expected
    assert (table.optimum, len(table.times)) == (2.0, sum(time is not None for time in expected.values()))
    assert values_of(table.space, (0, 0, 0, 0)) == DEFAULT
    assert list(valid_choices(table.space)) == sorted(table.trials)


def test_another_base_changes_no_time() -> None:
    table = made_up_table()
    for base in list(valid_choices(table.space))[::29]:
        other = with_base(table, base)
        assert times_by_values(other) == times_by_values(table)
        assert values_of(other.space, (0, 0, 0, 0)) == values_of(table.space, base)
        assert all(trial.choice == choice for choice, trial in other.trials.items())
        assert [axis.shared for axis in other.space.axes] == [axis.shared for axis in AXES]


def test_the_evaluator_counts_distinct_choices_and_failures() -> None:
    table = made_up_table()
    failing = next(choice for choice, trial in table.trials.items() if trial.time is None)
    evaluator = ReplayEvaluator(table)
    assert evaluator.evaluate((0, 0, 0, 0)) == evaluator.evaluate((0, 0, 0, 0))
    assert evaluator.evaluate(failing).time is None
    assert evaluator.tried == len(evaluator.trace) == 2
    assert [trial.choice for trial in evaluator.trace] == [(0, 0, 0, 0), failing]


@pytest.mark.parametrize("choice", [(5, 4, 0, 0), (9, 0, 0, 0), (0, 0, 0), (-1, 0, 0, 0)])
def test_what_the_table_lacks_can_not_be_evaluated(choice: tuple[int, ...]) -> None:
    evaluator = ReplayEvaluator(made_up_table())
    with pytest.raises(InvalidInputError, match="is no valid choice"):
        evaluator.evaluate(choice)
    assert evaluator.tried == 0


def test_a_search_sees_no_times() -> None:
    evaluator = ReplayEvaluator(made_up_table())
    assert not hasattr(evaluator.space, "trials")
    assert [name for name in vars(evaluator) if not name.startswith("_")] == []


def test_a_default_that_is_not_valid() -> None:
    default = DEFAULT | {"width": 32, "height": 16}
    table = table_of("odd", AXES, rows(), default)
    # A height of 4 is as near as a width of 8, which comes first in order.
    assert values_of(table.space, (0, 0, 0, 0)) == DEFAULT | {"width": 8, "height": 16}
    assert table.remarks == (
        "the default (width = 32, height = 16, tile = 1, layout = rows) is not valid: the base is the nearest "
        "that is (width = 8, height = 16, tile = 1, layout = rows)",
    )


def test_the_nearest_changes_few_axes_before_it_takes_few_steps() -> None:
    axes = (Axis("a", (8, 1, 2, 4)), Axis("b", ("x", "y")))
    # From a = 1, b = y: one axis in three steps comes before two axes in two.
    configurations = [{"a": 8, "b": "y"}, {"a": 2, "b": "x"}]
    table = table_of("two", axes, [(each, 1.0, 0.0) for each in configurations], configurations[1])
    wanted = tuple(axis.values.index(value) for axis, value in zip(table.space.axes, (1, "y"), strict=True))
    assert values_of(table.space, nearest(table.space, wanted)) == configurations[0]


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([*rows(), rows()[0]], "made up: width = 1, height = 1, tile = 1, layout = rows has two results"),
        ([(DEFAULT | {"tile": 7}, 1.0, 0.0)], "made up: 'tile' has no value 7"),
        ([({"tile": 1}, 1.0, 0.0)], "made up: 'width' has no value None"),
        ([(DEFAULT, None, 0.0)], "made up: none of its 1 configurations has a time"),
        ([], "made up: none of its 0 configurations has a time"),
    ],
)
def test_what_is_refused(results: list[Row], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        table_of("made up", AXES, results, DEFAULT)
