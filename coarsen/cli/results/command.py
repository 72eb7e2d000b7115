"""`coarsen results`: measured rows and remembered choices, shown, drawn, copied and forgotten.

ls best show plot       look at them
export import           files, other stores
forget                  choices, so that launches are tuned again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.base.names import did_you_mean
from coarsen.cli.declared import flags_of, takes
from coarsen.cli.output import counted, print_json, print_line
from coarsen.cli.results.plot import PLOTTING, ResultsOptions
from coarsen.cli.stores import STORE_PACKAGES, check_packages, choice_key, existing_store, row_or_choice
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.opencl_bench.results.results import Results
    from coarsen.tuning.store.database import Store


NEEDED_PACKAGES = ("sqlalchemy", "pandas", "pyarrow")
COMPACT_SUFFIX = ".compact.parquet"
_SQLITE = b"SQLite format 3\0"


@takes(ResultsOptions)
def results(asked: ResultsOptions) -> None:
    """Show, plot, export, import or forget what was measured and what tuning remembers.

    ls: the rows and choices in the store; best: the best configuration of each kernel on each device;
    show KEY: a row or a choice in full, with the lines to paste; show FILE.tuned.json: its rules and versions;
    plot: speed-up against factor, or a page; export FILE: rows as .parquet,
    .jsonl or .csv (for spreadsheets alone), or choices as .json; import FILE...: such files, or another store;
    forget KEY...: a kernel whose choice is forgotten is tuned again.

    Of a kernel that was edited, only the rows of the version that was measured last count. Nothing is lost in an
    export, but in one to FILE.compact.parquet: what is found again, sums, and host times. What is there already is
    left as it is by an import; of two choices for the same launches, the one that was found later is kept. Nothing
    is copied if a file can't be read.

    Example: coarsen results ls --device intel

    Example: coarsen results plot --kernel sgemm -o sgemm.svg

    Example: coarsen results export choices.json --remembered
    """
    if asked.action not in _ACTIONS:
        hint, known = did_you_mean(asked.action, _ACTIONS), ", ".join(_ACTIONS)
        raise InvalidInputError(f"results has no action '{asked.action}'{hint}; it has {known}")
    run, taken, most = _ACTIONS[asked.action]
    for each in fields(ResultsOptions):
        flag, value = flags_of(each)[-1], getattr(asked, each.name)
        if value and value != each.default and flag not in (*taken, "--store", "--action", "--words"):
            raise InvalidInputError(f"{flag} is not for 'coarsen results {asked.action}'")
    count = len(asked.words or ())
    if most is not None and count != most:
        raise InvalidInputError(f"coarsen results {asked.action} takes {_COUNTED[most]}, not {count}")
    run(asked)


def _ls(asked: ResultsOptions) -> None:
    packages = STORE_PACKAGES if asked.remembered else NEEDED_PACKAGES
    with existing_store(asked.store, packages) as opened:
        from coarsen.cli.results.text import choices_as_data, print_choices

        choices = asked.choices(opened)
        if asked.remembered:
            if asked.is_json:
                print_json(choices_as_data(choices, opened.location))
            else:
                print_choices(choices, opened.location)
            return
        from coarsen.cli.results.text import print_summaries, summary_as_data, without_history
        from coarsen.opencl_bench.results.best import summaries

        found = summaries(without_history(asked.rows(opened)))
        if asked.is_json:
            cases = [summary_as_data(each) for each in found]
            print_json({"cases": cases, **choices_as_data(choices, opened.location)})
            return
        print_summaries(found, opened.location)
        if choices:
            print_line()
            print_choices(choices, opened.location)


def _best(asked: ResultsOptions) -> None:
    from coarsen.cli.results.text import print_best

    check_packages(PLOTTING, "plotting")
    found = _chosen(asked)
    _say_presets(found)
    print_best(found.best(), is_json=asked.is_json)


def _plot(asked: ResultsOptions) -> None:
    from coarsen.cli.results import plot

    check_packages(PLOTTING, "plotting")
    plot.check(asked)
    found = _chosen(asked)
    if plot.is_page(asked):
        plot.write_page(found, asked)
    else:
        _say_presets(found)
        plot.draw_curves(found, asked)


def _chosen(asked: ResultsOptions) -> Results:
    """The matching measurements of files, or else of a store; says how many outdated ones there are."""
    from coarsen.cli.results.text import say_left_out
    from coarsen.opencl_bench.results.results import read_results, stored_results

    files = asked.source or ()
    if asked.store is not None and files:
        raise InvalidInputError("--store and --from are two sources; give one")
    everything = read_results(*files) if files else stored_results(asked.store)
    named = {"devices": tuple(asked.device or ()), "benchmarks": tuple(asked.kernel or ())}
    chosen = everything.only(**named, preset=asked.preset)
    say_left_out(len(chosen.earlier))
    return chosen


def _say_presets(found: Results) -> None:
    """Say which presets are not shown, where kernels were measured at several."""
    from coarsen.cli.messages import note
    from coarsen.opencl_bench.results.best import preset_notes

    for sentence in preset_notes(found.measurements):
        note(sentence)


def _show(asked: ResultsOptions) -> None:
    word = (asked.words or [""])[0]
    if word.endswith(".json"):
        _show_tuned(Path(word), asked)
        return
    with existing_store(asked.store, NEEDED_PACKAGES) as opened:
        row, choice = row_or_choice(opened, word)
        if row is not None:
            from coarsen.cli.results.text import print_measurement
            from coarsen.tuning.records.measurement_json import measurement_to_json

            if asked.is_json:
                print_json(measurement_to_json(row))
            else:
                print_measurement(row)
        elif choice is not None:
            from coarsen.cli.results.text import print_choice
            from coarsen.tuning.remembered.choice_json import choice_to_json

            if asked.is_json:
                print_json(choice_to_json(choice))
            else:
                print_choice(choice)


def _show_tuned(path: Path, asked: ResultsOptions) -> None:
    """Show by which rules a tuned file chooses a version, and what each version is worth."""
    # Imported late: they load NumPy.
    from coarsen.cli.tune.tuned_text import print_tuned_file
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.opencl_bench.inputs.evidence import found_over_inputs
    from coarsen.tuning.layout_choices import is_of_one_size
    from coarsen.variant.variant_json import variant_to_json

    tuned = TunedFile.read(path)
    found = None if is_of_one_size(tuned) or not tuned.evidence else found_over_inputs(tuned)
    if not asked.is_json:
        print_tuned_file(tuned, found)
        return
    content = {name: value for name, value in tuned.to_json().items() if name != "evidence"}
    worth = () if found is None else found.worth
    content["worth"] = [{**asdict(each), "variant": variant_to_json(each.variant)} for each in worth]
    if found is not None:
        content["choice"] = asdict(found.choice)
        content["cold_cache"] = found.is_cold
    print_json(content)


def _export(asked: ResultsOptions) -> None:
    file = Path((asked.words or [""])[0])
    if asked.remembered:
        _export_choices(asked, file)
        return
    is_compact = file.name.endswith(COMPACT_SUFFIX)
    with existing_store(asked.store, NEEDED_PACKAGES) as opened:
        from coarsen.opencl_bench.results.exchange.files import write_compact_table, write_results

        rows = list(asked.rows(opened))
        if not rows:
            raise InvalidInputError(f"there is no such row in {opened.location}; nothing was written")
        (write_compact_table if is_compact else write_results)(rows, file)
    print_line(f"{counted(len(rows), 'row')} in {file}")


def _export_choices(asked: ResultsOptions, file: Path) -> None:
    if asked.preset is not None:
        raise InvalidInputError("--preset is for rows: leave out --remembered")
    with existing_store(asked.store) as opened:
        from coarsen.tuning.remembered.choice_json import write_choices

        choices = asked.choices(opened)
        if not choices:
            raise InvalidInputError(f"there is no such choice in {opened.location}; nothing was written")
        write_choices(choices, file)
    print_line(f"{counted(len(choices), 'choice')} in {file}")


def _import(asked: ResultsOptions) -> None:
    if not asked.words:
        raise InvalidInputError("coarsen results import takes files, or other stores")
    check_packages(NEEDED_PACKAGES)
    from coarsen.opencl_bench.results.exchange.files import read_results
    from coarsen.tuning.remembered.choice_json import read_choices
    from coarsen.tuning.store.database import open_store

    stores = [word for word in asked.words if _is_store(word)]
    files = [Path(word) for word in asked.words if word not in stores]
    choices = {file: read_choices(file) for file in files if file.suffix == ".json"}
    rows = {file: read_results(file) for file in files if file not in choices}
    with open_store(asked.store) as opened:
        for file, kept in choices.items():
            new = opened.remembered.put_later(kept)
            print_line(
                f"{file}: {counted(len(kept), 'choice')}, {new} remembered, "
                f"{len(kept) - new} no later than what is there"
            )
        for file, read in rows.items():
            print_line(_copied(str(file), len(read), opened.add_all(read)))
        for word in stores:
            _merge(opened, word)
        print_line(f"All is in {opened.location}")


def _merge(opened: Store, other: str) -> None:
    """Copy the rows of another store, which isn't changed."""
    with existing_store(other, NEEDED_PACKAGES) as source:
        if opened.location == source.location:
            raise InvalidInputError(f"{opened.location} can't be merged with itself")
        print_line(_copied(source.location, source.count(), opened.add_all(source.measurements())))


def _is_store(word: str) -> bool:
    """Return True for a file that is a store."""
    path = Path(word)
    if not path.is_file():
        return path.suffix in (".sqlite", ".db")
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _copied(source: str, rows: int, new: int) -> str:
    return f"{source}: {counted(rows, 'row')}, {new} new, {rows - new} there already"


def _forget(asked: ResultsOptions) -> None:
    if sum((bool(asked.words), bool(asked.kernel or asked.device), asked.every)) != 1:
        raise InvalidInputError("say what to forget: keys, or --kernel and --device, or --all")
    from coarsen.layer.unit import forget_kernels, shelf_folder
    from coarsen.tuning.store.place import store_file

    # `coarsen run` doesn't ask the store, which may be gone.
    folder, file = shelf_folder(asked.store), store_file(asked.store)
    is_by_store = bool(asked.words or asked.device)
    units = 0 if is_by_store else forget_kernels(folder, None if asked.every else {*(asked.kernel or ())})
    if units and not file.exists():
        print_line(f"{counted(units, 'file')} removed from {folder.parent}; there is no store at {file}")
        return
    from coarsen.tuning.store.schema import Filter

    with existing_store(asked.store) as opened:
        table = opened.remembered
        before = {kernel: set(table.keys(Filter(kernel=kernel))) for kernel in table.kernels()}
        if asked.words:
            keys = dict.fromkeys(choice_key(opened, word) for word in asked.words)
            forgotten = table.forget_keys(list(keys))
        else:
            forgotten = sum(table.forget(each) for each in asked.filters())
        if not (forgotten or units):
            kernels = table.kernels()
            near = next((did_you_mean(name, kernels) for name in asked.kernel or () if name not in kernels), "")
            raise InvalidInputError(f"nothing of that is remembered in {opened.location}{near}")
        changed = {kernel for kernel, keys in before.items() if set(table.keys(Filter(kernel=kernel))) != keys}
        forget_kernels(folder, changed)
        print_line(f"{counted(forgotten, 'choice')} forgotten in {opened.location}")


_LOOKED_FOR = ("--kernel", "--device", "--preset")
_PLOTTED = (*_LOOKED_FOR, "--from", "--output", "--by", "--choice", "--format")
# What each action does, the options that it takes besides --store, and how many words; None for any number.
_ACTIONS: Mapping[str, tuple[Callable[[ResultsOptions], None], tuple[str, ...], int | None]] = MappingProxyType(
    {
        "ls": (_ls, (*_LOOKED_FOR, "--remembered", "--format"), 0),
        "best": (_best, (*_LOOKED_FOR, "--from", "--format"), 0),
        "show": (_show, ("--format",), 1),
        "plot": (_plot, _PLOTTED, 0),
        "export": (_export, (*_LOOKED_FOR, "--remembered"), 1),
        "import": (_import, (), None),
        "forget": (_forget, ("--kernel", "--device", "--all"), None),
    }
)
_COUNTED = ("nothing else", "one KEY or FILE")
