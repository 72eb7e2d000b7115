"""`coarsen tune` at one size: what is found is shown, remembered, and written where arrays lie otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.messages import note
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.tune_layouts import LayoutRequest, laid_out_as_data, laid_out_fields, tuned_path
from coarsen.errors import VerificationError

if TYPE_CHECKING:
    from coarsen.cli.tune_options import SizeRequest
    from coarsen.devices.discovery import DeviceDescription
    from coarsen.drop_in.kernel_facts import KernelFacts
    from coarsen.drop_in.remembering import Kept
    from coarsen.opencl_bench.results.remembered.choice import RememberedKey
    from coarsen.opencl_bench.tuning.settings import Tune
    from coarsen.opencl_bench.tuning.tuned import Tuned
    from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
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
        from coarsen.drop_in.kernel_facts import kernel_facts

        return kernel_facts(self.benchmark.source, self.benchmark.kernel, self.options, self.device.macros)

    @property
    def transforms(self) -> Transforms:
        """Return those that a `coarsen.Program` allows."""
        from coarsen.variant.transforms import Transforms, device_kind_of

        return Transforms(device_kind=device_kind_of(self.device.device_types))


def tune_one_size(
    kernel: str,
    find_device: Callable[[], DeviceDescription],
    request: SizeRequest,
    layouts: LayoutRequest,
    output: Path | None,
    output_format: Format,
) -> None:
    """Tune a kernel at one size, remember what is found and show it.

    Args:
        kernel: a name of the suite, or a description.
        find_device: returns where, asked once the kernel is known.
        request: how.
        layouts: how arrays may lie.
        output: where a tuned file of layouts goes; beside the description if None.
        output_format: of what is printed.

    Raises:
        InvalidInputError: no such kernel or preset, a value out of range, layouts that can't be tried.
        RefusalError: the kernel can't be coarsened, or not be rewritten for a layout that is named.
        DeviceError: no such device, or it can't be opened (any more).
        VerificationError: a variant had wrong results, or the kernel doesn't give the same ones twice.
    """
    # Imported late: they load the suite.
    from coarsen.cli.bench_inputs import benchmarks_of
    from coarsen.cli.tune_report import print_tuned, tuned_as_data
    from coarsen.drop_in.live_line import tuning_is_shown
    from coarsen.opencl_bench.tuning.settings import TimeOverError
    from coarsen.opencl_bench.tuning.tuner import tune_described

    settings = request.settings()
    ((benchmark, name),) = benchmarks_of([kernel])
    benchmark.preset(request.preset)
    path = tuned_path(name, output) if layouts.is_asked_for else None
    subject = Subject(benchmark, name, request.preset, find_device())
    facts, arrays = subject.facts, layouts.choices(benchmark, subject.device)
    given = name, benchmark, request.preset, subject.device, subject.transforms, facts.groups_matter
    try:
        with tuning_is_shown(benchmark.kernel, settings) as shown:
            tuned = tune_described(*given, shown, arrays)
    except TimeOverError:
        _remember_no_result(subject, facts, settings)
        raise
    kept = _remember(tuned, subject, facts, settings)
    file = _tuned_file(tuned, subject, path) if arrays else None
    if output_format is Format.JSON:
        laid_out = laid_out_as_data(tuned, layouts.runs, file) if arrays else {}
        print_json({**tuned_as_data(tuned, kept.location, kept.reason), **laid_out})
    else:
        fields = laid_out_fields(tuned, layouts.runs) if arrays else ()
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
    from coarsen.opencl_bench.tuning.layout_choices import layouts_file
    from coarsen.opencl_bench.tuning.tuner import launches_alike

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
    from coarsen.drop_in.remembering import Kept, choice_of, remember

    reason = _reason_against(tuned, subject, facts)
    if reason:
        return Kept("", reason)
    key = _key(subject, facts, tuned.global_size, tuned.local_size)
    return remember(choice_of(tuned, key, subject.device), settings.store)


def _remember_no_result(subject: Subject, facts: KernelFacts, settings: Tune) -> None:
    """Remember that the time was over before anything was found out."""
    from coarsen.drop_in.remembering import no_result, remember_no_result
    from coarsen.opencl_bench.tuning.tuner import launches_alike

    if launches_alike(subject.benchmark, subject.preset):
        own = subject.benchmark.preset(subject.preset).local_size
        sizes = subject.benchmark.real_launches(subject.preset, own)[0].global_size, own or None
        key = _key(subject, facts, *sizes)
        remember_no_result(no_result(key, subject.device, *sizes, settings.seconds), settings.store)


def _key(
    subject: Subject, facts: KernelFacts, global_size: tuple[int, ...], local_size: LocalSize | None
) -> RememberedKey:
    """The key of a choice for programs that launch the kernel at these sizes."""
    from coarsen.drop_in.keys import key_of
    from coarsen.opencl_bench.results.remembered.choice import SizeClass

    size_class = SizeClass.of(global_size, local_size)
    name = subject.benchmark.kernel
    return key_of(facts.ir_hash, name, subject.device, subject.options, subject.transforms, size_class)


def _reason_against(tuned: Tuned, subject: Subject, facts: KernelFacts) -> str:
    """Say why a choice can't be remembered for a program; empty where it can."""
    from coarsen.opencl_bench.tuning.tuner import launches_alike

    if tuned.doubt:
        return tuned.doubt
    if not launches_alike(subject.benchmark, subject.preset):
        return "its launches differ in their sizes, and a choice is for launches of one size"
    if facts.groups_matter and tuned.choice.local_size != (tuned.local_size or ()):
        return "its work-items are grouped otherwise than in the launch as it is: give the program that local size"
    return ""
