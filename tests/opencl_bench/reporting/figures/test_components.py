"""The figures of the cascade's components: loadings and relevance, the numbers and what is drawn of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from coarsen.errors import InvalidInputError
from coarsen.features import FACTORS, FEATURES
from coarsen.models.cascade.model import STEP_FACTORS, Projection
from coarsen.models.examples import Example
from coarsen.opencl_bench.reporting.figures.draw_loadings import draw_loadings
from coarsen.opencl_bench.reporting.figures.draw_relevance import draw_relevance
from coarsen.opencl_bench.reporting.figures.files import rendered
from coarsen.opencl_bench.reporting.figures.style import SMALLEST_SIZE, styled
from coarsen.opencl_bench.reporting.numbers.loadings import GROWTH, VALUE, loading_table, loadings_finding
from coarsen.opencl_bench.reporting.numbers.relevance import relevance_finding, relevance_table, shared_projection
from tests.opencl_bench.reporting.figures.evaluations import example


@pytest.fixture
def projection() -> Projection:
    """Two components: loads and less growth of stores; barriers alone."""
    names = [feature.name for feature in FEATURES]
    loadings = np.zeros((34, 2))
    loadings[names.index("loads"), 0] = 0.81
    loadings[17 + names.index("stores"), 0] = -0.64
    loadings[names.index("barriers"), 1] = 0.25
    return Projection(np.zeros(34), np.ones(34), loadings, loadings, np.array([0.7, 0.25]))


def test_the_table_has_each_loading(projection: Projection) -> None:
    table = loading_table(projection)
    assert len(table) == 2 * 34
    large = table[table["loading"] != 0]
    assert large[["component", "feature", "input", "loading"]].to_numpy().tolist() == [
        [1, "loads", VALUE, 0.81],
        [1, "stores", GROWTH, -0.64],
        [2, "barriers", VALUE, 0.25],
    ]
    assert loadings_finding(table) == (
        "2 components hold 95 % of the variance of 34 inputs; "
        "the largest, with 70 %, is: loads, less growth of stores"
    )


def test_a_single_component_is_one(projection: Projection) -> None:
    alone = replace(projection, loadings=projection.loadings[:, :1], shares=projection.shares[:1])
    assert loadings_finding(loading_table(alone)) == (
        "One component holds 70 % of the variance of 34 inputs: loads, less growth of stores"
    )


def sides(axes: Axes, name: str) -> list[float]:
    return [patch.get_width() for patch in axes.patches if patch.get_gid() == name]


def test_the_squares_have_the_area_of_the_loadings(projection: Projection) -> None:
    figure = draw_loadings(projection)
    value, growth, labels = figure.axes
    first, second = sides(value, "positive")
    assert first / second == pytest.approx(0.9 / 0.5)
    assert (len(sides(growth, "positive")), len(sides(growth, "negative"))) == (0, 1)
    assert "70 %: loads, less growth of stores" in [text.get_text() for text in labels.texts]
    assert rendered(figure, "svg") == rendered(figure, "svg")


def all_on_page(figure: Figure, texts: Sequence[Text]) -> bool:
    """Whether none of the texts goes beyond the left or the right edge."""
    with styled():
        figure.draw_without_rendering()
        places = [text.get_window_extent() for text in texts]
    left, right = min(place.x0 for place in places), max(place.x1 for place in places)
    return bool(left >= 0 and right <= figure.bbox.width)


def test_the_list_of_components_is_on_the_page(projection: Projection) -> None:
    figure = draw_loadings(projection)
    assert all_on_page(figure, figure.axes[-1].texts)


def decided_by(chosen: Callable[[Example, int], bool], device: str, kernels: int = 12) -> list[Example]:
    """Examples on a device where a rule decides whether each step helps."""
    found = []
    for number in range(kernels):
        plain = example(f"kernel{number}", device)
        speedup, now = {}, 1.0
        for factor in STEP_FACTORS:
            now *= 1.5 if chosen(plain, factor) else 0.5
            speedup[2 * factor] = now
        found.append(example(f"kernel{number}", device, speedup))
    return found


def test_the_component_that_decides_is_relevant() -> None:
    def by_component(plain: Example, factor: int) -> bool:
        return bool(plain.table.at(factor).barriers > 5)

    def by_coin(plain: Example, factor: int) -> bool:
        return bool(np.random.default_rng([FACTORS.index(factor), *plain.kernel.encode()]).random() > 0.5)

    examples = [*decided_by(by_component, "fermi"), *decided_by(by_coin, "tahiti")]
    table = relevance_table(examples)
    loadings = np.abs(shared_projection(examples).loadings[16])
    fermi, tahiti = (table[table["device"] == device] for device in ("fermi", "tahiti"))
    assert len(fermi) == len(tahiti) == len(loadings)
    assert set(fermi["steps"]) == {12 * 5}
    top = fermi.loc[fermi["relevance"].idxmax()]
    assert top["component"] == int(loadings.argmax()) + 1
    assert top["relevance"] > 1.5 * top["chance"]
    assert tahiti["relevance"].median() < tahiti["chance"].iloc[0] < top["relevance"]
    assert relevance_finding(fermi).startswith("Most telling about coarsening further, beyond chance: component")
    (axes,) = draw_relevance(table).axes
    beyond = [patch for patch in axes.patches if patch.get_gid() == "beyond chance"]
    assert len(beyond) == int((table["relevance"] > table["chance"]).sum())
    assert all(patch.get_facecolor()[3] == 1 for patch in beyond)
    assert not any(patch.get_facecolor()[3] for patch in axes.patches if patch.get_gid() == "chance")
    chances = [text.get_text() for text in axes.texts if text.get_gid() == "chance"]
    assert chances == [f"{100 * own['chance'].iloc[0]:.0f}" for own in (fermi, tahiti)]
    assert min(text.get_fontsize() for text in axes.texts) >= SMALLEST_SIZE


@pytest.mark.parametrize("devices", [1, 4, 9])
def test_the_labels_of_components_are_on_the_page(devices: int) -> None:
    label = "growth of branches, less growth of memory level parallelism, growth of divergent region instructions"
    rows = [(f"device-{number}", each, label, 0.1, 0.2, 85) for number in range(devices) for each in range(1, 12)]
    columns = ["device", "component", "label", "relevance", "chance", "steps"]
    figure = draw_relevance(pd.DataFrame(rows, columns=columns))
    (axes,) = figure.axes
    assert all_on_page(figure, [*axes.get_yticklabels(), *axes.get_xticklabels(), *axes.texts])


def alike_steps(seed: int) -> list[Example]:
    """Sixteen kernels, each with the same features at all factors, and one answer, a coin's, for all its steps."""
    heads = np.random.default_rng(seed).permutation([True, False] * 8)
    names = [f"kernel{number}" for number in range(len(heads))]
    examples = decided_by(lambda plain, _: bool(heads[names.index(plain.kernel)]), "fermi", len(heads))
    tables = [replace(each.table, rows=dict.fromkeys(FACTORS, each.table.at(1))) for each in examples]
    return [replace(each, table=table) for each, table in zip(examples, tables, strict=True)]


def test_telling_kernels_apart_is_not_beyond_chance() -> None:
    tables = [relevance_table(alike_steps(seed)) for seed in range(4)]
    assert all(table["relevance"].max() > 0.3 for table in tables)
    assert sum(bool((table["relevance"] > table["chance"]).any()) for table in tables) <= 1


def test_devices_with_few_answers_are_left_out() -> None:
    examples = decided_by(lambda plain, factor: factor < 4, "fermi", 4)
    few = [example("mt", "tahiti", best=2), example("spmv", "tahiti", best=1)]
    assert set(relevance_table([*examples, *few])["device"]) == {"fermi"}
    with pytest.raises(InvalidInputError, match="too few steps with an answer"):
        relevance_table(few)
    with pytest.raises(InvalidInputError, match="at least two kernels"):
        relevance_table(few[:1])
