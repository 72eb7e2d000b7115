"""The functions that users call: coarsen a kernel, see what differs between its work-items, predict its factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack, cast

from coarsen.cost.banks import ANY_CPU, ANY_DEVICE
from coarsen.cost.pads import costed_pads, with_pads
from coarsen.errors import InvalidInputError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import lower
from coarsen.frontend.source_text import opencl_c_of
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel, Observer, laid_out, run_pipeline
from coarsen.remarks.explanation import Explanation, explain_kernel
from coarsen.transform.coarsen import analyse
from coarsen.variant.coarsening import Coarsening, Level, configuration_of
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.options import VariantKeywords, variant_of
from coarsen.variant.transforms import DeviceKind, transforms_of
from coarsen.variant.variant import Variant

if TYPE_CHECKING:
    from coarsen.models.cascade.model import Prediction
    from coarsen.models.launch.prediction import LaunchPrediction


def coarsen(
    source: str | Path | TranslationUnit,
    *,
    kernel: str | None = None,
    factor: int | Sequence[int] = 2,
    dim: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
    level: str | Sequence[str] = Level.ITEM,
    arrays: Sequence[ArrayPlan] = (),
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
    observer: Observer | None = None,
    **how: Unpack[VariantKeywords],
) -> CoarsenedKernel:
    """Coarsen one kernel.

    Args:
        source: OpenCL C or LLVM IR text, or the path of a `.cl`, `.ll` or `.bc` file; or a source that
            `compile_source` has compiled, for several calls: `options` and `macros` were given there.
        kernel: its name; may be left out where there is just one.
        factor: how many work-items, or work-groups, to merge into one; several numbers with as many dimensions.
        dim: the dimension of the NDRange, 0, 1 or 2.
        stride: how far apart the merged work-items stand; must divide the coarsened local size of a launch.
        level: "item" merges work-items of one work-group, "group" whole work-groups; one for all, or one each.
        arrays: how arrays are to lie, where otherwise than in the source: those of arguments (`Layout.plan`), and
            static local ones (`array_plan`). A pad `auto` is one for 32 banks; none for `device_kind` "cpu".
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source may find out about its device (`DeviceDescription.macros`); what nearly all devices
            have if left out.
        observer: sees the stages of the pipeline.
        how: a guard for any size, the transforms, and the kind of device: the fields of `VariantKeywords`.

    Returns:
        The coarsened kernel, which is written out in whichever form is asked for (`.opencl_c`, `.llvm_ir`,
        `.spirv`, `.ptx()`).

    Raises:
        InvalidInputError: a bad source, option, factor, dimension, stride, level or choice of a transform; an
            array that is not there or has other elements.
        RefusalError: the kernel can't be coarsened or laid out faithfully; `needs-whole-groups` where that is so
            only for `any_size`.
    """
    check_type("source", source, (str, Path, TranslationUnit), "text or a path")
    chosen = variant_of(configuration_of(factor, dim, stride, level), arrays, **how)
    observer = observer or Observer()
    lowered = observer.made("lower", lambda: lower(source, kernel, options, macros))
    return _coarsened(lowered, chosen, arrays, observer)


def coarsen_variant(
    source: str | Path | TranslationUnit, variant: Variant, *, kernel: str | None = None
) -> CoarsenedKernel:
    """Coarsen one kernel as a variant says: `coarsen` for who has one. Its macros don't count.

    Args:
        source: as for `coarsen`, as is `kernel`.
        variant: by what to coarsen it, and how.

    Raises:
        InvalidInputError, RefusalError: as `coarsen` does.
    """
    return _coarsened(lower(source, kernel), variant, variant.arrays, Observer())


def _coarsened(
    lowered: Kernel, variant: Variant, arrays: Sequence[ArrayPlan], observer: Observer
) -> CoarsenedKernel:
    """Coarsen a lowered kernel, its pads `auto` chosen for the kind of device.

    The plans stand beside the variant, whose own leave out what the host packs, which is compared.
    """
    device = ANY_CPU if variant.transforms.device_kind is DeviceKind.CPU else ANY_DEVICE
    pads = costed_pads(lowered, arrays, device, variant.coarsenings)
    plans = with_pads(arrays, pads)
    laid = laid_out(lowered, plans, observer)
    return replace(run_pipeline(laid, replace(variant, arrays=plans), observer), pads=pads)


def explain(
    source: str | Path,
    *,
    kernel: str | None = None,
    dim: int = 0,
    level: str = Level.ITEM,
    device_kind: str = DeviceKind.ANY,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> Explanation:
    """Mark each line of a kernel: what its work-items have in common, and what differs between them.

    Args:
        source: as for `coarsen`; of LLVM IR the lines of the kernel's normal form are marked.
        kernel: its name; may be left out where there is just one.
        dim: the dimension of the NDRange along which work-items are told apart, 0, 1 or 2.
        level: "item" for the work-items of one work-group, "group" for whole work-groups.
        device_kind: "gpu" says what memory accesses cost on such a device, too.
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source may find out about its device (`DeviceDescription.macros`); what nearly all devices
            have if left out.

    Returns:
        The numbered `lines` with their marks and the number of divergent `regions`; printed, it is what
        `coarsen apply --explain` prints.

    Raises:
        InvalidInputError: a bad source, option, dimension or level.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    check_type("source", source, (str, Path), "text or a path")
    # The factor does not matter: what differs between two work-items differs between any.
    chosen = Coarsening(2, dim, level=cast("Level", level))
    for_gpu = transforms_of(device_kind).device_kind is DeviceKind.GPU
    lowered = lower(source, kernel, options, macros)
    analysed = analyse(lowered, chosen.dimension, chosen.level)
    return explain_kernel(analysed, opencl_c_of(source), for_gpu=for_gpu)


def predict(
    source: str | Path | TranslationUnit,
    *,
    device: str,
    kernel: str | None = None,
    dim: int | None = None,
    model: Literal["launch", "cascade"] | None = None,
    local_size: Sequence[int] | None = None,
    models: str | Path | None = None,
    shipped: bool = False,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> LaunchPrediction | Prediction:
    """Predict the best coarsening factor of a kernel on a device, which need not be there.

    Args:
        source: as for `coarsen`.
        device: `tahiti`, or the index or a part of the name of an OpenCL device of this machine.
        kernel: its name; may be left out where there is just one.
        dim: the dimension of the NDRange to coarsen, 0, 1 or 2. If None, any for the launch model, 0 for a
            cascade.
        model: "launch", or "cascade" for the published predictor (Magni et al., PACT 2014). If None, the cascade
            for the four GPUs of that publication and for a device of which nothing else is known, else the launch
            model.
        local_size: of the launch before coarsening, in work-items, one to three numbers. Where it is left out,
            what the kernel requires counts, else 256, 16×16 or 8×8×4 by the dimensions that the kernel uses. The
            cascade takes none.
        models: a folder that `coarsen train` wrote. If None, the user's own model, else the shipped one.
        shipped: whether the user's own model is passed over.
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source finds out about its device (`DeviceDescription.macros`); if left out, the usual.

    Returns:
        The `factor` (1 leaves the kernel as it is), and how it came about: by the launch model, the `launches`
        that were compared, each with its expected speed-ups and their 80 % intervals, and whether it `abstained`;
        by the cascade, the steps that led to the factor. `training_kernel` names the kernel where the model
        learned from it, so that the answer says nothing of how good the model is.

    Raises:
        DeviceError: the device is not known, or there is no model of it.
        InvalidInputError: a bad source, option, dimension, model or local size; a model that can't be read.
        RefusalError: the kernel can't be coarsened along the dimension.
    """
    # Imported late: the models load NumPy, which a coarsening by a given factor does without.
    from coarsen import prediction
    from coarsen.user_models import ModelName

    check_type("source", source, (str, Path, TranslationUnit), "text or a path")
    check_type("device", device, (str,), "a name or an index, as text")
    dimension = None if dim is None else Coarsening(1, dim).dimension
    if model not in (None, *ModelName):
        raise InvalidInputError(f"the model is 'launch' or 'cascade', not {model!r}")
    asked = None if model is None else ModelName(model)
    folder = None if models is None else Path(models)
    lowered = lower(source, kernel, options, macros)
    return prediction.predict_factor(lowered, device, dimension, local_size, folder, model=asked, shipped=shipped)


def check_type(argument: str, value: object, types: tuple[type, ...], wanted: str) -> None:
    """Raise InvalidInputError, naming the argument and what is wanted, for a value of another type."""
    if not isinstance(value, types):
        raise InvalidInputError(f"{argument} is {wanted}, not {value!r}")
