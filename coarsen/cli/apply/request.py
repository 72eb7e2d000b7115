"""The request of `coarsen apply` (the kernel, the coarsening, the form), and the coarsening itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.base.one_thread import load_numpy_in_one_thread
from coarsen.cli.kernel_input import naming_file, unit_of
from coarsen.cli.messages import note
from coarsen.cli.options import parsed_size
from coarsen.cost.banks import ANY_CPU, ANY_DEVICE, MemoryDevice
from coarsen.cost.pads import PadCost, costed_pads, with_pads
from coarsen.cost.work_counts import padded
from coarsen.errors import InvalidInputError, printable_in_line
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel, LaidOutKernel, Observer, laid_out, run_pipeline
from coarsen.variant.coarsening import Coarsening, Level, configuration_of
from coarsen.variant.data_plan import ArrayPlan, array_plans
from coarsen.variant.options import ARRAY_OPTIONS, TRANSFORM_OPTIONS
from coarsen.variant.transforms import DEFAULT, DeviceKind, Transforms
from coarsen.variant.variant import LocalSize, Variant

if TYPE_CHECKING:
    from coarsen.cli.apply.options import ApplyOptions
    from coarsen.targets import Target


@dataclass(frozen=True)
class Request:
    """A kernel of a file, and the options by which it is coarsened; `compiled` is the file, if it is already.

    `--factor` and `--device` exclude each other: for a device the factor is predicted.
    """

    asked: ApplyOptions
    kernel: str | None
    compiled: TranslationUnit | None = None

    @property
    def file(self) -> Path:
        """Return the kernel's file."""
        return self.asked.file

    @property
    def factors(self) -> Sequence[int]:
        """Return the factors that were given, 1 where something else is asked for; none to have it predicted."""
        is_rewritten = self.transforms.without_merging != DEFAULT or bool(self.arrays)
        return self.asked.chosen["factor"] or ([1] if is_rewritten and self.asked.device is None else [])

    @property
    def dimensions(self) -> Sequence[int]:
        """Return the dimensions along which it is coarsened."""
        return self.asked.chosen["dimension"] or [0]

    @property
    def levels(self) -> Sequence[Level]:
        """Return what is merged: one level for all of the dimensions, or one each."""
        return self.asked.chosen["level"] or [Level.ITEM]

    @cached_property
    def arrays(self) -> tuple[ArrayPlan, ...]:
        """Return how arrays are to lie. Raises InvalidInputError for what can't be read."""
        return array_plans(*(self.asked.chosen[name] or () for name in ARRAY_OPTIONS))

    @property
    def local_size(self) -> tuple[int, int, int] | None:
        """Return the original launch's; None where it isn't known. Raises InvalidInputError for what is none."""
        size = parsed_size("--local-size", self.asked.local_size)
        return None if size is None else padded(size)

    def for_each_kernel(self) -> list[Request]:
        """Return the request for the kernel that is named, or where none is for each of the file, in its order.

        Raises:
            InvalidInputError: the file can't be read.
        """
        names = self.unit.kernels if self.kernel is None else ()
        if len(names) < 2:
            return [self]
        return [replace(self, kernel=name, compiled=self.unit) for name in names]

    @cached_property
    def target(self) -> Target | None:
        """Return the device that was given; None if none was. Raises DeviceError where nothing is called so."""
        if self.asked.device is None:
            return None
        # Imported late: most calls name no device.
        from coarsen.targets import target_of

        return target_of(self.asked.device)

    @cached_property
    def memory_device(self) -> MemoryDevice:
        """Return how the device that was given reaches memory, or what is assumed of one of its kind."""
        if self.target is None:
            return ANY_CPU if self.asked.device_kind is DeviceKind.CPU else ANY_DEVICE
        # Imported late, as in `target`.
        from coarsen.models.device_descriptors import memory_device

        return memory_device(self.target.descriptor)

    @cached_property
    def transforms(self) -> Transforms:
        """Return the transforms that were given, for the kind of device that was given, or that of the device."""
        chosen = {name: self.asked.chosen[name] for name in TRANSFORM_OPTIONS if name != "any_size"}
        kind = self.asked.device_kind
        if kind is None and self.target is not None:
            kind = DeviceKind.GPU if self.target.descriptor.is_gpu else DeviceKind.CPU
        return Transforms(**chosen) if kind is None else Transforms(**chosen, device_kind=kind)

    @property
    def macros(self) -> DeviceMacros:
        """Return what a kernel may ask for about the device; portable facts if none is named, or it isn't here."""
        here = None if self.target is None else self.target.installed
        return PORTABLE if here is None else here.macros

    @cached_property
    def unit(self) -> TranslationUnit:
        """Return the file, compiled. Raises InvalidInputError if it can't be read."""
        return self.compiled or unit_of(self.file, self.kernel, self.asked.build_options, self.macros)

    def check(self) -> None:
        """Raise InvalidInputError for neither factors nor a device, or both, or a bad factor."""
        if bool(self.factors) == (self.asked.device is not None):
            both = ", but not both" if self.factors else ""
            raise InvalidInputError(f"give --factor, or --device to have the factor predicted{both}")
        if self.factors:
            self._variant(self.factors)

    def lowered(self, observer: Observer) -> LaidOutKernel:
        """Lower the kernel and lay its arrays out, once for the prediction and the coarsening.

        Raises:
            InvalidInputError: as `check`; the kernel can't be read.
            RefusalError: the kernel can't be lowered, or laid out so; it names the file.
        """
        self.check()
        with naming_file(self.file):
            with observer.stage("lower"):
                unit = self.unit
            lowered = observer.made("lower", lambda: lower(unit, self.kernel))
            pads = self.pads(lowered)
            return laid_out(lowered, with_pads(self.arrays, pads), observer)

    def pads(self, lowered: Kernel) -> tuple[PadCost, ...]:
        """Return the pads that are asked for, those of `auto` chosen, and what they do.

        Where the factor is predicted, which needs the kernel with its pads, they are those of the uncoarsened one.

        Args:
            lowered: the kernel before pads.

        Raises:
            InvalidInputError, RefusalError: as `costed_pads` does.
        """
        merged = self._variant(self.factors).coarsenings if self.factors else ()
        return costed_pads(lowered, self.arrays, self.memory_device, merged, self.local_size)

    def coarsened(
        self, lowered: LaidOutKernel, observer: Observer, *, counts_clean_up: bool = False
    ) -> CoarsenedKernel:
        """Carry it out.

        Args:
            lowered: the kernel, from `lowered`.
            observer: sees stages.
            counts_clean_up: whether to count what the clean-up removes.

        Raises:
            InvalidInputError: a bad factor, dimension, stride or level.
            RefusalError: the kernel can't be coarsened so; it names the file.
        """
        variant = self._variant(self.factors or [self._predicted(lowered.kernel)])
        variant = replace(variant, arrays=with_pads(self.arrays, self.pads(lowered.lowered)))
        with naming_file(self.file):
            return run_pipeline(lowered, variant, observer, counts_clean_up=counts_clean_up)

    def variant_of(self, local_size: LocalSize) -> Variant:
        """Return the variant that is asked for, of a launch of a local size; nothing is merged without factors."""
        merged = self._variant(self.factors) if self.factors else Variant((), transforms=self.transforms)
        return replace(merged, local_size=local_size)

    def _variant(self, factors: Sequence[int]) -> Variant:
        merged = configuration_of(factors, self.dimensions, self.asked.chosen["stride"] or [1], self.levels)
        any_size = self.asked.chosen["any_size"]
        # Other code does not depend on it.
        own = self.local_size if self.transforms.is_tiled else None
        return Variant(own or (), merged, transforms=self.transforms, any_size=any_size, arrays=self.arrays)

    def _predicted(self, lowered: Kernel) -> int:
        """The factor that is predicted for the device."""
        load_numpy_in_one_thread()
        # Imported late: the models load NumPy, which a coarsening by a given factor does without.
        from coarsen.models.launch.prediction import LaunchPrediction
        from coarsen.prediction import predict_factor

        device = self.asked.device
        assert device is not None
        if len(self.dimensions) > 1:
            raise InvalidInputError("a factor is predicted along one dimension; give --dim once")
        dimension = Coarsening(1, self.dimensions[0]).dimension
        with naming_file(self.file):
            predicted = predict_factor(lowered, device, dimension)
        model = "its cascade"
        if isinstance(predicted, LaunchPrediction):
            model = "the launch model; `coarsen predict` answers with a whole launch"
        note(f"predicted factor {predicted.factor} along dimension {dimension} for {device}, by {model}")
        return predicted.factor


# The comment at the head of a coarsened kernel in a file: what it is, and how it is launched.
#
# // Written by coarsen 0.4.0: kernel sgemm, 4 work-items merged along dimension 1.
# // Launch: along dimension 1, divide the global and the local size by 4.


def launch_comment(coarsened: CoarsenedKernel, notes: Iterable[str], mark: str = "//") -> str:
    """Return the comment, line by line.

    Args:
        coarsened: the kernel.
        notes: what else a launch has to keep to, in sentences.
        mark: begins a comment's line.
    """
    lines = [*_lines(coarsened), *(f"Note: {note}." for note in notes)]
    # A backslash at a line's end would go on with the comment on the next line.
    return "".join(f"{mark} {printable_in_line(line).rstrip(chr(92))}\n" for line in lines)


def _lines(coarsened: CoarsenedKernel) -> Iterator[str]:
    # Imported late: it reads what is installed.
    from coarsen.base.version import __version__

    merging = [entry for entry in coarsened.configuration if entry.factor > 1]
    done = ", ".join(map(_merged, merging)) or "nothing merged"
    yield f"Written by coarsen {__version__}: kernel {coarsened.kernel.name}, {done}."
    guarded = {each.dimension for each in coarsened.added_arguments if each.meaning == "global-size"}
    for entry in merging:
        yield f"Launch: along dimension {entry.dimension}, {_launch(entry, entry.dimension in guarded)}."
    if not merging:
        yield "Launch: as the original."


def _merged(entry: Coarsening) -> str:
    if entry.level is Level.GROUP:
        return f"{entry.factor} work-groups merged along dimension {entry.dimension}"
    stride = f" with stride {entry.stride}" if entry.stride > 1 else ""
    return f"{entry.factor} work-items merged along dimension {entry.dimension}{stride}"


def _launch(entry: Coarsening, is_guarded: bool) -> str:
    """Say how a launch of global size G and local size L changes along a dimension."""
    factor, stride = entry.factor, entry.stride
    if entry.level is Level.GROUP:
        if is_guarded:
            return f"for a global size G and a local size L: ceil(G / L / {factor}) * L work-items in groups of L"
        return f"divide the global size by {factor}, and keep the local size"
    if is_guarded:
        least = f"ceil(G / {factor})" if stride == 1 else f"ceil(G / {factor * stride}) * {stride}"
        return f"for a global size G: at least {least} work-items, in groups of any size"
    rest = f"; {stride} must divide what is left of the local size" if stride > 1 else ""
    return f"divide the global and the local size by {factor}{rest}"
