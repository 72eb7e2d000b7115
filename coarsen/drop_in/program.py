"""The drop-in for `pyopencl.Program` whose kernels run coarsened.

    program = coarsen.Program(context, source, tune=True).build()
    program.sgemm(queue, (1024, 1024), (16, 16), *arguments)      # the original sizes: the launch divides them

The original program is built as it is. Coarsened variants of its kernels are programs of their own: those that are
remembered are built with it, others when a launch first needs them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

import pyopencl
from pyopencl._cl import _Program as RawProgram
from pyopencl.tools import is_spirv

from coarsen.base.names import did_you_mean
from coarsen.devices.building import build_for_launches
from coarsen.devices.discovery import common_macros_of
from coarsen.drop_in.mode import TuneChoice, policy_of
from coarsen.errors import DeviceError, InvalidInputError, RefusalError
from coarsen.policy.requested import Arrays, Requested, requested_arrays, requested_of
from coarsen.runtime.advice import LaunchObserver, Policy
from coarsen.runtime.code import BuildOptions, device_options, options_of_coarsened
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.launch import required_local_size
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.plan import CoarseningPlan
from coarsen.runtime.pyopencl_names import launch_ours_through_pyopencl
from coarsen.runtime.text_cache.store import CacheFolder, store_of
from coarsen.runtime.toolchain import Form, Toolchain
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import TransformKeywords, transforms_of

if TYPE_CHECKING:
    from coarsen.dispatch.tuned_file import TunedFile
    from coarsen.drop_in.together import Together
    from coarsen.policy.tuned import TunedFiles
    from coarsen.policy.tuned_checks import TunedChoice
    from coarsen.runtime.laid_out_kernel import RewrittenKernel
    from coarsen.runtime.layout import Layout

_log = logging.getLogger("coarsen")


class Program(pyopencl.Program):
    """A program from OpenCL C source whose kernels are coarsened; otherwise a `pyopencl.Program`.

    Kernels are attributes once it is built, and launched with the original's sizes. Whether the device is a CPU
    or a GPU is found out. Wide accesses, and what takes pointers as distinct, are used where that was measured:
    each launch is checked for what they take for granted.

    The first one made gives the names `pyopencl.Kernel` and `pyopencl.enqueue_nd_range_kernel` to functions that
    know its kernels too; other kernels go PyOpenCL's own way.

    Args:
        context: the `pyopencl.Context` to build for; or a raw program of PyOpenCL's, and no `source`.
        source: OpenCL C. SPIR-V, and devices with `binaries`, are taken as they are: nothing is coarsened.
        binaries: of a program, one for each of the devices that `source` then holds.
        tune: how a kernel without a `factor` is coarsened. None, or "remembered": as is remembered of launches of
            such sizes on the device, else not at all. True, or a `coarsen.Tune` with settings: as is remembered,
            else the launch's variants are searched for some seconds, on copies of its buffers, in other processes,
            and the best is remembered; what can't be tuned stays as it is. False: not at all. Or what decides: a
            `coarsen.runtime.advice.Policy`.
        factor: how many work-items, or work-groups, become one, at least 1; or one number for each of several
            dimensions; or either by kernel's name, `{"advect": 4, "clear": 16}`, where other kernels stay as they
            are. None leaves it to `tune`.
        dim: the dimension of the NDRange, 0, 1 or 2; one for all factors, or one each; or by kernel's name.
        stride: how far apart the merged work-items stand, in local ids; one for all, or one each; or by kernel's
            name.
        kernels: the names of the kernels to coarsen; all if None.
        level: "item" merges work-items, "group" whole work-groups; one for all, or one each; or by kernel's name.
        arrays: places and pads of arrays in kernels of a given factor (`coarsen.array_plan`), for all
            kernels to coarsen, or by kernel's name. A launch whose buffers don't suit a place runs the same
            variant without places; what is remembered or a tuned file chooses has its arrays as they are written.
            Or how arrays lie, by the names of arguments, `{"bodies": coarsen.Layout.soa(body)}`: each kernel that
            has such an argument is rewritten, and takes a `coarsen.LaidOutArray` for it. Of a tuned file it runs
            the version for arrays that lie so; where there is none, as without the file, which is logged.
        form: what the device is given of a coarsened kernel, "opencl_c" or "spirv".
        toolchain: the clang and the libraries to lower with; the package's own if None.
        observer: sees each launch.
        tuned: a tuned file (its path), or several, of several kernels or devices: for each launch of its kernel,
            it chooses the version that was found to be best for such launches. All its versions are built with the
            program. Where it can't be used (another device, driver, source, …) the kernel runs as it is written.
            Its kernels take no `factor`; `tune` is for the others.
        transforms: as in `coarsen.coarsen`, `fast_path="always"` for example. A launch that does not keep
            to what one takes for granted (`distinct`, `wide_accesses`) runs without it.

    Raises:
        InvalidInputError: a value out of range; a tuned file that can't be read, or not be used beside the rest;
            `dim`, `stride` or `level` without a factor, or for a kernel without one; a factor for
            all kernels and something to tune; a plan with a layout or an order among `arrays`.
    """

    def __init__(
        self,
        context: pyopencl.Context | RawProgram,
        source: str | bytes | Sequence[pyopencl.Device] | None = None,
        binaries: Sequence[bytes] | None = None,
        *,
        tune: TuneChoice | Policy = None,
        factor: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None = None,
        dim: int | Sequence[int] | Mapping[str, int | Sequence[int]] = 0,
        stride: int | Sequence[int] | Mapping[str, int | Sequence[int]] = 1,
        kernels: Sequence[str] | None = None,
        level: str | Sequence[str] | Mapping[str, str | Sequence[str]] = Level.ITEM,
        arrays: Arrays | Mapping[str, Layout] = (),
        form: Form = "opencl_c",
        toolchain: Toolchain | None = None,
        observer: LaunchObserver | None = None,
        tuned: TunedChoice = None,
        **transforms: Unpack[TransformKeywords],
    ) -> None:
        # Before anything else: an attribute that isn't there yet would be looked up as a kernel.
        self._plan: CoarseningPlan | None = None
        self._launches: dict[str, KernelLaunches] = {}
        self._text = source_of(context, source)
        self._files = _given_files(tuned, factor, form)
        requested = requested_of(factor, dim, stride, level)
        self._transforms = transforms_of(**transforms)
        self._layouts, plans = _by_argument(arrays)
        self._rewritten: dict[str, tuple[RewrittenKernel, CoarseningPlan]] = {}
        self._arrays = requested_arrays(plans)
        self._wanted_kernels = _wanted_kernels(kernels, requested)
        self._form = form
        self._toolchain = toolchain
        self._observer = observer
        self._policy = policy_of(tune, requested, form)
        if form not in ("opencl_c", "spirv"):
            raise InvalidInputError(f"the form of a coarsened kernel is 'opencl_c' or 'spirv', not {form!r}")
        if isinstance(binaries, int):
            raise InvalidInputError(f"a factor is given by its name: factor={binaries}")
        given: Any = [value for value in (context, source, binaries) if value is not None]
        super().__init__(*given)
        # PyOpenCL's own is gone once the program is built.
        self._opencl_context: pyopencl.Context = self._context
        launch_ours_through_pyopencl(kernel_of)
        if self._text is None and self._files:
            raise InvalidInputError("a tuned file goes with a source in OpenCL C")
        if self._text is None:
            _log.warning("%s is not coarsened: that takes OpenCL C", _form_of(source))

    @classmethod
    def from_int_ptr(cls, int_ptr_value: int, retain: bool = True) -> Self:
        """As `pyopencl.Program.from_int_ptr`; such a program is not coarsened."""
        return cls(RawProgram.from_int_ptr(int_ptr_value, retain))

    def build(
        self,
        options: BuildOptions = None,
        devices: Sequence[pyopencl.Device] | None = None,
        cache_dir: CacheFolder = None,
    ) -> Self:
        """Build the original program as `pyopencl.Program.build` does, and coarsen its kernels.

        What is asked for is coarsened now, what is remembered is built too. Kernels that can't be coarsened are
        logged and stay as they are, unless they were named.

        Args:
            options: OpenCL build options, one text or several.
            devices: of the context, to build for; all if None.
            cache_dir: the folder of PyOpenCL's cache of binaries and of coarsened text; None for the context's,
                or the user's cache folder (for text, `COARSEN_CACHE_DIR` if that is set), False for no cache.

        Returns:
            The program itself.

        Raises:
            RefusalError: a kernel named in `kernels`, or every kernel, can't be coarsened.
            InvalidInputError: an unknown name in `kernels`.
            DeviceError: the device doesn't take the form.
        """
        # PyOpenCL takes False, though its annotation leaves it out.
        super().build(options, devices, cast("str | None", cache_dir))
        if self._text is None:
            return self
        if cache_dir is None:
            cache_dir = getattr(self._opencl_context, "cache_dir", None)
        self._built_for = devices or self._opencl_context.devices, devices, cache_dir
        self._launches = {}
        self._rewritten = self._build_rewritten(options)
        files = tuple(file for file in self._files if file.kernel not in self._rewritten)
        kernels = self._kernels_to_coarsen(files)
        self._arrays.check_kernels(kernels)
        policy, tuned = self._policy, self._tuned_policy(files, options)
        if tuned is not None:
            # Imported late: most programs have no such file.
            from coarsen.policy.requested import FirstOf

            policy = tuned if policy is None else FirstOf(tuned, policy)
        self._plan = plan = self._new_plan(self, self._text, device_options(options), kernels, policy)
        if tuned is not None:
            tuned.build(plan, lambda name: plan.original(name).num_args)
        plan.build_known()
        return self

    def _new_plan(
        self,
        program: pyopencl.Program,
        source: str,
        options: Sequence[str],
        kernels: tuple[str, ...],
        policy: Policy | None,
    ) -> CoarseningPlan:
        """Return the plan of a program that is built, with what is asked for coarsened."""
        # Not the program: this one would refer to itself, and stay until Python looks for such circles.
        raw_program: RawProgram = cast("Any", program)._get_prg()
        all_devices, devices, cache_dir = self._built_for
        plan = CoarseningPlan(
            self._opencl_context,
            source,
            options,
            devices,
            kernels,
            self._form_for_devices(),
            self._toolchain or Toolchain(common_macros_of(all_devices), store_of(cache_dir)),
            raw_program,
            self._transforms,
            cache_dir,
            policy,
            self._observer,
            {kernel: self._arrays.of(kernel) for kernel in kernels},
        )
        self._coarsen_now(plan, kernels)
        return plan

    def compile(
        self,
        options: BuildOptions = None,
        devices: Sequence[pyopencl.Device] | None = None,
        headers: Sequence[tuple[str, pyopencl.Program]] | None = None,
    ) -> Self:
        """As `pyopencl.Program.compile`; what is linked from it is not coarsened."""
        super().compile(options, devices, headers)
        _log.warning("a program that is compiled and linked is not coarsened: build() it in one step")
        return self

    def all_kernels(self) -> Sequence[pyopencl.Kernel]:
        """Return a kernel object for each kernel of the program."""
        plain = super().all_kernels()
        return plain if self._plan is None else [self.kernel(kernel.function_name) for kernel in plain]

    def kernel(self, name: str) -> Kernel:
        """Return a new kernel object, once the program is built; raises LogicError for an unknown name."""
        if self._plan is None:
            raise InvalidInputError("a program's kernels come with build()")
        layouts, plan = self._rewritten.get(name, (None, self._plan))
        if name not in self._launches:
            self._launches[name] = KernelLaunches(name, plan)
        return Kernel(self, self._launches[name], layouts)

    def together(self, queue: pyopencl.CommandQueue, *, measure: bool = True) -> Together:
        """Return a region (`with program.together(queue) as t:`) whose launches may be made as one.

        This program's launches are collected in it, and made at its end: as one where that does the same, else as
        they are. Whatever else the program does in it (copies, other programs' kernels) is done at once, before.
        Give nothing back to a `MemoryPool` in it; other threads can't launch this program's kernels meanwhile.
        `t.gives_up(buffer)` says that nobody reads what is written there; `t.event` is the last launch's event,
        `t.is_fused` and `t.reason` say what was done.

        Args:
            queue: for all launches; one that keeps their order.
            measure: whether one launch has to be faster. The first times, both ways run in turns, and the queue is
                waited for. With False it is made wherever it does the same.

        Raises:
            InvalidInputError: the program is not built from OpenCL C.
        """
        if self._plan is None or self._text is None:
            raise InvalidInputError("`together` takes a program that is built from OpenCL C")
        # Imported late: it loads LLVM, and most programs have no such region.
        from coarsen.drop_in.together import Together

        return Together(queue, [self._plan, *(plan for _, plan in self._rewritten.values())], measure)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as `kernel` has it)
        # Before `__init__` has set them, both are looked up here.
        own = self.__dict__
        if own.get("_plan") is None:
            if own.get("_text", "") is None:
                # PyOpenCL's own: nothing of this program is coarsened.
                return super().__getattr__(name)
            raise AttributeError(f"{_not_found(name)}; kernels come with build()")
        try:
            return self.kernel(name)
        except pyopencl.LogicError as error:
            raise AttributeError(_not_found(name)) from error

    def _kernels_to_coarsen(self, files: Sequence[TunedFile]) -> tuple[str, ...]:
        names = self._kernel_names()
        wanted = names if self._wanted_kernels is None else self._wanted_kernels
        unknown = [name for name in wanted if name not in names]
        if unknown:
            hint = did_you_mean(unknown[0], names)
            raise InvalidInputError(f"the program has no kernel '{unknown[0]}'{hint}; it has {', '.join(names)}")
        others = {*self._rewritten, *(file.kernel for file in files)}
        return tuple(name for name in wanted if name not in others)

    def _kernel_names(self) -> tuple[str, ...]:
        return tuple(filter(None, str(self.get_info(pyopencl.program_info.KERNEL_NAMES)).split(";")))

    def _tuned_policy(self, files: Sequence[TunedFile], options: BuildOptions) -> TunedFiles | None:
        """Return what decides by the tuned files; None where there is none."""
        if not files:
            return None
        # Imported late: most programs have no such file.
        from coarsen.policy.tuned import Picker, TunedFiles

        devices, _, cache_dir = self._built_for
        picker = self._policy if isinstance(self._policy, Picker) else None
        return TunedFiles(files, self._kernel_names(), self._text or "", options, devices, cache_dir, picker)

    def _build_rewritten(self, options: BuildOptions) -> dict[str, tuple[RewrittenKernel, CoarseningPlan]]:
        """Build programs of the kernels whose arrays lie otherwise, and return their plans by their names."""
        if not self._layouts:
            return {}
        # Imported late: these load LLVM.
        from coarsen.drop_in.laid_out import rewritten_kernels, version_of

        source, given, (all_devices, devices, cache_dir) = (
            self._text or "",
            device_options(options),
            self._built_for,
        )
        found: dict[str, tuple[RewrittenKernel, CoarseningPlan]] = {}
        for name, kernel in rewritten_kernels(source, self._layouts, given, common_macros_of(all_devices)).items():
            own = [*options_of_coarsened(given), kernel.standard]
            program = build_for_launches(self._opencl_context, kernel.text, own, devices, cache_dir)
            is_wanted = self._wanted_kernels is None or name in self._wanted_kernels
            version = version_of(self._files, kernel, source, options, all_devices)
            policy = version or (self._policy if is_wanted else None)
            plan = self._new_plan(program, kernel.text, device_options(own), (name,), policy)
            plan.build_known()
            found[name] = kernel, plan
        return found

    def _form_for_devices(self) -> Form:
        if self._form == "spirv":
            for device in self._opencl_context.devices:
                if "SPIR-V" not in (getattr(device, "il_version", None) or ""):
                    raise DeviceError(f"the device '{device.name.strip()}' takes no SPIR-V; use form='opencl_c'")
        return self._form

    def _coarsen_now(self, plan: CoarseningPlan, kernels: tuple[str, ...]) -> None:
        """Coarsen what was asked for, so that a refusal shows when the program is built, not at some launch."""
        refusals: list[tuple[str, RefusalError]] = []
        for kernel in kernels:
            try:
                # A kernel object takes PyOpenCL up to half as long as a build from its cache.
                required = None
                if plan.may_require_local_size:
                    required = required_local_size(plan.original(kernel), self._opencl_context.devices[0])
                plan.coarsen_requested(kernel, required or ())
            except RefusalError as refusal:
                if self._wanted_kernels is not None:
                    raise
                refusals.append((kernel, refusal))
        if refusals and len(refusals) == len(kernels):
            raise refusals[0][1]
        for kernel, reason in refusals:
            plan.say_once(kernel, f"kernel {kernel} stays as it is: {reason}")


def _by_argument(arrays: Any) -> tuple[dict[str, Layout], Any]:  # noqa: ANN401 (as a program takes them)
    """Return layouts by the names of arguments, and the plans of arrays in kernels."""
    if not isinstance(arrays, Mapping):
        return {}, arrays
    layouts = {name: value for name, value in arrays.items() if hasattr(value, "arrangement")}
    return layouts, {name: value for name, value in arrays.items() if name not in layouts}


def kernel_of(program: Any, name: str) -> Kernel | None:  # noqa: ANN401 (whatever PyOpenCL takes)
    """Return our kernel of a program of ours that is built."""
    return program.kernel(name) if isinstance(program, Program) and program._plan is not None else None


def _not_found(name: str) -> str:
    """Return in PyOpenCL's words that a program has no such attribute."""
    return f"'{name}' was not found as a program info attribute or as a kernel name"


def _wanted_kernels(kernels: Sequence[str] | None, requested: Requested | None) -> tuple[str, ...] | None:
    """Return the kernels asked for by name; None if none is named."""
    by_name = None if requested is None else requested.kernels
    if kernels is not None and by_name is not None:
        raise InvalidInputError("factors that are given by kernel say which kernels: leave `kernels` out")
    return by_name if kernels is None else tuple(kernels)


def _given_files(tuned: TunedChoice, factor: object, form: Form) -> tuple[TunedFile, ...]:
    """Return the tuned files that are given, read where they aren't yet."""
    if tuned is None:
        return ()
    # Imported late: most programs have no such file.
    from coarsen.policy.tuned_checks import tuned_files

    return tuned_files(tuned, factor, form)


def source_of(
    context: Any = None,  # noqa: ANN401 (whatever PyOpenCL takes)
    source: Any = None,  # noqa: ANN401
    binaries: Any = None,  # noqa: ANN401
) -> str | None:
    """Return the OpenCL C that a program with these arguments is made from; None where it is something else."""
    if binaries is not None or not isinstance(source, str | bytes) or is_spirv(source):
        return None
    try:
        return source if isinstance(source, str) else source.decode()
    except UnicodeDecodeError:
        return None


def _form_of(source: object) -> str:
    """Return in words what a program is made from that isn't coarsened."""
    if source is None:
        return "a program that is made already"
    return "a program from SPIR-V" if isinstance(source, bytes) else "a program from binaries"
