"""All methods on all kernels held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest

from coarsen.errors import InvalidInputError
from coarsen.models.evaluation import evaluation
from coarsen.models.evaluation.evaluation import ENTRANTS, Entrant, Evaluation, Plan, evaluate
from coarsen.models.examples import Example
from tests.models.evaluation.made_up import Spy, fit_rolled, made_up, small_table

SIMPLE = ("never", "unique", "oracle")


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    """A method called `spy`; one called `rolled` has randomness."""
    spy = Spy()
    added = {
        "spy": Entrant("spy", "", spy.fit),
        "rolled": Entrant("rolled", "", fit_rolled, is_random=True),
    }
    monkeypatch.setattr(evaluation, "ENTRANTS", MappingProxyType({**ENTRANTS, **added}))
    return spy


def evaluated(*methods: str, data: Sequence[Example] | None = None, **plan: object) -> Evaluation:
    return evaluate(small_table() if data is None else data, [], replace(Plan(methods), **plan))  # type: ignore[arg-type]


def test_the_oracle_is_never_beaten(spy: Spy) -> None:
    spy.factor = 8
    scores = evaluated(*SIMPLE, "spy", "rolled").speedup_scores("fermi")
    best = scores["oracle"].geometric_mean
    assert best == pytest.approx((3.0 * 1.4 * 1.3 * 1.0 * 1.1) ** (1 / 5))
    assert all(score.geometric_mean <= best for score in scores.values())
    assert all(score.share_of_oracle <= 1.0 for score in scores.values())
    assert (scores["oracle"].share_of_oracle, scores["oracle"].share_of_gain) == (1.0, 1.0)


def test_never_is_1() -> None:
    score = evaluated(*SIMPLE).speedup_scores("cypress")["never"]
    assert (score.geometric_mean, score.share_of_gain, score.worst, score.losses) == (1.0, 0.0, 1.0, 0)


def test_unique_is_chosen_without_the_kernel() -> None:
    outcomes = evaluated("unique").outcomes["unique"]
    chosen = {outcome.example.kernel: outcome.factor for outcome in outcomes}
    # Products of the speed-ups at 2, 4 and 8 over the others (a factor that can't run: the next smaller one's):
    # without sgemm 0.87, 0.80, 0.31; without mt and mtLocal 0.99, 0.88, 0.66; without spmv 2.18, 4.00, 4.72;
    # without nbody 1.19, 1.46, 0.86.
    assert chosen == {"sgemm": 1, "mt": 1, "mtLocal": 1, "spmv": 8, "nbody": 4}


def test_the_ratio_to_unique() -> None:
    scores = evaluated(*SIMPLE).speedup_scores("fermi")
    ratio = scores["oracle"].over["unique"]
    assert ratio.value == pytest.approx(scores["oracle"].geometric_mean / scores["unique"].geometric_mean)
    assert ratio.interval.low <= ratio.value <= ratio.interval.high
    assert scores["unique"].over["unique"].value == 1.0


def test_devices_together() -> None:
    found = evaluated(*SIMPLE, data=[*small_table(("fermi",)), made_up("sgemm", {2: 16.0}, "cypress")])
    assert found.devices == ("fermi", "cypress")
    together = found.speedup_scores("fermi", "cypress")["oracle"]
    assert together.cases == 6
    assert together.geometric_mean == pytest.approx((3.0 * 1.4 * 1.3 * 1.0 * 1.1 * 16.0) ** (1 / 6))


def test_only_random_methods_are_run_with_every_seed(spy: Spy) -> None:
    found = evaluated("spy", "rolled", seeds=3)
    assert {outcome.seed for outcome in found.outcomes["spy"]} == {0}
    assert {outcome.seed for outcome in found.outcomes["rolled"]} == {0, 1, 2}
    spread = found.speedup_scores("fermi")["rolled"].spread
    assert spread is not None and spread.seeds == 3 and spread.low < spread.high


def test_one_dimension_is_predicted_and_all_are_learned_from(spy: Spy) -> None:
    found = evaluated("spy", data=small_table(("fermi",), (0, 1)), dimension=1)
    assert {outcome.example.dimension for outcome in found.outcomes["spy"]} == {1}
    assert {example.dimension for training, _ in spy.fitted for example in training} == {0, 1}


def test_one_device_is_predicted_and_all_are_learned_from(spy: Spy) -> None:
    found = evaluated("spy", devices=("cypress",))
    assert found.devices == ("cypress",)
    assert {example.device for training, _ in spy.fitted for example in training} == {"fermi", "cypress"}
    with pytest.raises(InvalidInputError, match="nothing of a device 'tahiti'; it has fermi, cypress"):
        evaluated("spy", devices=("fermi", "tahiti"))


def test_further_training_data_is_for_unseen_data_alone(spy: Spy) -> None:
    generous = [made_up(f"other {index}", {2: 5.0}) for index in range(20)]
    evaluate(small_table(), generous, Plan(("spy",)))
    assert not any(example.kernel.startswith("other") for training, _ in spy.fitted for example in training)
    # Unique would choose 2 for all, if it learned from this.
    found = evaluate(small_table(), generous, Plan(("unique",)))
    assert {outcome.factor for outcome in found.outcomes["unique"]} == {1, 4, 8}


def test_unseen_data_is_not_learned_from(spy: Spy) -> None:
    more = [made_up(f"other {index}", {2: 5.0}) for index in range(2)]
    found = evaluate(small_table(("fermi",)), more, Plan(("spy", "unique"), unseen=True))
    assert [training for training, _ in spy.fitted] == [tuple(more)]
    assert {outcome.factor for outcome in found.outcomes["unique"]} == {2}


def test_even_then_the_kernel_itself_is_held_out(spy: Spy) -> None:
    more = [made_up("other", {2: 5.0}), made_up("mt", {2: 5.0}, "tahiti")]
    evaluate(small_table(("fermi",)), more, Plan(("spy",), unseen=True))
    for training, asked in spy.asked:
        assert len(training) == (1 if asked.family == "mt" else 2)


def test_published_predictions_are_looked_up() -> None:
    known = {("sgemm", "fermi"): 4, ("nbody", "fermi"): 1}
    found = evaluated("published", "never", published=known)
    chosen = {outcome.example.kernel: outcome.factor for outcome in found.outcomes["published"]}
    assert chosen == {"sgemm": 4, "nbody": 1}
    score = found.speedup_scores("fermi")["published"]
    assert [score.geometric_mean, score.over["never"].value] == pytest.approx([math.sqrt(2)] * 2)
    assert "published" not in found.speedup_scores("cypress")


def test_best_factors_alone() -> None:
    found = evaluated(*SIMPLE, data=[made_up(f"k{best}", {}, best=best) for best in (1, 4, 16)])
    assert not found.is_measured("fermi")
    hits = found.hit_scores("fermi")
    assert (hits["oracle"].exact, hits["never"].exact, hits["never"].mean_error) == (3, 1, 2.0)


def test_kernels_without_runtimes_do_not_count_as_speedups_of_1() -> None:
    mixed = [*small_table(("fermi",)), made_up("reduce", {}, best=8), made_up("reduce", {}, "tahiti", best=8)]
    found = evaluated(*SIMPLE, data=mixed)
    scores = found.speedup_scores("fermi")
    assert {score.cases for score in scores.values()} == {5}
    assert scores["oracle"].geometric_mean == pytest.approx((3.0 * 1.4 * 1.3 * 1.0 * 1.1) ** (1 / 5))
    assert found.hit_scores("fermi")["oracle"].cases == 6
    assert found.speedup_scores("tahiti") == {}


def test_nothing_along_the_dimension() -> None:
    with pytest.raises(InvalidInputError, match="along dimension 2"):
        evaluated("never", dimension=2)


def test_the_same_case_twice() -> None:
    with pytest.raises(InvalidInputError, match="sgemm on fermi is in the data twice"):
        evaluated("never", data=[*small_table(), made_up("sgemm", {2: 1.0})])


def test_no_such_method() -> None:
    with pytest.raises(InvalidInputError, match="no method 'best'; there are never, unique, published"):
        evaluated("best")


def test_nothing_is_learned_from_the_second_judge(spy: Spy) -> None:
    judged = [
        replace(each, kernel=f"judge-{each.kernel}", family=f"judge-{each.family}") for each in small_table()
    ]
    found = evaluated("spy", data=[*small_table(), *judged])
    assert {outcome.example.kernel for outcome in found.outcomes["spy"]} >= {each.kernel for each in judged}
    assert spy.fitted
    assert not any(example.kernel.startswith("judge-") for training, _ in spy.fitted for example in training)
    with pytest.raises(InvalidInputError, match="judge-sgemm is a kernel of the second judge"):
        evaluate(small_table(), judged, Plan(("spy",)))


def test_no_method_is_given_anything_of_what_it_is_to_predict(spy: Spy) -> None:
    evaluated("spy")
    assert len(spy.fitted) == 4 and len(spy.asked) == 10
    for training, asked in spy.asked:
        assert asked.family not in {example.family for example in training}
        assert asked.speedup == {} and asked.best_factor == 1
    for training, _ in spy.fitted:
        # What may be learned from has its answers.
        assert training and all(example.speedup for example in training)


def test_every_kernel_at_every_seed(spy: Spy) -> None:
    outcomes = evaluated("rolled", seeds=3).outcomes["rolled"]
    kernels = {(example.kernel, example.device) for example in small_table()}
    assert sorted((o.example.kernel, o.example.device, o.seed) for o in outcomes) == sorted(
        (*kernel, seed) for kernel in kernels for seed in range(3)
    )


@pytest.mark.parametrize("method", ["spy", "rolled"])
def test_progress_is_told(spy: Spy, method: str) -> None:
    told: list[tuple[str, int, int]] = []
    evaluate(small_table(), [], Plan((method,), seeds=2), lambda *made: told.append(made))
    count = 8 if method == "rolled" else 4
    assert told == [(method, done, count) for done in range(1, count + 1)]
