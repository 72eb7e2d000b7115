"""Tuned files as tables: what their versions are worth, how well they choose, and where the fastest changes."""

from __future__ import annotations

import math

import pandas as pd

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.evidence import evidence_of
from coarsen.opencl_bench.inputs.worth import worth_of_choice, worth_of_versions
from coarsen.opencl_bench.reporting.numbers.input_times import InputTimes


def version_table(file: TunedFile) -> pd.DataFrame:
    """Return what each version of a tuned file is worth, by the times that it was chosen by.

    Columns: `version`, `what`, `is_default`; `chosen` and `fastest`, at how many of the inputs; `over_default`,
    how many times as fast as the default it is where it is chosen, NaN where it is chosen nowhere; `without`, how
    many times as long all inputs take without it. The last two are geometric means.

    Raises:
        InvalidInputError: the file keeps no times.
    """
    rows = [
        (
            each.number,
            str(each.variant),
            each.number == file.default,
            each.chosen,
            each.best,
            each.over_default,
            each.without,
        )
        for each in worth_of_versions(file)
    ]
    columns = ["version", "what", "is_default", "chosen", "fastest", "over_default", "without"]
    return pd.DataFrame(rows, columns=columns).astype({"over_default": float, "without": float})


def input_gains(file: TunedFile) -> dict[str, float]:
    """Return what choosing by input is worth at the inputs of the tuning, by the times that were chosen by.

    `over_default` and `over_fixed` are how many times as fast as the default and as the fixed best what is chosen
    is; `share` is its share of the speed of the fastest that was tried; `over_left_open`, where it was measured,
    stands for the default with a local size that the driver chooses. All are geometric means.

    Raises:
        InvalidInputError: the file keeps no times.
    """
    worth = worth_of_choice(file)
    gains = {"over_default": worth.over_default, "over_fixed": worth.over_fixed, "share": worth.share}
    return gains if worth.over_left_open is None else {**gains, "over_left_open": worth.over_left_open}


def chooser_table(file: TunedFile) -> pd.DataFrame:
    """Return how well each way to choose a version does at inputs that it was not fitted to.

    The inputs of each size are left out in turn. Columns: `chosen_by`; `share` of the best of what was tried, with
    the 95 % interval `low` to `high`; `lowest`, the share of its 5th percentile; `hits`, the share of inputs with
    the best version or one that is equal but for noise; `over_default` and `over_fixed`. Needs
    `pip install 'coarsen[tune]'`.

    Raises:
        InvalidInputError: the file keeps no times, or inputs of less than two sizes.
    """
    # Imported late: it loads scikit-learn.
    from coarsen.opencl_bench.inputs.judged import judged

    rows = [
        (
            row.name,
            row.score.share.value,
            row.score.share.interval.low,
            row.score.share.interval.high,
            row.score.low_share,
            row.score.hits.value,
            row.score.over_default.value,
            row.score.over_fixed.value,
        )
        for row in judged(file).rows
    ]
    columns = ["chosen_by", "share", "low", "high", "lowest", "hits", "over_default", "over_fixed"]
    return pd.DataFrame(rows, columns=columns)


def input_search_table(file: TunedFile, seeds: int = 3) -> pd.DataFrame:
    """Return what searches would have found among the versions that a tuned file keeps times of, input by input.

    Replayed on the kept times: the staircase of Liu, Zhang and Shen, which ends by itself, and the guided search
    that `coarsen tune` makes, which begins with the fastest of the nearest inputs, and tries up to 40 versions
    whole. Where a search has left versions out of the tuning, this says little.

    Columns: `search`; `tried`, the share of the versions; `quality`, the fastest version's time over that of what
    was found, the geometric mean over the inputs, with its 95 % interval `low` to `high`; `lowest`, at the worst
    input. Needs `pip install 'coarsen[tune]'`.

    Args:
        file: keeps the times of its tuning.
        seeds: so many guided searches of each input, whose logarithms are averaged; at least one.

    Raises:
        InvalidInputError: the file keeps no times, or less than one seed.
    """
    # Imported late: they load scikit-learn.
    from coarsen.opencl_bench.inputs.grid_searches import Entry, mean_share, quality_of, searched
    from coarsen.opencl_bench.inputs.stage_one import SHARE
    from coarsen.opencl_bench.search.guided import GuidedSearcher
    from coarsen.opencl_bench.search.staircase import StaircaseSearcher

    if seeds < 1:
        raise InvalidInputError(f"a search takes at least one seed, not {seeds}")
    entries = Entry(StaircaseSearcher(), None), Entry(GuidedSearcher(), SHARE, tuple(range(seeds)), is_warm=True)
    rows = []
    for found in searched(file.kernel, evidence_of(file).times, entries):
        quality = quality_of([found])
        rows.append(
            (
                found.entry,
                mean_share([found]),
                quality.value,
                quality.interval.low,
                quality.interval.high,
                math.exp(min(found.log_quality)),
            )
        )
    return pd.DataFrame(rows, columns=["search", "tried", "quality", "low", "high", "lowest"])


def break_even_table(times: InputTimes) -> pd.DataFrame:
    """Return where the fastest version changes along a size.

    Columns: `before` and `after`, the versions; `low` and `high`, the ends of the bracket, at which the one and
    the other are known to be faster by more than noise; `octaves`, its width; `between`, how many sizes in it were
    measured, at which neither is.
    """
    rows = [
        (
            each.before,
            each.after,
            each.low,
            each.high,
            each.octaves,
            sum(each.low < value < each.high for value in times.values),
        )
        for each in times.break_evens
    ]
    return pd.DataFrame(rows, columns=["before", "after", "low", "high", "octaves", "between"])
