"""The options of `coarsen bench`, and the sweeps that they ask for."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.errors import InvalidInputError
from coarsen.variant.transforms import DeviceKind

if TYPE_CHECKING:
    from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
    from coarsen.tuning.engine.plan import DeviceLimits, SweepPlan
    from coarsen.tuning.records.measurement import Method
    from coarsen.tuning.search.evaluator import Budget
    from coarsen.tuning.search.searcher import Searcher
    from coarsen.tuning.workload.benchmark import Benchmark


class CodeForm(enum.StrEnum):
    """What the device is given; PTX is for packs."""

    OPENCL_C = "opencl_c"
    SPIRV = "spirv"
    PTX = "ptx"


class Caches(enum.StrEnum):
    """The state of the caches before a timed run: as the runs before left them, or flushed."""

    WARM = "warm"
    COLD = "cold"


class AgainChoice(enum.StrEnum):
    """Which stored rows are measured once more."""

    NOTHING = "nothing"
    FAILED = "failed"
    UNCERTAIN = "uncertain"
    EVERYTHING = "everything"


Kernels = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KERNEL",
        help="Names of the suite, or files: KERNEL.toml, or KERNEL.cl beside it; seventeen (the paper's), records "
        "or judge for all of a suite.  [default: seventeen]",
        show_default=False,
    ),
]
Devices = Annotated[
    list[str] | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="An index (0:1) or any part of the name; for --pack, cpu or gpu. May be repeated.  "
        "[default: the first that works]",
    ),
]
PresetName = Annotated[str, typer.Option("--preset", metavar="NAME", help="The sizes: test, cpu, gpu, paper.")]
BenchPreset = Annotated[
    str | None,
    typer.Option(
        "--preset", metavar="NAME", help="The sizes: test, cpu, gpu, paper.  [default: cpu, for --pack gpu]"
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the inputs, and of a search.")]
FormOption = Annotated[
    list[CodeForm] | None,
    typer.Option("--form", help="What a device is given; several and ptx for --pack.  [default: opencl_c]"),
]
CachesOption = Annotated[
    Caches,
    typer.Option(
        "--caches",
        help="cold flushes the caches before every timed run. Over inputs, both times what was found with cold "
        "caches too, and says where another version is the fastest then.",
    ),
]
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
PackFolder = Annotated[
    Path | None,
    typer.Option(
        "--pack",
        metavar="FOLDER",
        help="Measure nothing: write a folder that a machine without coarsen's compilers measures, by "
        "python -m coarsen.opencl_bench.run_pack FOLDER.",
    ),
]
TlsFolder = Annotated[
    Path | None,
    typer.Option(
        "--tls",
        metavar="FOLDER",
        help="For tls://: the folder with ca.pem (who vouches for scheduler and workers), cert.pem and key.pem "
        "(of this machine).  [default: what Dask's own configuration names]",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Few runs, wide intervals: a first look.")]
NoConfirmation = Annotated[
    bool,
    typer.Option("--no-confirmation", help="Don't time the best configurations once more in new processes."),
]
AgainOption = Annotated[AgainChoice, typer.Option("--again", help="Which stored rows to measure once more.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Measure on the workers of this Dask scheduler, tcp://127.0.0.1:PORT or tls://HOST:PORT. They share "
        "one store, with tls:// a PostgreSQL database, and offer devices by the names given to --device.",
    ),
]
Export = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the rows there too: .json (T4), .parquet or .csv."),
]


def method_of(quick: bool, caches: Caches) -> Method:
    """Return the method that the options ask for. Raises InvalidInputError for caches in both states."""
    from coarsen.tuning.records.measurement import QUICK, Method

    return replace(QUICK if quick else Method(), cold_cache=caches is Caches.COLD)


def device_kind(words: Sequence[str] | None) -> DeviceKind:
    """Return the kind of device that a pack is for. Raises InvalidInputError for anything but a kind."""
    kinds = dict.fromkeys(words or (DeviceKind.ANY,))
    (word,) = kinds if len(kinds) == 1 else ("",)
    if word not in tuple(DeviceKind):
        raise InvalidInputError(f"a pack is for devices of a kind: --device cpu or gpu, not {' and '.join(kinds)}")
    return DeviceKind(word)


def checked_export(path: Path | None) -> Path | None:
    """Return the file to write, once it is known to be of a known kind: a sweep takes long.

    Raises InvalidInputError.
    """
    if path is None:
        return None
    # Imported late: it loads PyArrow.
    from coarsen.opencl_bench.results.exchange.files import WRITERS

    if path.suffix not in WRITERS:
        raise InvalidInputError(f"{path}: the name must end with one of {', '.join(WRITERS)}")
    if not path.resolve().parent.is_dir():
        raise InvalidInputError(f"{path}: there is no such folder")
    if path.is_dir():
        raise InvalidInputError(f"{path}: can't be written: it is a folder")
    return path


# A search in place of the whole space: its name, its budget, and what it is asked of each plan.


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
    from coarsen.tuning.search.evaluator import Budget

    searcher = searcher_called(name)
    limit = Budget() if budget is None else parsed_budget(budget, in_seconds=True)
    return BenchSearch(searcher, limit, seed)


def parsed_budget(text: str, option: str = "--budget", *, in_seconds: bool = False) -> Budget:
    """Return the budget that a text means: `5%`, `200`, and where seconds are allowed `90s`.

    Args:
        text: of the option.
        option: its name, for a message.
        in_seconds: a search takes time at all.

    Raises:
        InvalidInputError: the text is none, or out of range.
    """
    from coarsen.tuning.search.evaluator import Budget

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
    from coarsen.base.names import did_you_mean
    from coarsen.tuning.search.searchers import SEARCHERS

    if name not in SEARCHERS:
        known = ", ".join(SEARCHERS)
        raise InvalidInputError(f"--search knows no '{name}'{did_you_mean(name, SEARCHERS)}; it knows {known}")
    return SEARCHERS[name]


@dataclass(frozen=True, slots=True)
class BenchSearch:
    """The search of each plan of one call."""

    searcher: Searcher
    budget: Budget
    seed: int

    def request_of(self, plan: SweepPlan) -> SearchRequest:
        """Return how the space of a plan is searched; a guided search expects what the launch model predicts."""
        from coarsen.devices.selection import find_device
        from coarsen.opencl_bench.sweep.engine import name_of
        from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
        from coarsen.opencl_bench.workloads.lookup import find_benchmark
        from coarsen.tuning.launch_prior import coarsening_prior
        from coarsen.tuning.search.guided import GuidedSearcher

        asked = find_benchmark(name_of(plan)), plan.preset, find_device(plan.device)
        prior = coarsening_prior(*asked) if isinstance(self.searcher, GuidedSearcher) else None
        return SearchRequest(self.searcher, self.budget, self.seed, prior)

    def rows_of(self, benchmark: Benchmark, plan: SweepPlan, limits: DeviceLimits) -> int:
        """Return how many rows a plan will have; trials without a limit apart."""
        from coarsen.opencl_bench.sweep.search_sweep import SearchRequest, planned_search_rows

        return planned_search_rows(benchmark, plan, limits, SearchRequest(self.searcher, self.budget, self.seed))
