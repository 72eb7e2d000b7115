"""`coarsen tune`: the fastest variant of a described kernel, searched for some seconds and remembered."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coarsen.cli.bench_options import PresetName
from coarsen.cli.messages import note
from coarsen.cli.options import OutputFormat, StoreUrl
from coarsen.cli.output import Format, print_line
from coarsen.cli.space_options import ArrayLayouts, ArrayOrders
from coarsen.cli.stores import check_packages
from coarsen.cli.tune_inputs_options import (
    ColdCheck,
    ColdInputs,
    Inputs,
    InputsBudget,
    InputsFrom,
    InputsRequest,
    InputsSearch,
    MostVersions,
    TunedOutput,
)
from coarsen.cli.tune_layouts import AllLayouts, LayoutRequest, Runs, laid_out_as_data, laid_out_fields, tuned_path
from coarsen.errors import InvalidInputError, VerificationError

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.drop_in.kernel_facts import KernelFacts
    from coarsen.drop_in.remembering import Kept
    from coarsen.opencl_bench.tuning.settings import Tune
    from coarsen.opencl_bench.tuning.tuned import Tuned
    from coarsen.opencl_bench.workloads.benchmark import Benchmark
    from coarsen.variant.transforms import Transforms

DEFAULT_PRESET = "cpu"
DEFAULT_SECONDS = 20.0
DEFAULT_LEVELS = "item,group"

KernelToTune = Annotated[
    list[str],
    typer.Argument(
        metavar="KERNEL",
        help="KERNEL.toml, or KERNEL.cl beside it: described (`coarsen bench init`) or captured; or a name of the "
        "suite.",
        show_default=False,
    ),
]
TunedDevice = Annotated[
    str | None,
    typer.Option(
        "-d",
        "--device",
        metavar="NAME",
        help="An index (0:1) or any part of the name.  [default: the first that works]",
    ),
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="SECONDS", help="The time for all, timing the best again included.")
]
Trials = Annotated[
    int | None,
    typer.Option("--trials", metavar="NUMBER", help="The most variants that are tried.  [default: no limit]"),
]
TuneSeed = Annotated[int, typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of the search.")]
TuneLevels = Annotated[
    str,
    typer.Option("--levels", metavar="LEVEL,...", help="Merge work-items (item), work-groups (group), or either."),
]
NoWideAccesses = Annotated[
    bool, typer.Option("--no-wide-accesses", help="Merge no accesses to consecutive addresses.")
]
NoDistinct = Annotated[
    bool, typer.Option("--no-distinct", help="Never take it that arguments lead to distinct memory.")
]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is tuned: a benchmark at a preset on a device; `name` is what a plan calls it."""

    benchmark: Benchmark
    name: str | Path
    preset: str
    device: DeviceDescription

    @property
    def options(self) -> tuple[str, ...]:
        """The build options of its program, its macros at their first values."""
        macros = (f"-D{macro}={value}" for macro, value in self.benchmark.own_definitions)
        return (*self.benchmark.build_options, *macros)

    @property
    def facts(self) -> KernelFacts:
        """The facts of its kernel in a program that is made from the same text."""
        from coarsen.drop_in.kernel_facts import kernel_facts

        return kernel_facts(self.benchmark.source, self.benchmark.kernel, self.options, self.device.macros)

    @property
    def transforms(self) -> Transforms:
        """Those that a `coarsen.Program` allows."""
        from coarsen.variant.transforms import Transforms, device_kind_of

        return Transforms(device_kind=device_kind_of(self.device.device_types))


def tune(
    kernels: KernelToTune,
    device: TunedDevice = None,
    preset: PresetName = DEFAULT_PRESET,
    seconds: Seconds = DEFAULT_SECONDS,
    trials: Trials = None,
    seed: TuneSeed = 0,
    levels: TuneLevels = DEFAULT_LEVELS,
    no_wide_accesses: NoWideAccesses = False,
    no_distinct: NoDistinct = False,
    inputs: Inputs = None,
    inputs_from: InputsFrom = None,
    most: MostVersions = None,
    search: InputsSearch = None,
    budget: InputsBudget = None,
    cold_cache: ColdInputs = False,
    cold_check: ColdCheck = False,
    layouts: AllLayouts = False,
    layout: ArrayLayouts = None,
    order: ArrayOrders = None,
    runs: Runs = None,
    output: TunedOutput = None,
    store: StoreUrl = None,
    output_format: OutputFormat = Format.TABLE,
) -> None:
    """Search the best variant of a kernel on a device for some seconds, and remember it.

    Every variant is verified against the kernel as it is, and the best are timed again in new processes. Programs
    made with coarsen.Program use what is remembered for launches of such sizes.

    A file that declares inputs is tuned over these: for each launch a tree then chooses one of several versions by
    its arguments. What is found is a tuned file, for coarsen.Program(..., tuned=FILE) and for `coarsen tune show`,
    `coarsen tune evaluate` and `coarsen tune export`; `coarsen tune init` writes a description to begin with, and
    --inputs-from takes the launches of a recorded program for its inputs. --search and --budget say how versions
    are searched, --cold-check looks at what is found with cold caches.

    With --layouts, --layout or --order, arrays may lie otherwise, too: the best of that is told beside the best
    without, with what converting the arrays took the host and after how many runs it pays. Both go into a tuned
    file: coarsen.LaidOutProgram(..., tuned=FILE) takes the one, every other program the other.

    Example: coarsen tune captured/sgemm.toml --device intel --seconds 60
    """
    check_packages()
    # Imported late: they load the store's packages and the suite.
    from coarsen.cli.bench_inputs import benchmarks_of, refuse_misspelt_subcommand
    from coarsen.cli.main import SUBCOMMANDS
    from coarsen.cli.tune_inputs import check_output, description_over_inputs, tune_inputs
    from coarsen.cli.tune_report import print_tuned, tuned_as_data
    from coarsen.opencl_bench.tuning.described_tuning import tune_described
    from coarsen.opencl_bench.tuning.settings import Tune

    refuse_misspelt_subcommand("tune", kernels, SUBCOMMANDS["tune"])
    if len(kernels) > 1:
        raise InvalidInputError(f"one kernel is tuned at a time, not {len(kernels)}")
    (kernel,) = kernels
    wanted = LayoutRequest(layouts, tuple(layout or ()), tuple(order or ()), runs)
    if runs is not None and not wanted.is_asked_for:
        raise InvalidInputError("--runs goes with --layouts, --layout and --order")
    request = InputsRequest(
        inputs,
        most,
        output,
        seed,
        store,
        inputs_from,
        distinct=not no_distinct,
        search=search,
        budget=budget,
        is_cold=cold_cache,
        cold_check=cold_check,
    )
    if not wanted.is_asked_for:
        over_inputs = description_over_inputs(kernel, request)
    elif replace(request, output=None).is_asked_for:
        raise InvalidInputError(
            "layouts are tuned at one size: leave out --inputs, --inputs-from and --most, --search and --budget, "
            "--cold-cache and --cold-check"
        )
    else:
        check_output(output)
        over_inputs = None
    if over_inputs is not None:
        given = preset, seconds, trials, levels, no_wide_accesses
        if given != (DEFAULT_PRESET, DEFAULT_SECONDS, None, DEFAULT_LEVELS, False):
            raise InvalidInputError(
                "--preset, --seconds, --trials, --levels and --no-wide-accesses are for tuning at one size, "
                "not over inputs"
            )
        tune_inputs(over_inputs, partial(_device, device), request, output_format)
        return
    settings = Tune(
        seconds=seconds,
        trials=trials,
        seed=seed,
        levels=tuple(word.strip() for word in levels.split(",")),
        wide_accesses=not no_wide_accesses,
        distinct=not no_distinct,
        store=store,
    )
    ((benchmark, name),) = benchmarks_of([kernel])
    benchmark.preset(preset)
    path = tuned_path(name, output) if wanted.is_asked_for else None
    subject = Subject(benchmark, name, preset, _device(device))
    facts, arrays = subject.facts, wanted.choices(benchmark, subject.device)
    tuned = tune_described(
        name, benchmark, preset, subject.device, subject.transforms, facts.groups_matter, settings, arrays
    )
    kept = _remember(tuned, subject, facts, settings)
    file = _tuned_file(tuned, subject, path) if arrays else None
    if output_format is Format.JSON:
        from coarsen.cli.output import print_json

        laid_out = laid_out_as_data(tuned, runs, file) if arrays else {}
        print_json({**tuned_as_data(tuned, kept.location, kept.reason), **laid_out})
    else:
        fields = laid_out_fields(tuned, runs) if arrays else ()
        print_tuned(tuned, str(_file(benchmark)), kept.location, kept.reason, fields)
        if file is not None:
            print_line(f"tuned file: {file}")
    sys.stdout.flush()
    if tuned.wrong:
        raise VerificationError(f"wrong results of {tuned.kernel}: {'; '.join(tuned.wrong)}")


def _device(word: str | None) -> DeviceDescription:
    """The device of this name, or the first that works. Raises DeviceError."""
    from coarsen.devices.selection import find_device, find_working_device

    if word is not None:
        return find_device(word)
    device = find_working_device()
    note(f"measuring on {device}")
    return device


def _file(benchmark: Benchmark) -> Path:
    return benchmark.code if isinstance(benchmark.code, Path) else Path("FILE.cl")


def _tuned_file(tuned: Tuned, subject: Subject, path: Path | None) -> Path | None:
    """Write the tuned file of layouts, and return where; None where its launches differ, which is said."""
    from coarsen.opencl_bench.tuning.described_tuning import launches_alike
    from coarsen.opencl_bench.tuning.layouts_file import layouts_file

    if path is None:
        note(f"no tuned file is written: {subject.name} is described by no file, so say where by -o")
        return None
    if not launches_alike(subject.benchmark, subject.preset):
        note("no tuned file is written: the launches differ in their kernels or sizes")
        return None
    layouts_file(tuned, subject.benchmark, subject.options, subject.device).write(path)
    return path


def _remember(tuned: Tuned, subject: Subject, facts: KernelFacts, settings: Tune) -> Kept:
    """Remember a choice for programs that launch the kernel at these sizes."""
    from coarsen.drop_in.keys import key_of
    from coarsen.drop_in.remembering import Kept, choice_of, remember
    from coarsen.opencl_bench.results.remembered.size_class import SizeClass

    reason = _reason_against(tuned, subject, facts)
    if reason:
        return Kept("", reason)
    size_class = SizeClass.of(tuned.global_size, tuned.local_size)
    key = key_of(facts.ir_hash, tuned.kernel, subject.device, subject.options, subject.transforms, size_class)
    return remember(choice_of(tuned, key, subject.device), settings.store)


def _reason_against(tuned: Tuned, subject: Subject, facts: KernelFacts) -> str:
    """Say why a choice can't be remembered for a program; empty where it can."""
    from coarsen.opencl_bench.tuning.described_tuning import launches_alike

    if not launches_alike(subject.benchmark, subject.preset):
        return "its launches differ in their sizes, and a choice is for launches of one size"
    if facts.groups_matter and tuned.choice.local_size != (tuned.local_size or ()):
        return "its work-items are grouped otherwise than in the launch as it is: give the program that local size"
    return ""
