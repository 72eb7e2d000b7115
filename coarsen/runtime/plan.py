"""The coarsening of each kernel of a program, and its coarsened variants, made when first needed.

A kernel has one variant for what was asked for, one that is guarded for any size, and one for each smaller factor
that some launch's sizes called for; each is a program of a single kernel, coarsened from the source once and built
for the context once.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyopencl
from pyopencl._cl import Kernel as PlainKernel
from pyopencl._cl import _Program as RawProgram

from coarsen.devices.building import build_for_launches, most_ways_by_barriers
from coarsen.devices.discovery import device_types_of
from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, RefusalError
from coarsen.frontend.included import file_directives
from coarsen.runtime.advice import (
    PATIENCE,
    Decision,
    KernelFile,
    LaunchObserver,
    LaunchRefusedError,
    LaunchRequest,
    Policy,
)
from coarsen.runtime.arguments import Argument
from coarsen.runtime.code import Codes, allows_uneven_groups, forget_frames, options_of_coarsened
from coarsen.runtime.launch import OriginalLaunch, Sizes
from coarsen.runtime.text_cache.store import CacheFolder
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.coarsening import Coarsening, Configuration, Level
from coarsen.variant.transforms import DEFAULT, DeviceKind, Transforms, device_kind_of
from coarsen.variant.variant import Definitions, Variant

if TYPE_CHECKING:
    from coarsen.frontend.device_macros import DeviceMacros
    from coarsen.variant.data_plan import ArrayPlan


_log = logging.getLogger("coarsen")

ORIGINAL: Configuration = ()


class CoarseningPlan:
    """The plan of one built program.

    `options` are the build options one by one, `devices` those to build for (None: all of the context's);
    `raw_program` is what PyOpenCL's uncoarsened program is made around: it makes kernel objects faster; `kernels`
    are the names of those to coarsen, `transforms` what may be used for it, on the kind of device that the context
    has, and `arrays` how arrays lie in them, by kernel's name; `cache_dir` is PyOpenCL's cache of binaries;
    `policy` decides, and where it has no decision the kernel stays as it is; `observer` sees the launches.
    """

    def __init__(
        self,
        context: pyopencl.Context,
        source: str,
        options: Sequence[str],
        devices: Sequence[pyopencl.Device] | None,
        kernels: Sequence[str],
        form: Form,
        toolchain: Toolchain,
        raw_program: RawProgram,
        transforms: Transforms = DEFAULT,
        cache_dir: CacheFolder = None,
        policy: Policy | None = None,
        observer: LaunchObserver | None = None,
        arrays: Mapping[str, tuple[ArrayPlan, ...]] = MappingProxyType({}),
    ) -> None:
        self._arrays = arrays
        self._context = context
        self._cache_dir = cache_dir
        self.raw_program = raw_program
        self._transforms = transforms
        self._source = source
        self._options = tuple(options)
        self._devices = devices
        self._kernels = frozenset(kernels)
        self.toolchain = toolchain
        limit = most_ways_by_barriers(device.platform.version for device in devices or context.devices)
        self._codes = Codes(source, options, form, toolchain, limit)
        self._programs: dict[tuple[str, Variant], pyopencl.Program | None] = {}
        self._telling: dict[tuple[str, Variant], pyopencl.Kernel | None] = {}
        self._refused: dict[str, str] = {}
        self._said: set[Hashable] = set()
        # Seconds that a launch may be held up until what comes before it is done, so that it can be looked at.
        self.patience = PATIENCE
        self._policy = policy
        self.observer = observer
        # What collects launches at present (`drop_in/together.py`), and what makes kernels of them.
        self.region: Any = None
        self.fuser: Any = None
        self._sealed: set[str] = set()

    @property
    def transforms(self) -> Transforms:
        """Return what the program's variants may be made by."""
        return replace(self._transforms, device_kind=self._device_kind)

    @property
    def has_several_devices(self) -> bool:
        """Return True if it is built for more than one device."""
        return len(self._devices or self._context.devices) > 1

    @cached_property
    def shares_memory(self) -> bool:
        """Return True if two memory objects may be one: those of OpenGL, which the context was made to share."""
        # PyOpenCL has them as lists of a property and its value.
        properties: Any = self._context.get_info(pyopencl.context_info.PROPERTIES) or ()
        return any(entry and entry[0] != pyopencl.context_properties.PLATFORM for entry in properties)

    def original(self, kernel: str) -> pyopencl.Kernel:
        """Return a new kernel object of the uncoarsened program; raises LogicError for an unknown name."""
        return PlainKernel(self.raw_program, kernel)

    def seal(self, kernel: str) -> None:
        """Make and build nothing of a kernel any more: what isn't there is as refused, without a word."""
        self._sealed.add(kernel)

    def build_known(self) -> None:
        """Build the variants that the policy knows already of kernels to coarsen."""
        if self._policy is None:
            return
        for kernel in sorted(filter(self.is_advised, self._kernels)):
            for device in self._devices or self._context.devices:
                request = self.request(kernel, OriginalLaunch(device, (1,), None))
                for wanted in self._policy.known_variants(request):
                    if wanted.is_rewritten:
                        self._build_known(kernel, wanted)

    def _build_known(self, kernel: str, wanted: Variant) -> None:
        variant = self.variant_of(
            wanted.coarsenings, wanted.any_size, wanted.transforms, local_size=wanted.local_size
        )
        try:
            if self.code(kernel, variant) is not None:
                self.built(kernel, variant, by_each_start=True)
        except CoarsenError as error:
            # The first launch says so.
            forget_frames(error)

    def coarsen_requested(self, kernel: str, required: Sequence[int] = ()) -> None:
        """Coarsen the kernel now, as asked for; raise RefusalError, and leave it uncoarsened, if that is not
        possible.

        `required` is the local size that the kernel demands, if any: factors that it does not allow are no reason
        to refuse, since launches take others.
        """
        requested = self._requested(kernel) or ()
        possible = tuple(entry for entry in requested if not required or _divides(entry, required))
        if not possible:
            return
        try:
            self._codes.coarsen(kernel, self.variant_of(possible, arrays=self.arrays_of(kernel)))
        except RefusalError as refusal:
            self._refused[kernel] = str(refusal)
            raise

    def arrays_of(self, kernel: str) -> tuple[ArrayPlan, ...]:
        """Return how arrays lie in a kernel's variants, but for those that a policy or a tuned file chose."""
        return self._arrays.get(kernel, ())

    def variant_of(
        self,
        coarsenings: Configuration,
        any_size: bool = False,
        transforms: Transforms | None = None,
        arrays: tuple[ArrayPlan, ...] = (),
        definitions: Definitions = (),
        local_size: Sizes | None = None,
    ) -> Variant:
        """Return the variant with these coarsenings, for any launch on the context's kind of device.

        It is made by `transforms` (None stands for the program's), for `arrays` that lie so, and of the source
        with macros, where it has `definitions`. Tiles are for one `local_size`: without it there are none.
        """
        chosen = self.transforms if transforms is None else replace(transforms, device_kind=self._device_kind)
        if not local_size:
            chosen = chosen.without({"tile"})
        own = local_size if local_size and chosen.is_tiled else ()
        return Variant(own, coarsenings, definitions, chosen, any_size, arrays)

    def is_advised(self, kernel: str) -> bool:
        """Return True if a policy is asked about the launches of a kernel."""
        if self.file_of(kernel) is not None:
            return True
        return self._policy is not None and kernel in self._kernels and kernel not in self._refused

    def file_of(self, kernel: str) -> KernelFile | None:
        """Return the tuned file that a kernel is decided about by; None where there is none."""
        return None if self._policy is None else self._policy.file_of(kernel)

    def is_looked_at(self, kernel: str) -> bool:
        """Return True if a policy may read the arguments of a kernel's launches."""
        decides = self.file_of(kernel) or self._policy
        return self.is_advised(kernel) and decides is not None and decides.looks_at_arguments

    def _requested(self, kernel: str) -> Configuration | None:
        """Return what is asked for of a kernel, whatever its launch; None where that is nothing."""
        return None if self._policy is None else self._policy.requested(kernel)

    def decision(self, request: LaunchRequest) -> Decision | None:
        """Ask the policy about a launch; None where it has no decision.

        Where something went wrong, said once, and where the kernel refuses what is decided, it stays as it is.

        Raises:
            LaunchRefusedError: the policy refuses the launch.
        """
        kernel = request.kernel
        if self._policy is None:
            return None
        try:
            decision = self._policy.choose(request)
        except LaunchRefusedError:
            raise
        except (CoarsenError, pyopencl.Error) as error:
            return self._as_it_is(kernel, error)
        if decision is None or decision.otherwise is not None or not decision.variant.coarsenings:
            return decision
        wanted = decision.variant
        try:
            if self._requested(kernel) is not None:
                # That was looked at when the program was built.
                pass
            elif decision.is_programs:
                self._codes.coarsen(kernel, self.variant_of(wanted.coarsenings, arrays=self.arrays_of(kernel)))
            else:
                self._codes.coarsen(kernel, self.variant_of(wanted.coarsenings, False, wanted.transforms))
        except CoarsenError as error:
            return self._as_it_is(kernel, error)
        return decision

    def _as_it_is(self, kernel: str, error: Exception) -> Decision:
        # Imported late: nearly always all goes well.
        from coarsen.base.bug_report import words_of

        forget_frames(error)
        self.say_reason((kernel, str(error)), f"kernel {kernel} stays as it is: {words_of(error)}")
        return Decision(Variant(), str(error))

    def request(
        self,
        kernel: str,
        launch: OriginalLaunch,
        queue: pyopencl.CommandQueue | None = None,
        arguments: tuple[Argument, ...] | None = None,
        offset: Sizes | None = None,
    ) -> LaunchRequest:
        """Return a launch of a kernel as policies and observers are given it."""
        return LaunchRequest(
            self._source,
            self._options,
            kernel,
            launch,
            self.transforms,
            queue,
            arguments,
            offset,
            self._cache_dir,
            self.toolchain,
        )

    def groups_matter(self, kernel: str, wanted: Variant) -> bool:
        """Return True unless any local size surely suits a kernel, the original as well as the variant of it."""
        variant = self.variant_of(wanted.coarsenings, False, wanted.transforms, (), wanted.definitions)
        if kernel in self._sealed and not self._codes.knows(kernel, variant):
            return True
        try:
            code = self._codes.coarsen(kernel, variant)
        except CoarsenError as error:
            forget_frames(error)
            return True
        return code.groups_matter

    def code(self, kernel: str, wanted: Variant) -> Code | None:
        """Return the device's code of a variant; None if the kernel refuses it."""
        if kernel in self._sealed and not self._codes.knows(kernel, wanted):
            return None
        try:
            return self._codes.coarsen(kernel, wanted)
        except (RefusalError, InvalidInputError) as error:
            forget_frames(error)
            return None

    @property
    def compiled_from(self) -> tuple[str, tuple[str, ...], DeviceMacros]:
        """Return the source, its build options, and what it may find out about its device."""
        return self._source, self._options, self.toolchain.macros

    def kernel_of(self, text: str, standard: str, name: str) -> pyopencl.Kernel:
        """Return a kernel of OpenCL C that was made of the source. Raises pyopencl.Error."""
        options = (*options_of_coarsened(self._options), standard)
        return PlainKernel(build_for_launches(self._context, text, options, self._devices, self._cache_dir), name)

    def told_by(self, kernel: str, wanted: Variant) -> pyopencl.Kernel | None:
        """Return the kernel object that tells what a variant needs, made once, as `variant` has it."""
        if (kernel, wanted) not in self._telling:
            self._telling[kernel, wanted] = self.variant(kernel, wanted)
        return self._telling[kernel, wanted]

    def variant(self, kernel: str, wanted: Variant) -> pyopencl.Kernel | None:
        """Return a new kernel object of the coarsened variant; None, reported once, if the kernel refuses this
        configuration or the device fails to build a variant that the user did not request.

        Raises DeviceError where the device doesn't build what was asked for.
        """
        if wanted == Variant():
            return self.original(kernel)
        program = self.built(kernel, wanted)
        return None if program is None else PlainKernel(program, kernel)

    def built(self, kernel: str, wanted: Variant, by_each_start: bool = False) -> pyopencl.Program | None:
        """Return the program of a variant, as `variant` does its kernel."""
        key = (kernel if wanted.is_rewritten else "", wanted)
        if kernel in self._sealed and key not in self._programs:
            return None
        try:
            if key not in self._programs and not wanted.is_rewritten:
                self._programs[key] = self._as_written(wanted.definitions)
            if key not in self._programs:
                self._programs[key] = self._built(
                    kernel, wanted, self._codes.coarsen(kernel, wanted), by_each_start
                )
        except (RefusalError, InvalidInputError) as error:
            forget_frames(error)
            self.say_once((key, str(error)), f"kernel {kernel} stays as it is: {error}")
            return None
        return self._programs[key]

    def build_options(self, kernel: str, wanted: Variant) -> tuple[str, ...]:
        """Return the options that a variant's program is built with. Raises as `Codes.coarsen` does."""
        return self._codes.build_options(self._codes.coarsen(kernel, wanted), wanted.definitions)

    @cached_property
    def may_require_local_size(self) -> bool:
        """Return False if no kernel can have a `reqd_work_group_size`, so that no kernel object need be asked."""
        texts = (self._source, *self._options)
        return any("reqd_work_group_size" in text for text in texts) or any(file_directives(self._source))

    @property
    def any_groups(self) -> bool:
        """Return True if the program's launches may have work-groups of unequal sizes, as OpenCL C 2.0 allows."""
        return allows_uneven_groups(self._options)

    def coarsens(self, kernel: str) -> bool:
        """Return True if some launch of a kernel may run coarsened."""
        if self.file_of(kernel) is not None:
            return True
        if kernel not in self._kernels or kernel in self._refused:
            return False
        requested = self._requested(kernel)
        return requested != ORIGINAL and (requested is not None or self._policy is not None)

    def reason(self, kernel: str, is_coarsened: bool, note: str | None) -> str:
        """Return why a launch of a kernel runs as it does, and what can be done for more, in one sentence.

        `note` is what is said of the launch's sizes, None if nothing.
        """
        if self.file_of(kernel) is not None:
            return "the sizes of the launch leave nothing to merge"
        if kernel not in self._kernels:
            return "it is not among the kernels to coarsen; name it in `kernels` or `factor`"
        if kernel in self._refused:
            return f"{self._refused[kernel]}; `coarsen apply --explain` shows the place"
        if note:
            return f"{note}; sizes that are multiples of the factor take all of it"
        requested = self._requested(kernel)
        if requested == ORIGINAL:
            return "a factor of 1 was asked for; `coarsen bench` measures what others gain"
        if not is_coarsened and requested is not None:
            return "the sizes of the launch leave nothing to merge; larger sizes or another level may"
        if requested is None:
            return "no factor is asked for, and nothing is remembered; tune=True searches"
        return "as asked for; `coarsen bench` measures what others gain"

    def static_local_memory(self, kernel: str, device: pyopencl.Device) -> int:
        """Return the bytes of local memory of a work-group of the original kernel, before any is passed to it."""
        fresh = self.original(kernel)
        return int(fresh.get_work_group_info(pyopencl.kernel_work_group_info.LOCAL_MEM_SIZE, device))

    def say_once(self, occasion: Hashable, message: str) -> None:
        """Log a warning the first time that something happens."""
        if occasion not in self._said:
            self._said.add(occasion)
            _log.warning(message)

    def say_reason(self, occasion: Hashable, message: str) -> None:
        """Log once why a kernel stays as it is: a warning, unless an observer is told with each launch."""
        say = self.say_once if self.observer is None else self.tell_once
        say(occasion, message)

    def tell_once(self, occasion: Hashable, message: str) -> None:
        """Log for information the first time that something happens."""
        if occasion not in self._said:
            self._said.add(occasion)
            _log.info(message)

    @cached_property
    def _device_kind(self) -> DeviceKind:
        """Return the kind of all devices of the context."""
        kinds = {device_kind_of(device_types_of(device)) for device in self._context.devices}
        return kinds.pop() if len(kinds) == 1 else DeviceKind.ANY

    def _as_written(self, definitions: Definitions) -> pyopencl.Program:
        """Return the source as it is written, built with some macros; raises pyopencl.Error."""
        source, options = self._codes.source_with(definitions)
        return build_for_launches(self._context, source, options, self._devices, self._cache_dir)

    def _built(self, kernel: str, wanted: Variant, code: Code, by_each_start: bool) -> pyopencl.Program | None:
        content, options = code.spirv or code.text, self._codes.build_options(code, wanted.definitions)
        try:
            return build_for_launches(
                self._context, content, options, self._devices, self._cache_dir, by_each_start
            )
        except pyopencl.Error as error:
            message = f"the device does not build the coarsened kernel {kernel}: {error}"
            if not wanted.any_size and self._requested(kernel) is not None:
                raise DeviceError(message) from error
            self.say_once((kernel, wanted), message)
            return None


def _divides(coarsening: Coarsening, local_size: Sequence[int]) -> bool:
    """Return True if a demanded local size can be coarsened."""
    if coarsening.level is Level.GROUP:
        return True
    left, rest = divmod(local_size[coarsening.dimension], coarsening.factor)
    return rest == 0 and left % coarsening.stride == 0
