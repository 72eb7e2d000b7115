"""The use of a kernel's image parameters: what is read and written, and with which functions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import TargetType
from coarsen.opencl_bench.workloads.image_format import KINDS, ImageFormat

_ACCESS = re.compile(r"(read|write)_image(f|i|ui|h)")
# The type of a channel that is read and written with such functions; read_imageh is for those of read_imagef.
_USUAL = {"f": "float", "h": "float", "i": "signed_int32", "ui": "unsigned_int32"}


@dataclass(frozen=True, slots=True)
class ImageUse:
    """What a kernel does with an image: the last letters of the functions that access it, `f`, `i`, `ui`."""

    letters: frozenset[str]

    @property
    def usual_type(self) -> str:
        """A type of channel that such functions are for."""
        return _USUAL[min(self.letters)] if self.letters else _USUAL["f"]

    def mismatch(self, image_format: ImageFormat) -> str | None:
        """Return a function that is not for images of a format; None if there is none."""
        letters = sorted(
            letter for letter in self.letters if letter.replace("h", "f") != image_format.access_letter
        )
        return f"read_image{letters[0]} or write_image{letters[0]}" if letters else None


def image_kind(parameter: Argument) -> str | None:
    """Return the kind of image that a parameter is; None of what is no image, or of one that none describes."""
    kind = parameter.base_type_name.removesuffix("_t")
    return kind if isinstance(parameter.type, TargetType) and kind in KINDS else None


def is_sampler(parameter: Argument) -> bool:
    """Return True if a parameter is a sampler."""
    return isinstance(parameter.type, TargetType) and parameter.base_type_name == "sampler_t"


def is_writable(parameter: Argument) -> bool:
    """Return True if an image's qualifier lets a kernel write it."""
    return parameter.access in ("write_only", "read_write")


def is_readable(parameter: Argument) -> bool:
    """Return True unless an image's qualifier keeps a kernel from reading it."""
    return parameter.access != "write_only"


def image_use(kernel: Kernel, parameter: Argument) -> ImageUse:
    """Return what a kernel does with an image."""
    calls = (
        _ACCESS.fullmatch(builtin_name(instruction.callee))
        for instruction in kernel.instructions()
        if instruction.callee and any(each.text == parameter.name for each in instruction.arguments[:1])
    )
    return ImageUse(frozenset(call[2] for call in calls if call is not None))
