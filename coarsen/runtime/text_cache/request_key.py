"""The key of a coarsened kernel."""

from __future__ import annotations

from coarsen.frontend.device_macros import DeviceMacros
from coarsen.runtime.text_cache.key import Key, digest_of
from coarsen.runtime.text_cache.versions import versions
from coarsen.runtime.toolchain import CoarseningRequest
from coarsen.variant.array_json import array_to_json


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
    # The arrays, which JSON doesn't take as they are.
    arrays = {plan.argument: array_to_json(plan) for plan in request.get("arrays", ())}
    asked = {name: value for name, value in request.items() if name != "arrays"}
    others = {"request": asked, "form": form, "versions": code}
    return digest_of(source, request["options"], macros, {**others, "arrays": arrays} if arrays else others)
