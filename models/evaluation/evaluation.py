"""All methods on all kernels held out: what each chose, and what came of it.

examples ─▶ folds ─▶ choices of each method ─▶ outcomes ─▶ scores by device (`scores`)

Folds are strict: a held-out family is unseen on every device, at every factor and along every dimension. Versions
of one algorithm (mt and mtLocal) are one family.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.base.names import did_you_mean
from coarsen.errors import InternalError, InvalidInputError
from coarsen.features import FACTORS
from coarsen.models.evaluation.scores import (
    HitScore,
    Outcome,
    SpeedupScore,
    case_of,
    hit_score,
    log_speedup_of,
    speedup_score,
)
from coarsen.models.examples import CurveKey, Example, Fit, Predictor
from coarsen.models.held_out import is_judge, refuse_judge

if TYPE_CHECKING:
    from coarsen.models.cascade.training import CascadePredictor

# Called with the method's name, the fits done and their total.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Plan:
    """What to evaluate, and how.

    Args:
        methods: of `ENTRANTS`.
        seeds: how many times a method that draws random numbers is fitted, with the seeds 0, 1, …
        dimension: of the NDRange, along which is predicted; what is learned from may be along any.
        devices: that are predicted for, all if none is named; what is learned from may be on any.
        unseen: whether nothing of the data is learned from, the further training data alone.
        published: the factors that others predicted, by kernel and device.
        added: further methods that `methods` may name, before those of `ENTRANTS` that are called the same.
    """

    methods: tuple[str, ...]
    seeds: int = 20
    dimension: int = 0
    devices: tuple[str, ...] = ()
    unseen: bool = False
    published: Mapping[tuple[str, str], int] = field(default_factory=dict)
    added: tuple[Entrant, ...] = ()

    def entrants(self) -> tuple[Entrant, ...]:
        """Return the methods, each once. Raises InvalidInputError where there is none of a name."""
        # A pair of cascades of this evaluation's own, so that they are trained once.
        added = {each.name: each for each in (*cascade_entrants(), *self.added)}
        return tuple(added.get(name) or entrant(name) for name in dict.fromkeys(self.methods))


@dataclass(frozen=True)
class Evaluation:
    """What came of an evaluation.

    Args:
        outcomes: of each method, by its name: one for each seed and held-out kernel, device and dimension.
    """

    outcomes: Mapping[str, tuple[Outcome, ...]]

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices, in the order of the data."""
        found = (outcome.example.device for outcomes in self.outcomes.values() for outcome in outcomes)
        return tuple(dict.fromkeys(found))

    def on(self, *devices: str) -> Mapping[str, tuple[Outcome, ...]]:
        """Return the outcomes on some devices, of the methods that have any there."""
        chosen = {
            name: tuple(outcome for outcome in outcomes if outcome.example.device in devices)
            for name, outcomes in self.outcomes.items()
        }
        return {name: outcomes for name, outcomes in chosen.items() if outcomes}

    def is_measured(self, device: str) -> bool:
        """Return True if more than best factors is known of a device."""
        return any(outcome.is_measured for outcomes in self.on(device).values() for outcome in outcomes)

    def speedup_scores(self, *devices: str) -> Mapping[str, SpeedupScore]:
        """Return the score of each method on devices, together; beside those of `never` and `unique`.

        Kernels of which the best factor alone is known do not count: nobody knows what they gain.
        """
        outcomes = _measured(self.on(*devices))
        simple = {name: outcomes[name] for name in (NEVER, UNIQUE) if name in outcomes}
        return {name: speedup_score(found, _same_cases(simple, found)) for name, found in outcomes.items()}

    def hit_scores(self, *devices: str) -> Mapping[str, HitScore]:
        """Return how near each method's choices are to the best factors of devices."""
        return {name: hit_score(found) for name, found in self.on(*devices).items()}


def evaluate(
    data: Sequence[Example], further: Sequence[Example], plan: Plan, progress: Progress = lambda *_: None
) -> Evaluation:
    """Evaluate methods on data.

    Args:
        data: to be evaluated on, each kernel held out in its turn, and to be learned from unless `plan.unseen`;
            from the second judge's kernels nothing is learned.
        further: to be learned from with `plan.unseen`, in place of the data.
        plan: what to do.
        progress: told after each fit the method's name, how many fits are done, and of how many.

    Returns:
        The outcome of each method on each held-out example.

    Raises:
        InvalidInputError: nothing to evaluate along the dimension or on a device; an example is there twice; no
            such method; one of the second judge's kernels is in `further`.
    """
    refuse_judge(example.kernel for example in further)
    entrants = plan.entrants()
    evaluated = _evaluated(data, plan)
    answers = _answers(evaluated)
    training = list(further) if plan.unseen else [each for each in data if not is_judge(each.kernel)]
    folds = leave_one_family_out(evaluated, training)
    return Evaluation({each.name: tuple(_outcomes(each, folds, answers, plan, progress)) for each in entrants})


def _evaluated(data: Sequence[Example], plan: Plan) -> list[Example]:
    known = dict.fromkeys(example.device for example in data)
    for device in plan.devices:
        if device not in known:
            raise InvalidInputError(f"the data has nothing of a device '{device}'; it has {', '.join(known)}")
    chosen = [example for example in data if not plan.devices or example.device in plan.devices]
    evaluated = [example for example in chosen if example.dimension == plan.dimension]
    if not evaluated:
        raise InvalidInputError(f"no kernel of the data was coarsened along dimension {plan.dimension}")
    return evaluated


def _outcomes(
    chosen: Entrant, folds: Sequence[Fold], answers: Mapping[CurveKey, Example], plan: Plan, progress: Progress
) -> Iterator[Outcome]:
    """Yield what a method fitted on each fold, at each seed, chooses for what is held out."""
    if chosen.fit is None:
        yield from _looked_up(chosen.name, answers.values(), plan.published)
        return
    places = [(fold, seed) for fold in folds for seed in range(plan.seeds if chosen.is_random else 1)]
    predictors = chosen.fit([Fit(fold.training, seed) for fold, seed in places])
    for done, ((fold, seed), predictor) in enumerate(zip(places, predictors, strict=True), 1):
        factors = [predictor(example) for example in fold.held_out]
        progress(chosen.name, done, len(places))
        for example, factor in zip(fold.held_out, factors, strict=True):
            yield Outcome(answers[example.place], seed, factor)


def _looked_up(
    name: str, evaluated: Iterable[Example], published: Mapping[tuple[str, str], int]
) -> Iterator[Outcome]:
    for example in evaluated:
        place = example.kernel, example.device
        if name == ORACLE:
            yield Outcome(example, 0, example.best_factor)
        elif name == PUBLISHED and place in published:
            yield Outcome(example, 0, published[place])


def _answers(evaluated: Sequence[Example]) -> dict[CurveKey, Example]:
    answers: dict[CurveKey, Example] = {}
    for example in evaluated:
        if example.place in answers:
            raise InvalidInputError(f"{example.kernel} on {example.device} is in the data twice")
        answers[example.place] = example
    return answers


def _measured(outcomes: Mapping[str, Sequence[Outcome]]) -> Mapping[str, Sequence[Outcome]]:
    """Return those whose speed-up is known, of the methods that have any."""
    found = {name: [outcome for outcome in each if outcome.is_measured] for name, each in outcomes.items()}
    return {name: each for name, each in found.items() if each}


def _same_cases(
    others: Mapping[str, Sequence[Outcome]], outcomes: Sequence[Outcome]
) -> Mapping[str, Sequence[Outcome]]:
    """The others' outcomes in the cases that a method has outcomes in."""
    cases = {case_of(outcome) for outcome in outcomes}
    return {name: [outcome for outcome in found if case_of(outcome) in cases] for name, found in others.items()}


@dataclass(frozen=True)
class Fold:
    """Examples to learn from, and others to predict: of other families, and without their answers."""

    training: tuple[Example, ...]
    held_out: tuple[Example, ...]

    def __post_init__(self) -> None:
        seen = {example.family for example in self.training} & {example.family for example in self.held_out}
        if seen:
            raise InternalError(f"held out and learned from at once: {', '.join(sorted(seen))}")
        if any(example.speedup or example.best_factor != 1 for example in self.held_out):
            raise InternalError("the answers of held-out kernels are visible")


def leave_one_family_out(evaluated: Sequence[Example], training: Sequence[Example]) -> tuple[Fold, ...]:
    """Return a fold for each family that is evaluated; those that nothing could be learned of anyway share one.

    Args:
        evaluated: to be predicted.
        training: to be learned from, but for the family that is held out.

    Returns:
        folds in which every evaluated example is held out once, in the order of the families.
    """
    learned = {example.family for example in training}
    families = dict.fromkeys(example.family for example in evaluated)
    unknown = frozenset(family for family in families if family not in learned)
    groups = [frozenset([family]) for family in families if family in learned]
    return tuple(
        Fold(
            tuple(example for example in training if example.family not in group),
            tuple(example.blind() for example in evaluated if example.family in group),
        )
        for group in ([unknown] if unknown else []) + groups
    )


# The methods that can be evaluated, by name, and how each is fitted.

# The factor by device and dimension.
_Factors = Mapping[tuple[str, int], int]


def one_factor(factors: _Factors) -> Predictor:
    """Return what chooses the device's factor whatever the kernel, 1 where none is known."""
    return lambda example: factors.get((example.device, example.dimension), 1)


def fit_unique(fits: Sequence[Fit]) -> Iterable[Predictor]:
    """Yield for each fit one factor for every kernel, the baseline of Magni et al. (PACT 2014, section 7).

    It is the factor with the best geometric mean over the training kernels of the device, along the dimension in
    question; where only best factors are known, the most common of them. The smaller one of equals. On a device
    that it has no training examples of, it stays at 1.
    """
    for fit in fits:
        groups: defaultdict[tuple[str, int], list[Example]] = defaultdict(list)
        for example in fit.training:
            groups[example.device, example.dimension].append(example)
        yield one_factor({place: best_single_factor(examples) for place, examples in groups.items()})


def best_single_factor(examples: Sequence[Example]) -> int:
    """Return the factor that is best for all of them together; see `fit_unique`."""
    measured = [example for example in examples if example.speedup]
    if not measured:
        counts = Counter(example.best_factor for example in examples)
        return min(counts, key=lambda factor: (-counts[factor], factor))
    gains = {factor: sum(log_speedup_of(example, factor) for example in measured) for factor in FACTORS}
    return min(gains, key=lambda factor: (-gains[factor], factor))


@dataclass(frozen=True)
class Entrant:
    """A method in the evaluation.

    Args:
        name: by which `Plan.methods` names it.
        description: for a reader of the table.
        fit: yields a predictor for each fit, in their order; none may learn from another's examples. None for
            those that are no predictors, since they look at the answer or at a table.
        is_random: whether the seed matters.
    """

    name: str
    description: str
    fit: Callable[[Sequence[Fit]], Iterable[Predictor]] | None
    is_random: bool = False


def cascade_entrants(progress: Callable[[int, int], None] | None = None) -> tuple[Entrant, Entrant]:
    """Return the cascade as it answers, and as it answers with `--risk cautious`.

    Evaluated one after the other they are trained once. `progress` is told how far the training is.
    """
    fitted: list[CascadePredictor] = []

    def train(fits: Sequence[Fit]) -> list[CascadePredictor]:
        # Imported late: it loads PyTorch.
        from coarsen.models.cascade.training import fit_predictors, unobserved

        return fit_predictors(fits, progress or unobserved)

    def fit(fits: Sequence[Fit]) -> Iterable[Predictor]:
        fitted[:] = train(fits)
        return tuple(fitted)

    def fit_cautious(fits: Sequence[Fit]) -> Iterable[Predictor]:
        return [replace(each, is_cautious=True) for each in fitted or train(fits)]

    return (
        Entrant("cascade", "the published model, of one device", fit, is_random=True),
        Entrant("cautious", "the same, but 1 where a step is doubtful", fit_cautious, is_random=True),
    )


NEVER, UNIQUE, ORACLE, PUBLISHED = "never", "unique", "oracle", "published"
ENTRANTS: Mapping[str, Entrant] = MappingProxyType(
    {
        entrant.name: entrant
        for entrant in (
            Entrant(NEVER, "no coarsening", lambda fits: (one_factor({}) for _ in fits)),
            Entrant(UNIQUE, "one factor for all kernels, the best for those it learned from", fit_unique),
            Entrant(PUBLISHED, "what the authors of table 5 predicted", None),
            cascade_entrants()[0],
            cascade_entrants()[1],
            Entrant(ORACLE, "the best factor, known afterwards", None),
        )
    }
)
"""The methods of an evaluation, by name."""


def entrant(name: str) -> Entrant:
    """Return the entrant of this name.

    Raises InvalidInputError where there is none; the message lists the names.
    """
    if name not in ENTRANTS:
        raise InvalidInputError(
            f"no method '{name}'{did_you_mean(name, ENTRANTS)}; there are {', '.join(ENTRANTS)}"
        )
    return ENTRANTS[name]
