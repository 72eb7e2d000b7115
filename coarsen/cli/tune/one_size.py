"""`coarsen tune` at one size: what is found is shown, remembered, and written where arrays have other layouts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coarsen.base.codec import encoded
from coarsen.cli.messages import note
from coarsen.cli.output import Format, counted, picked, print_fields, print_json, print_line, print_lines
from coarsen.cli.variant_options import array_choices
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.tuning.tuned import Tuned
from coarsen.variant.variant import shape
from coarsen.variant.variant_json import variant_to_json

if TYPE_CHECKING:
    from coarsen.cli.tune.options import TuneOptions
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.drop_in.measured_launch import Kept
    from coarsen.policy.keys import KernelFacts
    from coarsen.tuning.remembered.choice import RememberedKey
    from coarsen.tuning.settings import Tune
    from coarsen.tuning.workload.benchmark import Benchmark, LocalSize
    from coarsen.variant.space import ArrayChoices
    from coarsen.variant.transforms import Transforms


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
        from coarsen.policy.keys import kernel_facts

        return kernel_facts(self.benchmark.source, self.benchmark.kernel, self.options, self.device.macros)

    @property
    def transforms(self) -> Transforms:
        """Return those that a `coarsen.Program` allows."""
        from coarsen.variant.transforms import Transforms, device_kind_of

        return Transforms(device_kind=device_kind_of(self.device.device_types))


def tune_one_size(asked: TuneOptions, find_device: Callable[[], DeviceDescription]) -> None:
    """Tune a kernel at one size, remember what is found and show it.

    Args:
        asked: the options.
        find_device: returns where, asked once the kernel is known.

    Raises:
        InvalidInputError: no such kernel or preset, a value out of range, layouts that can't be tried.
        RefusalError: the kernel can't be coarsened, or not be rewritten for a layout that is named.
        DeviceError: no such device, or it can't be opened (any more).
        VerificationError: a variant had wrong results, or the kernel doesn't give the same ones twice.
    """
    # Imported late: they load the suite.
    from coarsen.cli.bench.inputs import benchmarks_of
    from coarsen.drop_in.live_line import tuning_is_shown
    from coarsen.tuning.progress import TimeOverError
    from coarsen.tuning.tuner import tune_described

    settings = asked.one_size()
    ((benchmark, name),) = benchmarks_of([asked.kernel])
    benchmark.preset(asked.preset)
    path = tuned_path(name, asked.output) if asked.has_layouts else None
    subject = Subject(benchmark, name, asked.preset, find_device())
    facts, arrays = subject.facts, layout_choices(asked, benchmark, subject.device)
    given = name, benchmark, asked.preset, subject.device, subject.transforms, facts.groups_matter
    try:
        with tuning_is_shown(benchmark.kernel, settings) as shown:
            tuned = tune_described(*given, shown, arrays)
    except TimeOverError:
        _remember_no_result(subject, facts, settings)
        raise
    kept = _remember(tuned, subject, facts, settings)
    file = _tuned_file(tuned, subject, path) if arrays else None
    if asked.output_format is Format.JSON:
        laid_out = laid_out_as_data(tuned, asked.runs, file) if arrays else {}
        print_json({**tuned_as_data(tuned, kept.location, kept.reason), **laid_out})
    else:
        fields = laid_out_fields(tuned, asked.runs) if arrays else ()
        print_tuned(tuned, str(_file(benchmark)), kept.location, kept.reason, fields)
        if file is not None:
            print_line(f"tuned file: {file}")
    sys.stdout.flush()
    if tuned.wrong:
        raise VerificationError(f"wrong results of {tuned.kernel}: {'; '.join(tuned.wrong)}")


def _file(benchmark: Benchmark) -> Path:
    return benchmark.code if isinstance(benchmark.code, Path) else Path("FILE.cl")


def _tuned_file(tuned: Tuned, subject: Subject, path: Path | None) -> Path | None:
    """Write the tuned file of layouts, and return where; None where its launches differ, which is said."""
    from coarsen.tuning.layout_choices import layouts_file
    from coarsen.tuning.tuner import launches_alike

    if path is None:
        note(f"no tuned file is written: {subject.name} is described by no file, so say where by -o")
        return None
    if subject.benchmark.other_kernels or not launches_alike(subject.benchmark, subject.preset):
        note("no tuned file is written: the launches differ in their kernels or sizes")
        return None
    layouts_file(tuned, subject.benchmark, subject.options, subject.device).write(path)
    return path


def _remember(tuned: Tuned, subject: Subject, facts: KernelFacts, settings: Tune) -> Kept:
    """Remember a choice for programs that launch the kernel at these sizes."""
    from coarsen.drop_in.measured_launch import Kept, choice_of, remember

    reason = _reason_against(tuned, subject, facts)
    if reason:
        return Kept("", reason)
    key = _key(subject, facts, tuned.global_size, tuned.local_size)
    choice = choice_of(tuned, key, subject.device, subject.benchmark.own_definitions)
    return remember(choice, settings.store)


def _remember_no_result(subject: Subject, facts: KernelFacts, settings: Tune) -> None:
    """Remember that the time was over before anything was found out."""
    from coarsen.drop_in.measured_launch import no_result, remember
    from coarsen.tuning.tuner import launches_alike

    if launches_alike(subject.benchmark, subject.preset):
        own = subject.benchmark.preset(subject.preset).local_size
        sizes = subject.benchmark.own_launches(subject.preset, own)[0].global_size, own or None
        key = _key(subject, facts, *sizes)
        remember(no_result(key, subject.device, *sizes, settings.seconds), settings.store)


def _key(
    subject: Subject, facts: KernelFacts, global_size: tuple[int, ...], local_size: LocalSize | None
) -> RememberedKey:
    """The key of a choice for programs that launch the kernel at these sizes."""
    from coarsen.policy.keys import key_of
    from coarsen.tuning.remembered.choice import SizeClass

    size_class = SizeClass.of(global_size, local_size)
    name = subject.benchmark.kernel
    return key_of(facts.ir_hash, name, subject.device, subject.options, subject.transforms, size_class)


def _reason_against(tuned: Tuned, subject: Subject, facts: KernelFacts) -> str:
    """Say why a choice can't be remembered for a program; empty where it can."""
    from coarsen.tuning.tuner import launches_alike

    if tuned.doubt:
        return tuned.doubt
    if not launches_alike(subject.benchmark, subject.preset):
        return "its launches differ in their sizes, and a choice is for launches of one size"
    if facts.groups_matter and tuned.choice.local_size != (tuned.local_size or ()):
        return "its work-items are grouped otherwise than in the launch as it is: give the program that local size"
    return ""


# `coarsen tune` with other layouts of arrays: what is tried, what converting costs, and the tuned file.

EVERY_LAYOUT = "all"


def layout_choices(
    asked: TuneOptions, benchmark: Benchmark, device: DeviceDescription
) -> tuple[ArrayChoices, ...]:
    """Return how arrays may lie; a note says of arrays of records why they can't.

    Raises:
        InvalidInputError: a layout that can't be read, an argument that isn't there, nothing to try.
        RefusalError: the kernel can't be read, or not be rewritten for a layout that is named.
    """
    if not asked.has_layouts:
        return ()
    # Imported late: it loads LLVM.
    from coarsen.tuning import layout_choices as layouts

    words = asked.chosen["layout"] or []
    named = array_choices({**asked.chosen, "layout": [word for word in words if word != EVERY_LAYOUT]})
    layouts.check_choices(benchmark, named, device.macros)
    known = layouts.FoundLayouts(benchmark.arrays)
    if EVERY_LAYOUT in words:
        known = layouts.layout_choices(benchmark, device.macros)
    for sentence in known.refused:
        note(sentence)
    arguments = {choices.argument for choices in named}
    found = (*(choices for choices in known.choices if choices.argument not in arguments), *named)
    if not found:
        raise InvalidInputError(f"{benchmark.kernel} has no array of records that could have another layout")
    return found


def tuned_path(name: str | Path, output: Path | None) -> Path | None:
    """Return where the tuned file goes: beside the description if no place is given; None where there is none.

    Args:
        name: of the suite, or the path of a description.
        output: as it was given.

    Raises:
        InvalidInputError: no place is given, and one that was tuned over inputs is there, or something else.
    """
    if output is not None or not isinstance(name, Path):
        return output
    # Imported late: they load NumPy.
    from coarsen.cli.tune.over_inputs import beside
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.tuning.layout_choices import is_of_one_size

    path = beside(name)
    if path.exists() and not is_of_one_size(TunedFile.read(path)):
        raise InvalidInputError(f"{path} was tuned over inputs: say by -o where a file with layouts is to go")
    return path


def laid_out_fields(tuned: Tuned, runs: int | None) -> Iterator[tuple[str, str]]:
    """Yield what was found with other layouts, for people.

    Args:
        tuned: with layouts among what was tried.
        runs: to charge the conversion to; None where that isn't known.
    """
    found = tuned.laid_out
    if found is None:
        tried = tuned.laid_out_trials
        nothing = f"of {counted(tried, 'variant')} nothing is faster than the launch as it was"
        yield "with arrays laid out", nothing if tried else "nothing was tried: give it more --seconds or --trials"
        return
    yield "with arrays laid out", str(found.variant)
    yield "speed-up of that, conversion apart", str(found.speedup)
    yield "conversion", found.conversion.sentence
    if runs is not None:
        yield f"over {runs} runs, conversion included", f"{found.gain_over(runs):.3g} times as fast as without it"


def laid_out_as_data(tuned: Tuned, runs: int | None, file: Path | None) -> dict[str, Any]:
    """Return the same for JSON, and the tuned file's path."""
    found, data = tuned.laid_out, None
    if found is not None:
        data = {
            "choice": variant_to_json(found.variant),
            "speedup": asdict(found.speedup),
            "conversion_seconds": found.conversion.seconds,
            "runs_until_it_pays": found.conversion.runs,
            "runs": runs,
            "gain_over_runs": None if runs is None else found.gain_over(runs),
        }
    tried = {"laid_out_trials": tuned.laid_out_trials}
    return {"laid_out": data, **tried, "tuned_file": str(file) if file else None}


# How `coarsen tune` prints what it found.


def print_tuned(
    tuned: Tuned, file: str, location: str, reason: str, laid_out: Iterable[tuple[str, str]] = ()
) -> None:
    """Print a result for people, a field a line, and how to use it in a program.

    Args:
        tuned: what was found.
        file: the kernel's source.
        location: where it is remembered; empty where it is not.
        reason: why it is not.
        laid_out: further fields: what was found with other layouts.
    """
    fields = (*_fields(tuned), *laid_out)
    print_fields(fields)
    print_line()
    print_lines(*paste_of_variant(tuned.choice, tuned.kernel, file).lines)
    print_line(f"remembered in {location}" if location else f"not remembered for programs: {reason}")


def tuned_as_data(tuned: Tuned, location: str, reason: str) -> dict[str, Any]:
    """Return the same for JSON."""
    return {
        **picked(tuned, "kernel device global_size local_size is_faster"),
        "doubt": tuned.doubt or None,
        "choice": variant_to_json(tuned.choice),
        **picked(tuned, "speedup"),
        "speedup_over_uncoarsened": encoded(tuned.decision.over_uncoarsened),
        "processes": tuned.decision.processes,
        **picked(tuned, "trials failed wrong share seconds ending"),
        "store": location or None,
        "not_remembered": reason or None,
    }


def _fields(tuned: Tuned) -> Iterator[tuple[str, str]]:
    local_size = "left to the device" if tuned.local_size is None else shape(tuned.local_size)
    yield "kernel", tuned.kernel
    yield "device", tuned.device
    yield "tuned at", f"global size {shape(tuned.global_size)}, local size {local_size}"
    yield "choice", str(tuned.choice) if tuned.is_faster else f"as it is: {tuned.doubt or 'nothing is faster'}"
    if tuned.is_faster:
        yield "speed-up over the launch as it was", str(tuned.speedup)
        yield "over the fastest local size tried uncoarsened", str(tuned.decision.over_uncoarsened or "")
        yield "confirmed", f"in {counted(tuned.decision.processes, 'new process', 'new processes')}"
    yield "tried", _tried(tuned)
    yield "failed", counted(tuned.failed, "variant") if tuned.failed else ""
    yield "ended", tuned.ending


def _tried(tuned: Tuned) -> str:
    share = "" if tuned.share is None else f", {100 * tuned.share:.2g} % of those that may run,"
    return f"{counted(tuned.trials, 'variant')}{share} in {tuned.seconds:.1f} s"
