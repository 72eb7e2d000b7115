"""Kernels of a C function's loops, run beside the function itself: between guards, on copies of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import islpy as isl
import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from coarsen.devices.building import build_uncached
from coarsen.loops.clang_tree import functions_of
from coarsen.loops.dependences import Dependence, limited
from coarsen.loops.kernel_text import KernelText, kernel_text, macros_of, opencl_text, whole_type
from coarsen.loops.kernels import nest_and_kernels
from coarsen.loops.launches import Launching, each_launch, launches_of
from coarsen.loops.nest import Nest
from coarsen.loops.program import NativeFunction, is_given
from coarsen.loops.sums import GROUP_SIZE, LANES
from coarsen.variant.coarsening import Coarsening, Level

Arrays = Mapping[str, NDArray[Any]]
# Around each array: a multiple of every device's alignment of sub-buffers, filled with what no array holds.
GUARD = 4096
FILLED = 0xA5
_TYPES = {
    "float": "f4",
    "double": "f8",
    "char": "i1",
    "signed char": "i1",
    "unsigned char": "u1",
    "short": "i2",
    "unsigned short": "u2",
    "int": "i4",
    "unsigned int": "u4",
    "long": "i8",
    "unsigned long": "u8",
}


@dataclass(frozen=True)
class Made:
    """What a C file's only function becomes."""

    nest: Nest
    found: tuple[Dependence, ...]
    kernels: tuple[KernelText, ...]
    launches: tuple[Launching, ...]
    native: NativeFunction
    macros: Mapping[str, int]

    def with_lanes(self, lanes: int) -> Made:
        """Return it with as many lanes for each sum, and work-groups twice as large."""
        given = {LANES: str(lanes), GROUP_SIZE: str(2 * lanes)}
        return replace(self, macros=macros_of(self.kernels, given))

    @property
    def given(self) -> list[str]:
        """The arrays that the function gets or finds, by the nest's names."""
        return [each.name for each in self.nest.arrays.values() if is_given(each)]

    def build(self, context: cl.Context) -> dict[str, cl.Kernel]:
        """Build its kernels to compute as C does; return them by name.

        Intel's compiler gets some wrong that stand behind others in a program, so each has its own there.
        """
        (device,) = context.devices
        is_exact = device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        options = ["-cl-std=CL1.2", *["-cl-fp32-correctly-rounded-divide-sqrt"] * bool(is_exact)]
        programs = [[each] for each in self.kernels] if "Intel" in device.platform.name else [self.kernels]
        found = {}
        for own in programs:
            text = f"#pragma OPENCL FP_CONTRACT OFF\n{opencl_text(own, self.macros)}"
            program = build_uncached(context, text, options)
            found.update({each.kernel.name: cl.Kernel(program, each.kernel.name) for each in own})
        return found


def make(text: str, folder: Path) -> Made:
    """Make the kernels of a text's last function. Raises RefusalError."""
    path = folder / "loops.c"
    path.write_text(text)
    function = functions_of(path)[-1]
    with limited(isl.DEFAULT_CONTEXT, function.place):
        nest, found, made = nest_and_kernels(function)
        kernels = tuple(map(kernel_text, made))
        launches = launches_of(kernels)
    return Made(nest, found, kernels, launches, NativeFunction(path, function, nest), macros_of(kernels, {}))


def element_type(made: Made, array: str) -> np.dtype[Any]:
    """Return NumPy's type of an array's elements."""
    return np.dtype(_TYPES[made.nest.arrays[array].element])


def run_natively(made: Made, numbers: Mapping[str, float], arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Run the C function; return the arrays afterwards. Fails where it writes beside one."""
    guarded = {name: _guarded(array) for name, array in arrays.items()}
    inner = {name: _inside(each, arrays[name]) for name, each in guarded.items()}
    made.native(numbers, inner)
    for name, each in guarded.items():
        assert _is_kept(each), f"the C function writes beside {name}"
    return inner


def run_on(
    queue: cl.CommandQueue,
    kernels: Mapping[str, cl.Kernel],
    made: Made,
    numbers: Mapping[str, float],
    arrays: Arrays,
    *,
    is_guarded: bool = True,
    merged: Sequence[Coarsening] = (),
) -> dict[str, NDArray[Any]]:
    """Run all launches on copies of arrays; return these afterwards. Fails where a kernel writes beside one.

    Args:
        queue: the device's.
        kernels: as `Made.build` returns them.
        made: whose launches.
        numbers: by the nest's names.
        arrays: by the nest's names, all that kernels access.
        is_guarded: whether arrays are parts of larger buffers, or buffers of their own.
        merged: how kernels were coarsened, if they were.
    """
    buffers, parts = {}, {}
    for name, array in arrays.items():
        host = _guarded(array) if is_guarded else np.ascontiguousarray(array)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers[name] = host, cl.Buffer(queue.context, flags, hostbuf=host)
        parts[name] = buffers[name][1].get_sub_region(GUARD, array.nbytes) if is_guarded else buffers[name][1]
    nest = made.nest
    whole = np.int64 if whole_type(nest) == "long" else np.int32
    sizes = {name: int(numbers[name]) for name in nest.parameters}
    for launch, global_size, local_size, steps in each_launch(made.launches, {**sizes, **made.macros}):
        assert all(size > 0 for size in global_size), "a launch without work-items"
        passed: list[Any] = []
        for name in launch.kernel.arguments:
            if name in parts:
                passed.append(parts[name])
            elif name in steps or name in nest.parameters:
                passed.append(whole(steps.get(name, sizes.get(name, 0))))
            else:
                passed.append(np.dtype(_TYPES[nest.types[name]]).type(numbers[name]))
        kernel = kernels[launch.kernel.kernel.name]
        kernel.set_args(*passed)
        if not made.macros:
            cl.enqueue_nd_range_kernel(queue, kernel, global_size, None)
        else:
            groups = [-(-extent // own) for extent, own in zip(global_size, local_size, strict=True)]
            local = [*local_size]
            for each in merged:
                groups[each.dimension] //= -each.factor if each.level is Level.GROUP else 1
                local[each.dimension] //= each.factor if each.level is Level.ITEM else 1
            items = [abs(count) * own for count, own in zip(groups, local, strict=True)]
            cl.enqueue_nd_range_kernel(queue, kernel, tuple(items), tuple(local))
    result = {}
    for name, (host, buffer) in buffers.items():
        after = np.empty_like(host)
        cl.enqueue_copy(queue, after, buffer)
        assert not is_guarded or _is_kept(after), f"a kernel writes beside {name}"
        result[name] = _inside(after, arrays[name]) if is_guarded else after
    return result


def _guarded(array: NDArray[Any]) -> NDArray[np.uint8]:
    whole = np.full(array.nbytes + 2 * GUARD, FILLED, np.uint8)
    _inside(whole, array)[...] = array
    return whole


def _inside(whole: NDArray[np.uint8], array: NDArray[Any]) -> NDArray[Any]:
    return whole[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)


def _is_kept(whole: NDArray[np.uint8]) -> bool:
    return bool((whole[:GUARD] == FILLED).all() and (whole[-GUARD:] == FILLED).all())
