"""Tuning with other layouts: what is tried, what is timed again, and what converting is charged."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.conversion import gained_beside, runs_until_it_pays
from coarsen.tuning.engine.finalists import finalists
from coarsen.tuning.launch_space import laid_out_starts
from coarsen.tuning.layout_choices import (
    LAYOUTS,
    check_choices,
    layout_choices,
    layouts_file,
)
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.settings import Tune
from coarsen.tuning.tuned import Conversion, LaidOutChoice
from coarsen.tuning.tuner import tune_described
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA, ArrayLayout, Kind, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.space import ArrayChoices
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant

TILES, TURNED = ArrayLayout(Kind.AOSOA, 4), Order((1, 0))
CHOICES = (ArrayChoices("a", (SOA, TILES)), ArrayChoices("b", orders=(TURNED,)))
FIRST_A, TILED_A, FIRST_B = ArrayPlan("a", SOA), ArrayPlan("a", TILES), ArrayPlan("b", order=TURNED)
OWN, FOUR = Variant((64,)), Variant((64,), (Coarsening(4),))


def laid(variant: Variant, *plans: ArrayPlan) -> Variant:
    return Variant(variant.local_size, variant.coarsenings, arrays=plans)


def test_the_search_begins_with_all_arrays_laid_out_and_with_each() -> None:
    assert list(laid_out_starts((OWN, Variant((32,)), FOUR), CHOICES)) == [
        laid(OWN, FIRST_A, FIRST_B),
        laid(FOUR, FIRST_A, FIRST_B),
        laid(OWN, FIRST_A),
        laid(OWN, TILED_A),
        laid(OWN, FIRST_B),
    ]
    assert list(laid_out_starts((OWN, FOUR), ())) == []


def test_the_best_with_layouts_and_without_are_timed_again() -> None:
    gains = {OWN: 1.0, FOUR: 1.5, laid(OWN, FIRST_A): 3.0, laid(FOUR, FIRST_A): 4.0, laid(OWN, FIRST_B): 2.0}
    assert finalists(gains) == (FOUR, laid(FOUR, FIRST_A), laid(OWN, FIRST_A))


@pytest.mark.parametrize(
    ("speedup", "without", "runs"),
    [
        # Of 1 ms, 0.5 ms are left without and 0.25 ms with: 10 ms are earned after 40 runs.
        (Speedup(4.0, 3.9, 4.1), 2.0, 40),
        (Speedup(4.0, 3.9, 4.1), 1.0, 14),
        (Speedup(4.0, 1.9, 6.0), 2.0, None),
        (Speedup(1.5, 1.4, 1.6), 2.0, None),
    ],
)
def test_a_conversion_pays_beside_the_best_variant_without(
    speedup: Speedup, without: float, runs: int | None
) -> None:
    assert runs_until_it_pays(0.01, gained_beside(0.001, speedup, without)) == runs


def test_a_conversion_is_charged_to_all_runs() -> None:
    choice = LaidOutChoice(laid(OWN, FIRST_A), Speedup(4.0, 3.9, 4.1), 0.001, 2.0, Conversion(0.01, 40))
    assert choice.gain_over(40) == pytest.approx(1.0)
    assert choice.gain_over(1) < 0.1
    assert choice.gain_over(10**9) == pytest.approx(2.0)


SOURCE = """
typedef struct { float x; int n; } Body;
kernel void grow(global Body *bodies, global const float *plain, global Body *walked, global Body *others)
{
    int i = get_global_id(0);
    for (global Body *p = walked; p < walked + 2; p++)
        bodies[i].x += p->x + plain[i];
    others[i].n = i;
}
"""
DESCRIPTION = """\
file = "grow.cl"
kernel = "grow"
outputs = ["bodies", "others"]
[structures.Body]
x = "float"
n = "int"
[ndrange]
global_size = ["n"]
local_size = [16]
[sizes.test]
n = 64
"""
ARGUMENT = """\
[[arguments]]
name = "{name}"
buffer = "{kind}"
elements = "n"
{values}
"""
OF_BODY = '[arguments.values]\nx = "uniform(0, 1)"\nn = "integers(0, 9)"'


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A description of a kernel with four arrays, of which one names its layouts."""
    texts = {
        "bodies": ARGUMENT.format(name="bodies", kind="Body", values='layouts = ["aosoa:4"]\n' + OF_BODY),
        "plain": ARGUMENT.format(name="plain", kind="float", values='values = "uniform(0, 1)"'),
        "walked": ARGUMENT.format(name="walked", kind="Body", values=OF_BODY),
        "others": ARGUMENT.format(name="others", kind="Body", values=OF_BODY),
    }
    (tmp_path / "grow.cl").write_text(SOURCE)
    path = tmp_path / "grow.toml"
    path.write_text(DESCRIPTION + "".join(texts.values()))
    return path


def test_arrays_of_records_are_found_unless_they_can_not_be_rewritten(described: Path) -> None:
    found = layout_choices(find_benchmark(described), PORTABLE)
    assert found.choices == (ArrayChoices("bodies", (TILES,)), ArrayChoices("others", LAYOUTS))
    (sentence,) = found.refused
    assert sentence.startswith("walked as soa is not tried: ") and "[layout-pointer-escapes]" in sentence


def test_layouts_that_are_named_have_to_be_possible(described: Path) -> None:
    benchmark = find_benchmark(described)
    check_choices(benchmark, [ArrayChoices("others", (SOA, TILES), (TURNED,))], PORTABLE)
    with pytest.raises(RefusalError) as caught:
        check_choices(benchmark, [ArrayChoices("others", (SOA,)), ArrayChoices("walked", (TILES,))], PORTABLE)
    assert caught.value.code == "layout-pointer-escapes" and caught.value.position is not None
    with pytest.raises(InvalidInputError, match=r"no argument other \(did you mean others\?\)"):
        check_choices(benchmark, [ArrayChoices("other", (SOA,))], PORTABLE)


@pytest.mark.compiled_devices
def test_what_is_tried_is_right_and_the_file_keeps_layouts_apart(
    device: DeviceDescription, described: Path
) -> None:
    benchmark = find_benchmark(described)
    settings = Tune(seconds=250, trials=4, levels=("item",), local_sizes=False, distinct=False)
    arrays = (ArrayChoices("others", (SOA,)),)
    found = tune_described(described, benchmark, "test", device, DEFAULT, False, settings, arrays)
    assert found.wrong == ()
    assert found.choice.arrays == ()
    assert found.laid_out_trials >= 1
    assert found.laid_out is None or found.laid_out.variant.arrays == (ArrayPlan("others", SOA),)
    file = layouts_file(found, benchmark, (), device)
    assert all(not version.variant.arrays for version in file.versions)
    assert len(file.layouts) == int(found.laid_out is not None)
