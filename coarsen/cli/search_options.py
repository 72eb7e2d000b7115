"""A search in place of the whole space: its name, its budget, and what it is asked of each plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.search.budget import Budget
    from coarsen.opencl_bench.search.searcher import Searcher
    from coarsen.opencl_bench.sweep.plan import SweepPlan
    from coarsen.opencl_bench.sweep.points import DeviceLimits
    from coarsen.opencl_bench.sweep.search_request import SearchRequest
    from coarsen.opencl_bench.workloads.benchmark import Benchmark


def bench_search(
    name: str | None, budget: str | None, seed: int, scheduler: str | None, *, is_sample: bool
) -> BenchSearch | None:
    """Return the search that the options ask for; None where the whole space is measured.

    Args:
        name: of `--search`.
        budget: of `--budget`.
        seed: what it draws from.
        scheduler: of `--scheduler`.
        is_sample: whether the space is one that is drawn.

    Raises:
        InvalidInputError: an unknown searcher, a budget that is none, options that do not go together.
    """
    if name is None:
        if budget is not None:
            raise InvalidInputError("--budget goes with --search NAME, the search that it is for")
        return None
    if is_sample:
        raise InvalidInputError(
            "--space sample=… does not go with --search, which draws by itself: give it a --budget"
        )
    if scheduler is not None:
        raise InvalidInputError("--search does not run on a cluster: leave --scheduler out")
    from coarsen.opencl_bench.search.guided import GuidedSearcher
    from coarsen.opencl_bench.search.searchers import Budget

    searcher = searcher_called(name)
    limit = Budget() if budget is None else parsed_budget(budget, in_seconds=True)
    return BenchSearch(searcher, limit, seed, isinstance(searcher, GuidedSearcher))


def parsed_budget(text: str, option: str = "--budget", *, in_seconds: bool = False) -> Budget:
    """Return the budget that a text means: `5%`, `200`, and where seconds are allowed `90s`.

    Args:
        text: of the option.
        option: its name, for a message.
        in_seconds: a search takes time at all.

    Raises:
        InvalidInputError: the text is none, or out of range.
    """
    from coarsen.opencl_bench.search.budget import Budget

    words = text.strip()
    try:
        if words.endswith("%"):
            return Budget(share=float(words.removesuffix("%")) / 100)
        if in_seconds and words.endswith("s"):
            return Budget(seconds=float(words.removesuffix("s")))
        return Budget(trials=int(words))
    except ValueError:
        kinds = "a share such as 5%, seconds such as 90s," if in_seconds else "a share such as 5%"
        raise InvalidInputError(f"{option} is {kinds} or a whole number, not '{text}'") from None


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
        from coarsen.opencl_bench.sweep.search_request import SearchRequest
        from coarsen.opencl_bench.workloads.lookup import find_benchmark

        prior = model_prior(find_benchmark(name_of(plan)), find_device(plan.device)) if self.asks_model else None
        return SearchRequest(self.searcher, self.budget, self.seed, prior)

    def rows_of(self, benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits) -> int:
        """Return how many rows a plan will have; trials without a limit apart."""
        from coarsen.opencl_bench.sweep.search_request import SearchRequest
        from coarsen.opencl_bench.sweep.search_sweep import planned_search_rows

        return planned_search_rows(benchmark, plan, limits, SearchRequest(self.searcher, self.budget, self.seed))
