"""`coarsen bench --search`: a search in place of the whole space."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.search_options import parsed_budget
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.search.evaluator import Budget
    from coarsen.opencl_bench.search.searcher import Searcher
    from coarsen.opencl_bench.sweep.plan import DeviceLimits, SweepPlan
    from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
    from coarsen.opencl_bench.workloads.benchmark import Benchmark


class PriorChoice(enum.StrEnum):
    """What a search expects before anything is measured."""

    MODEL = "model"
    NONE = "none"


SearchName = Annotated[
    str | None,
    typer.Option(
        "--search",
        metavar="NAME",
        help="Search the space instead of measuring it all: additive, additive-paper, guided, "
        "staircase, random, exhaustive.",
    ),
]
SearchBudget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="NUMBER|SHARE%|SECONDSs",
        help="With --search: how many configurations it may try, failures too, which share of the space, or for "
        "how long.  [default: until it ends by itself]",
    ),
]
SearchSeed = Annotated[
    int | None,
    typer.Option(
        "--search-seed", metavar="NUMBER", min=0, help="With --search: its seed.  [default: that of --seed]"
    ),
]
SearchPrior = Annotated[
    PriorChoice | None,
    typer.Option(
        "--prior",
        help="With --search guided: what it expects before anything is measured.  [default: model]",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of a search, as they were given."""

    name: str | None
    budget: str | None
    seed: int | None
    prior: PriorChoice | None

    def checked(self, inputs_seed: int, sample: int | None, scheduler: str | None) -> BenchSearch | None:
        """Return the search that they ask for; None where the whole space is measured.

        Args:
            inputs_seed: of `--seed`.
            sample: of `--sample`.
            scheduler: of `--scheduler`.

        Raises:
            InvalidInputError: an unknown searcher, a budget that is none, options that do not go together.
        """
        if self.name is None:
            self._refuse_without_search()
            return None
        if sample is not None:
            raise InvalidInputError(
                "--sample does not go with --search, which draws by itself: give it a --budget"
            )
        if scheduler is not None:
            raise InvalidInputError("--search does not run on a cluster: leave --scheduler out")
        return self._search(inputs_seed if self.seed is None else self.seed)

    def _refuse_without_search(self) -> None:
        given = {"--budget": self.budget, "--search-seed": self.seed, "--prior": self.prior}
        for option, value in given.items():
            if value is not None:
                raise InvalidInputError(f"{option} goes with --search NAME, the search that it is for")

    def _search(self, seed: int) -> BenchSearch:
        from coarsen.opencl_bench.search.evaluator import Budget
        from coarsen.opencl_bench.search.guided import GuidedSearcher

        name = self.name or ""
        searcher = searcher_called(name)
        is_guided = isinstance(searcher, GuidedSearcher)
        if self.prior is PriorChoice.MODEL and not is_guided:
            raise InvalidInputError(f"--prior model goes with --search guided: {name} expects nothing")
        budget = Budget() if self.budget is None else parsed_budget(self.budget, in_seconds=True)
        return BenchSearch(searcher, budget, seed, is_guided and self.prior is not PriorChoice.NONE)


def searcher_called(name: str) -> Searcher:
    """Return the searcher of this name. Raises InvalidInputError where there is none."""
    from coarsen.near_names import did_you_mean
    from coarsen.opencl_bench.search.searchers import SEARCHERS

    if name not in SEARCHERS:
        known = ", ".join(SEARCHERS)
        raise InvalidInputError(f"--search knows no '{name}'{did_you_mean(name, SEARCHERS)}; it knows {known}")
    return SEARCHERS[name]


@dataclass(frozen=True, slots=True)
class BenchSearch:
    """The search of each plan of one call. `asks_model`: what the model predicts is what a search expects."""

    searcher: Searcher
    budget: Budget
    seed: int
    asks_model: bool

    def request_of(self, plan: SweepPlan) -> SearchRequest:
        """Return how the space of a plan is searched."""
        from coarsen.devices.selection import find_device
        from coarsen.opencl_bench.sweep.engine import name_of
        from coarsen.opencl_bench.sweep.model_prior import model_prior
        from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
        from coarsen.opencl_bench.workloads.lookup import find_benchmark

        prior = model_prior(find_benchmark(name_of(plan)), find_device(plan.device)) if self.asks_model else None
        return SearchRequest(self.searcher, self.budget, self.seed, prior)

    def rows_of(self, benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits) -> int:
        """Return how many rows a plan will have; trials without a limit apart."""
        from coarsen.opencl_bench.sweep.search_sweep import SearchRequest, planned_search_rows

        return planned_search_rows(benchmark, plan, limits, SearchRequest(self.searcher, self.budget, self.seed))
