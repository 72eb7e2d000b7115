"""The options of `coarsen bench`, and the sweeps that they ask for."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.output import check_writable
from coarsen.errors import InvalidInputError
from coarsen.variant.transforms import DeviceKind

if TYPE_CHECKING:
    from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
    from coarsen.tuning.search.evaluator import Budget
    from coarsen.tuning.search.searcher import Searcher


class CodeForm(enum.StrEnum):
    """What the device is given."""

    OPENCL_C = "opencl_c"
    SPIRV = "spirv"


def device_kind(words: Sequence[str] | None) -> DeviceKind:
    """Return the kind of device that a pack is for. Raises InvalidInputError for anything but a kind."""
    kinds = dict.fromkeys(words or (DeviceKind.ANY,))
    (word,) = kinds if len(kinds) == 1 else ("",)
    if word not in tuple(DeviceKind):
        raise InvalidInputError(f"a pack is for devices of a kind: --device cpu or gpu, not {' and '.join(kinds)}")
    return DeviceKind(word)


def check_export(path: Path) -> None:
    """Check that rows can be written there: a sweep takes long. Raises InvalidInputError."""
    # Imported late: it loads PyArrow.
    from coarsen.opencl_bench.results.exchange.files import WRITERS

    if path.suffix not in WRITERS:
        raise InvalidInputError(f"{path}: the name must end with one of {', '.join(WRITERS)}")
    check_writable(path)


# A search in place of the whole space: its name, its budget, and what it is asked of each plan.


def bench_search(name: str | None, budget: str | None, seed: int, *, is_sample: bool) -> SearchRequest | None:
    """Return the search that the options ask for; None where the whole space is measured.

    Args:
        name: of `--search`.
        budget: of `--budget`.
        seed: what it draws from.
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
    from coarsen.opencl_bench.sweep.search_sweep import SearchRequest
    from coarsen.tuning.search.evaluator import Budget

    searcher = searcher_called(name)
    limit = Budget() if budget is None else parsed_budget(budget, in_seconds=True)
    return SearchRequest(searcher, limit, seed)


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
    from coarsen.opencl_bench.sweep.search_sweep import SEARCHERS

    if name not in SEARCHERS:
        known = ", ".join(SEARCHERS)
        raise InvalidInputError(f"--search knows no '{name}'{did_you_mean(name, SEARCHERS)}; it knows {known}")
    return SEARCHERS[name]
