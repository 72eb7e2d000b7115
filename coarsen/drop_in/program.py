"""The drop-in for `pyopencl.Program` that takes what is remembered of a kernel, and tunes.

    program = coarsen.Program(context, source, tune=True).build()
    program.sgemm(queue, (1024, 1024), (16, 16), *arguments)      # the first launch of such a size is tuned

Everything else is as in `coarsen.runtime.program`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import pyopencl
from pyopencl._cl import Kernel as PlainKernel
from pyopencl._cl import _Program as RawProgram

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.drop_in.advisor import TuningAdvisor
from coarsen.drop_in.mode import REMEMBERED, Mode, Otherwise, TuneChoice, mode_of
from coarsen.drop_in.remembered_file import RememberedKernel, remembered_file
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.runtime.advice import LaunchObserver
from coarsen.runtime.build_options import BuildOptions
from coarsen.runtime.code import Form
from coarsen.runtime.compiled_sources import CompiledSources
from coarsen.runtime.program import Program as RuntimeProgram
from coarsen.runtime.requested_arrays import Arrays
from coarsen.runtime.text_cache.location import CacheFolder
from coarsen.runtime.toolchain import Toolchain
from coarsen.runtime.tuned_choice import TunedChoice
from coarsen.variant.coarsening import Level
from coarsen.variant.transforms import UseName

_log = logging.getLogger("coarsen")


class Program(RuntimeProgram):
    """A program from OpenCL C source whose kernels are coarsened; otherwise a `pyopencl.Program`.

    Kernels are attributes once it is built, and launched with the original's sizes. Whether the device is a CPU
    or a GPU is found out.

    The first one made gives the names `pyopencl.Kernel` and `pyopencl.enqueue_nd_range_kernel` to functions that
    know its kernels too; other kernels go PyOpenCL's own way.

    Args:
        context: the `pyopencl.Context` to build for; or a raw program of PyOpenCL's, and no `source`.
        source: OpenCL C. SPIR-V, and devices with `binaries`, are taken as they are: nothing is coarsened.
        binaries: of a program, one for each of the devices that `source` then holds.
        tune: how a kernel without a `factor` is coarsened. None, or "remembered": as is remembered of launches of
            such sizes on the device, else not at all. True, or a `coarsen.Tune` with settings: as is remembered,
            else the launch's variants are searched for some seconds, on copies of its buffers, in other processes,
            and the best is remembered; what can't be tuned stays as it is. "predict": as is remembered, else by a
            predicted factor along dimension 0, a guess that nobody measured; the first launch says so. False: not
            at all.
        factor: how many work-items, or work-groups, become one, at least 1; or one number for each of several
            dimensions; or either by kernel's name, `{"advect": 4, "clear": 16}`, where other kernels stay as they
            are. None leaves it to `tune`.
        dim: the dimension of the NDRange, 0, 1 or 2; one for all factors, or one each; or by kernel's name.
        stride: how far apart the merged work-items stand, in local ids; one for all, or one each; or by kernel's
            name.
        kernels: the names of the kernels to coarsen; all if None.
        level: "item" merges work-items, "group" whole work-groups; one for all, or one each; or by kernel's name.
        fast_path: "auto", "always" or "never", as in `coarsen.coarsen`; of a predicted factor too.
        lock_step: as `fast_path`.
        clean_up: whether instructions that the rewriting made redundant are removed.
        distinct: whether variants may take it that pointers lead to distinct memory, as in
            `coarsen.runtime.program.Program`; each launch is checked for it.
        arrays: places and pads of arrays in kernels of a given or predicted factor, as in
            `coarsen.runtime.program.Program`; each launch is checked for it.
        form: what the device is given of a coarsened kernel, "opencl_c" or "spirv".
        toolchain: the clang and the libraries to lower with; the package's own if None.
        observer: sees each launch.
        tuned: a tuned file (its path), or several, of several kernels or devices: for each launch of its kernel,
            it chooses the version that was found to be best for such launches. All its versions are built with the
            program. Where it can't be used (another device, driver, source, …) the kernel runs as it is written.
            Its kernels take no `factor`; `tune` is for the others. "remembered": what is remembered of each kernel
            at all sizes, of which the nearest counts; `tune` is for kernels of which nothing is.

    Raises:
        InvalidInputError: a value out of range; a tuned file that can't be read, or not be used beside the rest;
            `dim`, `stride` or `level` without a factor, or for a kernel without one; a factor for
            all kernels and something to tune; a layout or an order among `arrays`.
    """

    def __init__(
        self,
        context: pyopencl.Context | RawProgram,
        source: str | bytes | Sequence[pyopencl.Device] | None = None,
        binaries: Sequence[bytes] | None = None,
        *,
        tune: TuneChoice = None,
        factor: int | Sequence[int] | Mapping[str, int | Sequence[int]] | None = None,
        dim: int | Sequence[int] | Mapping[str, int | Sequence[int]] = 0,
        stride: int | Sequence[int] | Mapping[str, int | Sequence[int]] = 1,
        kernels: Sequence[str] | None = None,
        level: str | Sequence[str] | Mapping[str, str | Sequence[str]] = Level.ITEM,
        fast_path: UseName = "auto",
        lock_step: UseName = "auto",
        clean_up: bool = True,
        distinct: bool = False,
        arrays: Arrays = (),
        form: Form = "opencl_c",
        toolchain: Toolchain | None = None,
        observer: LaunchObserver | None = None,
        tuned: TunedChoice = None,
    ) -> None:
        mode = mode_of(tune)
        # Before the program is there: an attribute that isn't would be looked up as a kernel.
        self._remembered = _remembering(tuned, factor, form, mode)
        if tune is not None and mode is not None and factor is not None:
            raise InvalidInputError("a factor is given or found by tuning: leave out factor or tune")
        # Of a factor that is given, and of code in another form than tuning measures, nothing is remembered.
        advises = mode is not None and factor is None and form == "opencl_c"
        super().__init__(
            context,
            source,
            binaries,
            factor=factor,
            dim=dim,
            stride=stride,
            kernels=kernels,
            level=level,
            fast_path=fast_path,
            lock_step=lock_step,
            clean_up=clean_up,
            distinct=distinct,
            arrays=arrays,
            form=form,
            toolchain=toolchain,
            advisor=TuningAdvisor(mode) if advises and mode is not None else None,
            predict=mode is not None and mode.otherwise is Otherwise.PREDICT,
            observer=observer,
            tuned=None if self._remembered is not None else tuned,
        )

    def _files_for_build(
        self, options: BuildOptions, devices: Sequence[pyopencl.Device] | None, cache_dir: CacheFolder
    ) -> tuple[TunedFile, ...]:
        if self._remembered is None:
            return super()._files_for_build(options, devices, cache_dir)
        names = self._kernel_names() if self._wanted_kernels is None else self._wanted_kernels
        sources = CompiledSources()
        found = (
            self._remembered_file(name, device, options, cache_dir, sources)
            for name in names
            for device in devices or self._opencl_context.devices
        )
        return tuple(file for file in found if file is not None)

    def _remembered_file(
        self,
        name: str,
        device: pyopencl.Device,
        options: BuildOptions,
        cache_dir: CacheFolder,
        sources: CompiledSources,
    ) -> TunedFile | None:
        """The table of what is remembered of a kernel; None where there is nothing, or it can't be read."""
        arguments = PlainKernel(self, name).num_args
        kernel = RememberedKernel(self._text or "", name, arguments, options, self._transforms, cache_dir, sources)
        try:
            return remembered_file(kernel, device, self._remembered)
        except RefusalError as refusal:
            _log.warning("what is remembered of kernel %s isn't used: %s", name, refusal)
            return None


def _remembering(tuned: TunedChoice, factor: object, form: Form, mode: Mode | None) -> Tune | None:
    """Return the settings where tables are asked for of what is remembered; None where they aren't.

    Raises:
        InvalidInputError: something else is asked for that can't be had beside them.
    """
    if tuned != REMEMBERED:
        return None
    if factor is not None or form != "opencl_c":
        raise InvalidInputError(
            "what is remembered goes with no factor, and with OpenCL C: leave out factor and form"
        )
    return Tune() if mode is None else mode.settings
