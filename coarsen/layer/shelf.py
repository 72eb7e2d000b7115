"""Puts what is remembered of a recorded program onto the shelf, from which the substituting layer takes it.

    recorded kinds of launches, remembered choices ─▶ KernelLaunches, as coarsen.Program launches ─▶ Row ─▶ unit

A row is made from a launch as `coarsen.Program` carries it out; the layer divides by it all launches of its class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyopencl

from coarsen.devices.building import build_for_launches, default_place, is_open, without_warnings
from coarsen.devices.discovery import DeviceDescription, common_macros_of, open_device
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.frontend.included import file_directives
from coarsen.frontend.lower import lower
from coarsen.layer.log import EMPTY, RecordedKind, RecordedProgram
from coarsen.layer.recording import options_of
from coarsen.layer.unit import GLOBAL_SIZE, LOCAL_MEMORY, Row, UnitKey, write_unit
from coarsen.policy.remembered import Remembered
from coarsen.runtime.code import pyopencl_headers
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch, Sizes, unmerged_size
from coarsen.runtime.launches import KernelLaunches, LaunchedVariant, words_of
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.text_cache.store import store_of
from coarsen.runtime.toolchain import CompiledSources, Toolchain
from coarsen.tuning.remembered.choice import RememberedChoice, SizeClass
from coarsen.tuning.remembered.look_up import anything_remembered
from coarsen.tuning.settings import Tune
from coarsen.tuning.workload.argument_use import kind_of
from coarsen.variant.coarsening import Level

_KINDS = {"global-size": GLOBAL_SIZE, "local-memory": LOCAL_MEMORY}
# Of one kernel and class whose launches are divided by their own extents.
_MOST_SIZES = 64


class Shelved(NamedTuple):
    """What became of a remembered choice.

    Attributes:
        kernel: its name.
        size_class: of its launches, as `SizeClass` writes it.
        runs: what runs from now on, in words.
        reason: why nothing does; empty where something does.
    """

    kernel: str
    size_class: str
    runs: str = ""
    reason: str = ""


def shelve(
    folder: Path,
    program: RecordedProgram,
    device: DeviceDescription,
    kinds: Sequence[RecordedKind],
    store: str | None = None,
) -> list[Shelved]:
    """Write the unit of a program on a device, or remove it where nothing holds that is remembered.

    Args:
        folder: of the shelf.
        program: whose text is known.
        device: where it runs.
        kinds: its launches there.
        store: where choices are remembered; None for the user's store.

    Raises:
        InvalidInputError: the shelf can't be written.
    """
    opened = open_device(device)
    key = UnitKey(program.source.encode(), program.options.encode(), device_text(opened))
    rows: list[Row] = []
    names = dict.fromkeys(kind.kernel for kind in kinds)
    found: list[Shelved] = []
    try:
        if any(anything_remembered(store, name) for name in names):
            if any(file_directives(program.source)):
                raise InvalidInputError("its source reads files, which may change")
            if "\ufffd" in program.source + program.options:
                raise InvalidInputError("its source or its build options are not in UTF-8")
            unit = _Unit(program, opened, kinds, store)
            found = [each for kernel in unit.kernels for each in unit.shelved(kernel, rows)]
    except (CoarsenError, pyopencl.Error) as error:
        found = [Shelved(kernel, "", reason=str(error)) for kernel in names]
        rows = []
    write_unit(folder, key, rows)
    if pyopencl_headers() in program.options:
        # From its second start on, PyOpenCL makes a program from the binary that it has kept.
        binary = _kept_binary(opened, program.source, key.options, is_made=bool(rows))
        if binary is not None:
            write_unit(folder, key._replace(source=binary), rows)
    return found


def device_text(device: pyopencl.Device) -> bytes:
    """Return what tells a device and its driver from others, as OpenCL says it."""
    platform = device.platform
    return "\n".join((device.name, platform.name, device.driver_version, platform.version)).encode()


class _Unit:
    """The kernels of a program on a device, launched as `coarsen.Program` does it."""

    def __init__(
        self, program: RecordedProgram, device: pyopencl.Device, kinds: Sequence[RecordedKind], store: str | None
    ) -> None:
        self._source, self._options, self._device = program.source, options_of(program), device
        self._kinds = kinds
        self._policy = Remembered(Tune(store=store))
        self._macros = common_macros_of([device])
        self._sources = CompiledSources()
        context = pyopencl.Context([device])
        self.kernels = tuple(dict.fromkeys(kind.kernel for kind in kinds))
        # By its own name: whoever made it may have changed that.
        self._built = build_for_launches(context, self._source, self._options)
        self._plan = CoarseningPlan(
            context,
            self._source,
            self._options,
            None,
            self.kernels,
            "opencl_c",
            Toolchain(self._macros, store_of(None)),
            cast("Any", self._built)._get_prg(),
            policy=self._policy,
        )

    def shelved(self, kernel: str, rows: list[Row]) -> Iterator[Shelved]:
        """Add the rows of a kernel to others; yield what became of each choice."""
        request = self._plan.request(kernel, OriginalLaunch(self._device, (1,), None))
        choices = [each for each in self._policy.choices(request) if not each.leaves_as_is]
        launches = KernelLaunches(kernel, self._plan) if choices else None
        for choice in choices:
            name = str(choice.key.size_class)
            try:
                made, left = self._rows(cast("KernelLaunches", launches), choice)
            except CoarsenError as error:
                yield Shelved(kernel, name, reason=str(error))
                continue
            rows.extend(row for row, _ in made)
            for words in dict.fromkeys(words for _, words in made):
                yield Shelved(kernel, name, words)
            if left:
                yield Shelved(kernel, name, reason=left)

    def _rows(self, launches: KernelLaunches, choice: RememberedChoice) -> tuple[list[tuple[Row, str]], str]:
        """Return the rows of a choice, each in words, too, and why not all sizes have one; else no text.

        Raises InvalidInputError where no size has one.
        """
        kernel = lower(self._sources.unit(self._source, self._options, self._macros), launches.name)
        kinds = [kind_of(parameter) for parameter in kernel.arguments]
        memory = tuple(index for index, kind in enumerate(kinds) if kind not in ("scalar", "local", "sampler"))
        local = [index for index, kind in enumerate(kinds) if kind == "local"]
        alike = [kind for kind in self._kinds if kind.kernel == launches.name and _is_of(kind, choice)]
        passed = [kind.arguments for kind in alike if kind.arguments is not None]
        if local and not passed:
            raise InvalidInputError("how much local memory such launches pass is not known")
        local_bytes = max(
            (sum(each[i].byte_count for i in local if each[i].form == EMPTY) for each in passed), default=0
        )
        sizes = [*dict.fromkeys(kind.global_size for kind in alike)] or [choice.global_size]
        found: list[tuple[Row, str]] = []
        problems: list[InvalidInputError] = []
        for global_size in sizes[:_MOST_SIZES]:
            launch = OriginalLaunch(self._device, global_size, choice.key.size_class.local_size, local_bytes)
            try:
                divided = launches.choose(launch)
                row = self._row(launches, choice, launch, divided, _variant_of(launches, divided), memory)
            except InvalidInputError as error:
                # Other sizes may have rows.
                problems.append(error)
                continue
            found.append((replace(row, saved=_saved(alike, choice)), words_of(divided)))
            if row.factor:
                break
        if not found:
            raise problems[0]
        return found, f"not at all sizes: {problems[0]}" if problems else ""

    def _row(
        self,
        launches: KernelLaunches,
        choice: RememberedChoice,
        launch: OriginalLaunch,
        divided: DividedLaunch,
        variant: LaunchedVariant | None,
        memory: tuple[int, ...],
    ) -> Row:
        whole, local = launch.global_size, launch.local_size
        is_by_extents = divided.guarded or (
            local is None and divided.local_size is not None and not choice.variant.local_size
        )
        least = most = whole
        unit: Sizes = (1,) * len(whole)
        divisor: Sizes = (0,) * len(whole)
        factor: Sizes = ()
        if not is_by_extents:
            size_class = choice.key.size_class
            least = tuple(1 << exponent for exponent in size_class.exponents)
            most = tuple(2 * extent - 1 for extent in least)
            divisor = size_class.divisors
            unit = _units(launch, divided, self._plan.any_groups)
            factor = _factors(divided, len(whole))
        program = self._built if variant is None else self._plan.built(launches.name, variant.variant)
        if program is None:
            raise InvalidInputError("the device does not build what is remembered")
        options = () if variant is None else self._plan.build_options(launches.name, variant.variant)
        return Row(
            launches.name,
            " ".join(options),
            cast("Any", program).get_info(pyopencl.program_info.BINARIES)[0],
            launches.argument_count,
            local,
            divided.local_size,
            least,
            most,
            unit,
            divisor,
            factor,
            () if factor else divided.global_size,
            0 if variant is None else variant.objects_below or 0,
            () if variant is None else variant.apart,
            () if variant is None else _added(variant),
            memory,
        )


def _is_of(kind: RecordedKind, choice: RememberedChoice) -> bool:
    extents = (*kind.global_size, *(kind.local_size or ()))
    return min(extents) > 0 and SizeClass.of(kind.global_size, kind.local_size) == choice.key.size_class


def _variant_of(launches: KernelLaunches, divided: DividedLaunch) -> LaunchedVariant | None:
    """Return the variant of a launch, None for the original kernel.

    Raises:
        InvalidInputError: the launch runs as it is, or in a way that the layer does not know.
    """
    variant = launches.variant_of(divided)
    if variant is None and not divided.regrouped:
        raise InvalidInputError(divided.note or divided.reason or "the sizes of the launch leave nothing to merge")
    if divided.own is not None or divided.arrays or (variant is not None and variant.placed):
        raise InvalidInputError("its arrays lie otherwise, or several launches or macros take its place")
    return variant


def _added(variant: LaunchedVariant) -> tuple[tuple[int, int], ...]:
    if any(entry.meaning not in _KINDS for entry in variant.added):
        raise InvalidInputError("its variant is told the extents of arrays")
    return tuple(
        (_KINDS[entry.meaning], entry.dimension if entry.meaning == "global-size" else entry.like)
        for entry in variant.added
    )


def _factors(divided: DividedLaunch, dimensions: int) -> Sizes:
    """Return what the global size is divided by, for each dimension."""
    merged = [1] * dimensions
    for entry in divided.coarsenings:
        merged[entry.dimension] *= entry.factor
    return tuple(merged)


def _units(launch: OriginalLaunch, divided: DividedLaunch, any_groups: bool) -> Sizes:
    """Return what the global size has to be a multiple of: work-groups are whole, and merged in whole."""
    own = launch.local_size or (1,) * len(launch.global_size)
    base = unmerged_size(divided) or (1,) * len(own)
    units = []
    for dimension, (extent, local) in enumerate(zip(base, own, strict=True)):
        of_dimension = [entry for entry in divided.coarsenings if entry.dimension == dimension]
        groups = math.prod(entry.factor * entry.stride for entry in of_dimension if entry.level is Level.GROUP)
        items = math.prod(entry.factor * entry.stride for entry in of_dimension if entry.level is Level.ITEM)
        is_uneven = any_groups and divided.regrouped
        units.append(math.lcm(extent * groups, items, 1 if is_uneven else local))
    return tuple(units)


def _saved(kinds: Sequence[RecordedKind], choice: RememberedChoice) -> int:
    """The nanoseconds that a launch saves: of what it took in the recorded run, the part that tuning measured."""
    timed = sum(kind.timed for kind in kinds)
    mean = sum(kind.nanoseconds for kind in kinds) / timed if timed else 0.0
    return max(0, round(mean * (1 - 1 / choice.speedup.ratio)))


def _kept_binary(device: pyopencl.Device, source: str, options: bytes, is_made: bool) -> bytes | None:
    """Return the binary in PyOpenCL's cache that it makes a program from; None where it keeps none.

    Args:
        device: where the program runs.
        source: OpenCL C that reads no files.
        options: all that PyOpenCL builds it with.
        is_made: whether it is put there where it isn't yet.
    """
    # Imported late, as PyOpenCL does.
    from pyopencl.cache import create_built_program_from_source_cached as cached
    from pyopencl.cache import get_cache_key, retrieve_from_cache
    from pyopencl.characterize import has_src_build_cache

    place = default_place()
    if has_src_build_cache(device) or not is_open(place):
        return None
    # Where its cache fails, PyOpenCL looks for a variable of the environment that isn't set.
    with without_warnings(), suppress(OSError, KeyError, pyopencl.Error):
        if is_made:
            cached(pyopencl.Context([device]), source, options, None, str(place))
        kept = retrieve_from_cache(str(place), get_cache_key(device, options, source))
        return None if kept is None else kept[0]
    return None
