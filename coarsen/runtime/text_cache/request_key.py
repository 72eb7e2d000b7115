"""The key of a coarsened kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache.key import Key, digest_of
from coarsen.runtime.text_cache.versions import versions
from coarsen.runtime.toolchain import CoarseningRequest

if TYPE_CHECKING:
    from coarsen.variant.data_plan import ArrayPlan


def key_of(source: str, request: CoarseningRequest, macros: DeviceMacros, form: str) -> Key | None:
    """Return the key of a coarsened kernel.

    Args:
        source: OpenCL C.
        request: the kernel's name, the coarsenings, the transforms and the build options.
        macros: what the source may find out about its device.
        form: "opencl_c" or "spirv".

    Returns:
        The key; None for a kernel that can't be cached, since not all that its text depends on is known.
    """
    code = versions()
    if code is None:
        return None
    arrays = _arrays(request.get("arrays", ()))
    asked = {name: value for name, value in request.items() if name != "arrays"}
    others = {"request": asked, "form": form, "versions": code}
    return digest_of(source, request["options"], macros, {**others, "arrays": arrays} if arrays else others)


def _arrays(plans: Sequence[ArrayPlan]) -> dict[str, Any]:
    """Return plans by their arguments: JSON doesn't take them as they are."""
    if not plans:
        return {}
    # Imported late: hardly any program has some.
    from coarsen.variant.array_json import array_to_json

    return {plan.argument: array_to_json(plan) for plan in plans}
