"""Tuned files as tables: what their versions are worth, how well they choose, and where the fastest changes."""

from __future__ import annotations

import pandas as pd

from coarsen.dispatch.tuned_file import TunedFile
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
