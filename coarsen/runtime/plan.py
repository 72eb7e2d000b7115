"""The coarsening of each kernel of a program, and its coarsened variants, made when first needed.

A kernel has one variant for what was asked for, one that is guarded for any size, and one for each smaller factor
that some launch's sizes called for; each is a program of a single kernel, coarsened from the source once and built
for the context once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.base.bug_report import words_of
from coarsen.base.names import did_you_mean
from coarsen.devices.building import build_for_launches, most_ways_by_barriers
from coarsen.devices.discovery import device_types_of
from coarsen.errors import CoarsenError, DeviceError, InvalidInputError, RefusalError
from coarsen.frontend.included import file_directives
from coarsen.runtime.advice import (
    PATIENCE,
    AdviceRequest,
    AtHand,
    Decision,
    KernelFile,
    LaunchObserver,
    LaunchRefusedError,
    Policy,
)
from coarsen.runtime.code import Codes, allows_uneven_groups, forget_frames
from coarsen.runtime.launch import OriginalLaunch
from coarsen.runtime.text_cache.store import CacheFolder
from coarsen.runtime.toolchain import Code, Form, Toolchain
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration_of
from coarsen.variant.transforms import DEFAULT, DeviceKind, Transforms, device_kind_of
from coarsen.variant.variant import Definitions, Variant

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan


Arrays: TypeAlias = "Sequence[ArrayPlan] | Mapping[str, Sequence[ArrayPlan]]"
_Plans: TypeAlias = "tuple[ArrayPlan, ...]"
Numbers: TypeAlias = int | Sequence[int]
Names: TypeAlias = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Requested:
    """The requested coarsenings: `common` for all kernels, or `by_kernel` by name; both None: none is."""

    common: Configuration | None = None
    by_kernel: Mapping[str, Configuration] | None = None

    def of(self, kernel: str) -> Configuration | None:
        """Return the coarsening of a kernel; None where none is asked for."""
        return self.common if self.by_kernel is None else self.by_kernel.get(kernel, ())

    @property
    def kernels(self) -> tuple[str, ...] | None:
        """The kernels asked for by name; None if none is named."""
        return None if self.by_kernel is None else tuple(self.by_kernel)


def requested_of(
    factor: Numbers | Mapping[str, Numbers] | None,
    dim: Numbers | Mapping[str, Numbers],
    stride: Numbers | Mapping[str, Numbers],
    level: Names | Mapping[str, Names],
) -> Requested:
    """Return what a program's arguments ask for; each is one value for all kernels, or one by kernel's name.

    Raises:
        InvalidInputError: a value out of range, or one by name for a kernel that has no factor.
    """
    others = {"dim": (dim, 0), "stride": (stride, 1), "level": (level, Level.ITEM)}
    if isinstance(factor, Mapping):
        return Requested(by_kernel={name: _of_kernel(name, factor, others) for name in _known(factor, others)})
    if factor is None and any(value != default for value, default in others.values()):
        raise InvalidInputError("dim and stride go with a factor, level too: give the factor")
    if isinstance(dim, Mapping) or isinstance(stride, Mapping) or isinstance(level, Mapping):
        raise InvalidInputError(
            'dim, stride and level by kernel go with factors by kernel: factor={"name": 4, …}, for each of them'
        )
    return Requested(None if factor is None else configuration_of(factor, dim, stride, level))


def _known(factor: Mapping[str, Numbers], others: Mapping[str, tuple[Any, Any]]) -> tuple[str, ...]:
    """Return the kernels with a factor; raises InvalidInputError where something else names another."""
    names = tuple(factor)
    for option, (value, _) in others.items():
        for name in value if isinstance(value, Mapping) else ():
            if name not in names:
                hint = did_you_mean(str(name), names)
                raise InvalidInputError(f"{option} names the kernel {name!r}, which has no factor{hint}")
    return names


def _of_kernel(name: str, factor: Mapping[str, Numbers], others: Mapping[str, tuple[Any, Any]]) -> Configuration:
    values = [
        value.get(name, default) if isinstance(value, Mapping) else value for value, default in others.values()
    ]
    return configuration_of(factor[name], *values)


@dataclass(frozen=True, slots=True)
class RequestedArrays:
    """The requested plans: `common` to all kernels, or `by_kernel` by name."""

    common: _Plans = ()
    by_kernel: Mapping[str, _Plans] = field(default_factory=dict)

    def of(self, kernel: str) -> _Plans:
        """Return the plans for a kernel's arrays."""
        return self.by_kernel.get(kernel, self.common)

    def check_kernels(self, known: Sequence[str]) -> None:
        """Raise InvalidInputError for plans by name for a kernel that is not among those to coarsen."""
        for name in self.by_kernel:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InvalidInputError(f"arrays names the kernel '{name}', which is not to be coarsened{hint}")


NO_ARRAYS = RequestedArrays()


def requested_arrays(arrays: Arrays) -> RequestedArrays:
    """Return what a program's argument asks for.

    Raises:
        InvalidInputError: a plan that is none, or of a layout or an order; two plans for one array.
    """
    if isinstance(arrays, Mapping):
        return RequestedArrays(by_kernel={name: _checked(plans) for name, plans in arrays.items()})
    return RequestedArrays(_checked(arrays))


def _checked(plans: Iterable[ArrayPlan]) -> _Plans:
    try:
        given = tuple(plans)
    except TypeError:
        raise InvalidInputError(
            f"arrays are given as a sequence of coarsen.array_plan(…), not {plans!r}"
        ) from None
    if not given:
        return ()
    # Imported late: most programs ask for none.
    from coarsen.variant.data_plan import ArrayPlan, chosen_plans

    for plan in given:
        if not isinstance(plan, ArrayPlan):
            raise InvalidInputError(f"arrays are given as coarsen.array_plan(…), not {plan!r}")
    chosen = chosen_plans(given)
    for plan in chosen:
        if plan.moves_fields:
            raise InvalidInputError(
                f"{plan.argument} is to lie otherwise: give its coarsen.Layout by its name, arrays={{…: layout}}"
            )
    return chosen


_log = logging.getLogger("coarsen")

ORIGINAL: Configuration = ()


class CoarseningPlan:
    """The plan of one built program.

    `requested` is what is asked for each kernel, or that nothing is;
    `options` are the build options one by one, `devices` those to build for (None: all of the context's);
    `original` makes a kernel object of the uncoarsened program; `kernels` are the names of those to coarsen,
    `transforms` what may be used for it, on the kind of device that the context has, and `arrays` how arrays lie
    in them; `cache_dir` is that of PyOpenCL's cache of binaries; `policy` is asked about kernels for which nothing
    is requested, and where it has no decision the kernel stays as it is; `observer` sees the launches.
    """

    def __init__(
        self,
        context: pyopencl.Context,
        source: str,
        options: Sequence[str],
        devices: Sequence[pyopencl.Device] | None,
        requested: Requested,
        kernels: Sequence[str],
        form: Form,
        toolchain: Toolchain,
        original: Callable[[str], pyopencl.Kernel],
        transforms: Transforms = DEFAULT,
        cache_dir: CacheFolder = None,
        policy: Policy | None = None,
        observer: LaunchObserver | None = None,
        arrays: RequestedArrays = NO_ARRAYS,
    ) -> None:
        self._arrays = arrays
        self._context = context
        self._cache_dir = cache_dir
        self._original = original
        self._transforms = transforms
        self._source = source
        self._options = tuple(options)
        self._devices = devices
        self._requested = requested
        self._kernels = frozenset(kernels)
        self.toolchain = toolchain
        limit = most_ways_by_barriers(device.platform.version for device in devices or context.devices)
        self._codes = Codes(source, options, form, toolchain, limit)
        self._programs: dict[tuple[str, Variant], pyopencl.Program | None] = {}
        self._refused: dict[str, str] = {}
        self._said: set[Hashable] = set()
        # Seconds that a launch may be held up until what comes before it is done, so that it can be looked at.
        self.patience = PATIENCE
        self._policy = policy
        self.observer = observer
        self._sealed: set[str] = set()

    @property
    def options(self) -> tuple[str, ...]:
        """The build options, one by one."""
        return self._options

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

    def seal(self, kernel: str) -> None:
        """Make and build nothing of a kernel any more: what isn't there is as refused, without a word."""
        self._sealed.add(kernel)

    def build_known(self) -> None:
        """Build the variants that the policy knows already of kernels to coarsen."""
        if self._policy is None:
            return
        for kernel in sorted(filter(self.is_advised, self._kernels)):
            for device in self._devices or self._context.devices:
                request = self._request(kernel, OriginalLaunch(device, (1,), None))
                for wanted in self._policy.known_variants(request):
                    if wanted.coarsenings:
                        self._build_known(kernel, wanted)

    def _build_known(self, kernel: str, wanted: Variant) -> None:
        variant = self.variant_of(wanted.coarsenings, wanted.any_size, wanted.transforms)
        try:
            if self.code(kernel, variant) is not None:
                self.built(kernel, variant)
        except CoarsenError as error:
            # The first launch says so.
            forget_frames(error)

    def coarsen_requested(self, kernel: str, required: Sequence[int] = ()) -> None:
        """Coarsen the kernel now, as asked for; raise RefusalError, and leave it uncoarsened, if that is not
        possible.

        `required` is the local size that the kernel demands, if any: factors that it does not allow are no reason
        to refuse, since launches take others.
        """
        requested = self._requested.of(kernel) or ()
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
        return self._arrays.of(kernel)

    def variant_of(
        self,
        coarsenings: Configuration,
        any_size: bool = False,
        transforms: Transforms | None = None,
        arrays: tuple[ArrayPlan, ...] = (),
        definitions: Definitions = (),
    ) -> Variant:
        """Return the variant with these coarsenings, for any launch on the context's kind of device.

        It is made by `transforms` (None stands for the program's), for `arrays` that lie so, and of the source
        with macros, where it has `definitions`.
        """
        chosen = self.transforms if transforms is None else replace(transforms, device_kind=self._device_kind)
        return Variant((), coarsenings, definitions, chosen, any_size, arrays)

    def is_advised(self, kernel: str) -> bool:
        """Return True if a policy is asked about the launches of a kernel."""
        if self.file_of(kernel) is not None:
            return True
        return self._policy is not None and kernel in self._kernels and self._requested.of(kernel) is None

    def file_of(self, kernel: str) -> KernelFile | None:
        """Return the tuned file that a kernel is decided about by; None where there is none."""
        return None if self._policy is None else self._policy.file_of(kernel)

    def is_looked_at(self, kernel: str) -> bool:
        """Return True if a policy may read the arguments of a kernel's launches."""
        has_file = self.file_of(kernel) is not None
        return self.is_advised(kernel) and not has_file and bool(self._policy and self._policy.looks_at_arguments)

    def requested(self, kernel: str) -> Decision | None:
        """Return what is asked for of a kernel; None where that is nothing."""
        if self.file_of(kernel) is not None:
            return None
        if kernel not in self._kernels or kernel in self._refused:
            return Decision(Variant(), "", is_programs=True)
        requested = self._requested.of(kernel)
        return None if requested is None else Decision(Variant(coarsenings=requested), "", is_programs=True)

    def decision(self, kernel: str, launch: OriginalLaunch, at_hand: AtHand | None) -> Decision | None:
        """Ask the policy about a launch; None where it has no decision.

        Where something went wrong, said once, and where the kernel refuses what is decided, it stays as it is.

        Raises:
            LaunchRefusedError: the policy refuses the launch.
        """
        if self._policy is None:
            return None
        try:
            decision = self._policy.choose(self._request(kernel, launch, at_hand))
        except LaunchRefusedError:
            raise
        except (CoarsenError, pyopencl.Error) as error:
            return self._as_it_is(kernel, error)
        if decision is None or decision.otherwise is not None or not decision.variant.coarsenings:
            return decision
        wanted = decision.variant
        try:
            if decision.is_programs:
                self._codes.coarsen(kernel, self.variant_of(wanted.coarsenings, arrays=self.arrays_of(kernel)))
            else:
                self._codes.coarsen(kernel, self.variant_of(wanted.coarsenings, False, wanted.transforms))
        except CoarsenError as error:
            return self._as_it_is(kernel, error)
        return decision

    def _as_it_is(self, kernel: str, error: Exception) -> Decision:
        forget_frames(error)
        self.say_reason((kernel, str(error)), f"kernel {kernel} stays as it is: {words_of(error)}")
        return Decision(Variant(), str(error))

    def _request(self, kernel: str, launch: OriginalLaunch, at_hand: AtHand | None = None) -> AdviceRequest:
        return AdviceRequest(
            self._source,
            self._options,
            kernel,
            launch,
            self.transforms,
            queue=None if at_hand is None else at_hand.queue,
            arguments=None if at_hand is None else at_hand.arguments,
            offset=None if at_hand is None else at_hand.offset,
            cache_dir=self._cache_dir,
            toolchain=self.toolchain,
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

    def variant(self, kernel: str, wanted: Variant) -> pyopencl.Kernel | None:
        """Return a new kernel object of the coarsened variant; None, reported once, if the kernel refuses this
        configuration or the device fails to build a variant that the user did not request.

        Raises DeviceError where the device doesn't build what was asked for.
        """
        if wanted == Variant():
            return self._original(kernel)
        program = self.built(kernel, wanted)
        return None if program is None else PlainKernel(program, kernel)

    def built(self, kernel: str, wanted: Variant) -> pyopencl.Program | None:
        """Return the program of a variant, as `variant` does its kernel."""
        key = (kernel if wanted.coarsenings else "", wanted)
        if kernel in self._sealed and key not in self._programs:
            return None
        try:
            if key not in self._programs and not wanted.coarsenings:
                self._programs[key] = self._as_written(wanted.definitions)
            if key not in self._programs:
                self._programs[key] = self._built(kernel, wanted, self._codes.coarsen(kernel, wanted))
        except (RefusalError, InvalidInputError) as error:
            forget_frames(error)
            self.say_once((key, str(error)), f"kernel {kernel} stays as it is: {error}")
            return None
        return self._programs[key]

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
        requested = self._requested.of(kernel)
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
        requested = self._requested.of(kernel)
        if requested == ORIGINAL:
            return "a factor of 1 was asked for; `coarsen bench` measures what others gain"
        if not is_coarsened and requested is not None:
            return "the sizes of the launch leave nothing to merge; larger sizes or another level may"
        if requested is None:
            return "no factor is asked for, and nothing is remembered; tune=True searches"
        return "as asked for; `coarsen bench` measures what others gain"

    def static_local_memory(self, kernel: str, device: pyopencl.Device) -> int:
        """Return the bytes of local memory of a work-group of the original kernel, before any is passed to it."""
        fresh = self._original(kernel)
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

    def _built(self, kernel: str, wanted: Variant, code: Code) -> pyopencl.Program | None:
        try:
            options = self._codes.build_options(code, wanted.definitions)
            return build_for_launches(
                self._context, code.spirv or code.text, options, self._devices, self._cache_dir
            )
        except pyopencl.Error as error:
            message = f"the device does not build the coarsened kernel {kernel}: {error}"
            if not wanted.any_size and self._requested.of(kernel) is not None:
                raise DeviceError(message) from error
            self.say_once((kernel, wanted), message)
            return None


def _divides(coarsening: Coarsening, local_size: Sequence[int]) -> bool:
    """Return True if a demanded local size can be coarsened."""
    if coarsening.level is Level.GROUP:
        return True
    left, rest = divmod(local_size[coarsening.dimension], coarsening.factor)
    return rest == 0 and left % coarsening.stride == 0
