"""The macros by which a source asks what its device has: `__OPENCL_VERSION__`, and one for each extension.

Clang's SPIR target defines a macro for every extension that it knows, other vendors' included. A source that asks
`#ifdef cl_amd_media_ops` would take a branch that no other device can run. So a macro is defined only where the
device reports the extension, or, where no device is named, where nearly all devices have it; the others are
undefined at the source's start. Nothing is defined that clang does not know: a source that finds less than its
device has takes a branch that any device can run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from coarsen.frontend.clang import HEADERS

_DOUBLE_PRECISION = "cl_khr_fp64"
_VERSION_MACRO = "__OPENCL_VERSION__"
_VERSION = r"OpenCL (?:C )?(\d+)\.(\d+)"
_STANDARD = r"-cl-std=CL(\d)\.(\d)$"
_DEFINITION = r"-D\s*(\w+)"

# Core since OpenCL 1.1, and double precision.
_NEARLY_EVERYWHERE = frozenset(
    {
        "cl_khr_byte_addressable_store",
        _DOUBLE_PRECISION,
        "cl_khr_global_int32_base_atomics",
        "cl_khr_global_int32_extended_atomics",
        "cl_khr_local_int32_base_atomics",
        "cl_khr_local_int32_extended_atomics",
    }
)
# Clang defines these without declaring their functions; the further header does.
_WITHOUT_FUNCTIONS = (
    *("cl_intel_bfloat16_conversions", "cl_intel_device_side_avc_motion_estimation"),
    *("cl_intel_subgroup_buffer_prefetch", "cl_intel_subgroup_local_block_io", "cl_intel_subgroups"),
    *("cl_intel_subgroups_char", "cl_intel_subgroups_long", "cl_intel_subgroups_short"),
)
_OF_VENDORS = (
    *("__cl_clang_bitfields", "__cl_clang_function_pointers", "__cl_clang_non_portable_kernel_param_types"),
    *("__cl_clang_variadic_functions", "cl_amd_media_ops", "cl_amd_media_ops2"),
    *("cl_clang_storage_class_specifiers", "cl_intel_required_subgroup_size"),
)
_OF_KHRONOS = (
    *("cl_ext_float_atomics", "cl_ext_image_raw10_raw12", "cl_ext_image_unorm_int_2_101010"),
    *("cl_ext_image_unsigned_10x6_12x4_14x2", "cl_khr_3d_image_writes", "cl_khr_byte_addressable_store"),
    *("cl_khr_depth_images", "cl_khr_extended_bit_ops", "cl_khr_fp16", "cl_khr_fp64", "cl_khr_gl_msaa_sharing"),
    *("cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics"),
    *("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics", "cl_khr_integer_dot_product"),
    *("cl_khr_kernel_clock", "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics"),
    *("cl_khr_mipmap_image", "cl_khr_mipmap_image_writes", "cl_khr_select_fprounding_mode"),
    *("cl_khr_srgb_image_writes", "cl_khr_subgroup_ballot", "cl_khr_subgroup_clustered_reduce"),
    *("cl_khr_subgroup_extended_types", "cl_khr_subgroup_named_barrier"),
    *("cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_non_uniform_vote", "cl_khr_subgroup_rotate"),
    *("cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative", "cl_khr_subgroups"),
)
# The macros of parts of an extension.
_PARTS = {
    "cl_ext_float_atomics": tuple(
        f"__opencl_c_ext_fp{bits}_{place}_atomic_{operation}"
        for bits in (16, 32, 64)
        for place in ("global", "local")
        for operation in ("add", "load_store", "min_max")
    ),
    "cl_ext_image_raw10_raw12": ("__opencl_c_ext_image_raw10_raw12",),
    "cl_ext_image_unorm_int_2_101010": ("__opencl_c_ext_image_unorm_int_2_101010",),
    "cl_ext_image_unsigned_10x6_12x4_14x2": ("__opencl_c_ext_image_unsigned_10x6_12x4_14x2",),
    "cl_khr_integer_dot_product": (
        "__opencl_c_integer_dot_product_input_4x8bit",
        "__opencl_c_integer_dot_product_input_4x8bit_packed",
    ),
    "cl_khr_kernel_clock": tuple(
        f"__opencl_c_kernel_clock_scope_{scope}" for scope in ("device", "sub_group", "work_group")
    ),
}


class DeviceMacros(NamedTuple):
    """The facts that a source may find out about its device.

    Attributes:
        extensions: the names of the device's extensions, those that clang does not know included.
        opencl_version: the device's OpenCL version, 100 for each major and 10 for each minor one; None for that of
            the standard by which the source is compiled.
        has_further: whether there are functions and macros that clang lacks, and `half` needs no pragma.
    """

    extensions: frozenset[str] = _NEARLY_EVERYWHERE
    opencl_version: int | None = None
    has_further: bool = False

    def more_and_more(self) -> Iterator[DeviceMacros]:
        """Return these macros, those with Khronos' extensions too, with vendors' as well, and with further ones.

        A source that compiles, or has its kernel, only with an extension demands it, whether or not the device
        defines its macro.
        """
        everything = (*_OF_KHRONOS, *_OF_VENDORS)
        for further in ((), _OF_KHRONOS, everything):
            yield self._replace(extensions=self.extensions.union(further))
        yield self._replace(extensions=self.extensions.union(everything), has_further=True)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that declare further functions, or take double precision away, in literals too."""
        if self.has_further:
            return ("-include", str(HEADERS / "opencl-c-further.h"))
        if _DOUBLE_PRECISION in self.extensions:
            return ()
        return ("-Xclang", f"-cl-ext=-{_DOUBLE_PRECISION},-__opencl_c_fp64")

    def prologue(self, standard: str, options: Iterable[str] = ()) -> str:
        """Return the lines to put before a source, whose own lines are counted from 1 after them.

        Options can't say it: clang's own header defines some of the macros after options have been read.

        Args:
            standard: the option for the standard of OpenCL C, such as `-cl-std=CL1.2`.
            options: further ones of clang's; what they define stays.
        """
        defined = {match[1] for option in options if (match := re.match(_DEFINITION, option))}
        lines = [f"#undef {name}\n" for name in self._lacking() if name not in defined]
        if _VERSION_MACRO not in defined:
            lines.append(f"#define {_VERSION_MACRO} {self.opencl_version or _version_of(standard)}\n")
        return f"{''.join(lines)}#line 1\n"

    def _lacking(self) -> Iterator[str]:
        if not self.has_further:
            yield from _WITHOUT_FUNCTIONS
        for name in (*_OF_KHRONOS, *_OF_VENDORS):
            if name not in self.extensions:
                yield name
                yield from _PARTS.get(name, ())


PORTABLE = DeviceMacros()


def _version_of(standard: str) -> int:
    """Return the OpenCL version that a standard of OpenCL C came with; 3.0 for C++ for OpenCL."""
    match = re.match(_STANDARD, standard)
    return 100 * int(match[1]) + 10 * int(match[2]) if match else 300


# Each program that is built asks for its devices' macros, and their extensions are many.
@lru_cache(maxsize=16)
def device_macros(extensions: str, version: str) -> DeviceMacros:
    """Return the macros of a device, by what it reports.

    Args:
        extensions: its extensions, with blanks between them.
        version: its version, such as `OpenCL 3.0 PoCL 3.1`; the standard's counts where it can't be read.
    """
    match = re.match(_VERSION, version)
    return DeviceMacros(frozenset(extensions.split()), 100 * int(match[1]) + 10 * int(match[2]) if match else None)


def common_macros(devices: Collection[DeviceMacros]) -> DeviceMacros:
    """Return the macros that all of several devices have, and their lowest version; the portable ones for none."""
    if not devices:
        return PORTABLE
    versions = [each.opencl_version for each in devices]
    known = [version for version in versions if version is not None]
    lowest = min(known) if len(known) == len(versions) else None
    return DeviceMacros(frozenset.intersection(*(each.extensions for each in devices)), lowest)
