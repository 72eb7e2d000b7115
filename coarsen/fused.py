"""Kernels of a source, launched one after the other over the same NDRange, as one kernel.

    kernel void scale(int n, float k, global const float *a, global float *t) { … }
    kernel void add(int n, global const float *t, global const float *b, global float *c) { … }
      ─▶ kernel void scale_add(int n, float k, global const float *a, global const float *b, global float *c)

    wrapper ─▶ lower ─▶ parts told ─▶ clean up, checked ─▶ dead stores dropped ─▶ normal form ─▶ OpenCL C

A kernel that calls them all is written behind the source and lowered, so that each keeps its own early returns.
Whether one launch of it does what they did, `transform/fusion.py` decides, of the first two, then of these and the
third, and so on. What only the launch can keep to is said: the same NDRange for all, memory that doesn't overlap,
buffers that are given up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.analysis.distinct_arguments import ArgumentPairs, distinct_arguments
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.base.names import did_you_mean, is_opencl_function, is_opencl_word
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.normal_form import normalised
from coarsen.frontend.source_text import opencl_c_of
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.transform.distinct import apart_in_words, listed
from coarsen.transform.fusion import (
    Accesses,
    GivenUp,
    accessed_bytes,
    asked_ids,
    drop_arguments,
    drop_dead_stores,
    tell_parts,
)
from coarsen.transform.simplify import forward_stores, merge_guards
from coarsen.transform.value_numbering.shared_values import share_values

_SPACES = {AddressSpace.GLOBAL: "global", AddressSpace.CONSTANT: "constant", AddressSpace.LOCAL: "local"}
_LOCAL = PointerType(AddressSpace.LOCAL)
_ARRAY = re.compile(r"(.*?)((?:\[\d+\])+)\*")
# Ends the name of the function that is called between two parts.
_MARK = "_next_part"
# Each of them is lowered, and a kernel of more is hardly what anybody wants.
MOST_KERNELS = 16
Names = tuple[str, ...]
_CALL = re.compile(r"\s*(\w+)\s*(?:\(((?:\s*[A-Za-z_]\w*\s*,?)*)\))?\s*")


@dataclass(frozen=True)
class FusedKernel:
    """Several kernels as one.

    Attributes:
        kernel: in normal form; its arguments are what a launch passes, in this order.
        given_up: what became of the arguments whose contents nobody asks for.
        dropped: the arguments that are gone.
        assumptions: what a launch must keep to, in words.
        passed: for each kernel the names of the fused kernel's arguments, dropped ones too, that it is passed.
        calls: for each kernel what `fuse` takes for the same.
        apart: pairs of the fused kernel's arguments, by index, whose memory must not overlap.
        is_side_by_side: whether no kernel writes what another one accesses.
        saved_bytes: how many fewer bytes of global memory a work-item accesses than with launches apart.
    """

    kernel: Kernel
    given_up: tuple[GivenUp, ...]
    dropped: Names
    assumptions: tuple[str, ...]
    passed: tuple[Names, ...]
    calls: Names
    apart: ArgumentPairs
    is_side_by_side: bool
    saved_bytes: int

    @property
    def opencl_c(self) -> str:
        """OpenCL C source that holds this kernel alone. Raises RefusalError if it can't be written as such."""
        return write_opencl_c(self.kernel).text


def fuse(
    source: str | Path,
    *kernels: str,
    options: Sequence[str] = (),
    gives_up: Collection[str] = (),
    name: str | None = None,
) -> FusedKernel:
    """Make one kernel of several that a program launches one after the other over the same NDRange.

    Arguments of one name are one argument, local memory excepted; other ones of later kernels come last. Kernels
    of which none writes what another one accesses go side by side: they may have barriers and atomics, too.

    Args:
        source: OpenCL C, or the path of a `.cl` file.
        kernels: in their order. One that is passed other things than its arguments' names say is written as a
            call, `add(n, t, b, c)`, by the names of the fused kernel's arguments.
        options: OpenCL build options.
        gives_up: arguments of the fused kernel whose buffers nobody reads after the launch, nor accesses by
            another argument.
        name: of the fused kernel; the kernels' names with `_` between them where it is left out.

    Raises:
        InvalidInputError: there are no such kernels or arguments, or they don't fit together.
        RefusalError: one launch is not known to do what several do, or a kernel can't be written as OpenCL C.
    """
    return _fused(source, [*map(_call, kernels)], options, PORTABLE, gives_up, name, are_names=True)


def _call(text: str) -> tuple[str, Names | None]:
    """Return a kernel, and what it is passed, if that is said."""
    found = _CALL.fullmatch(text)
    if found is None:
        raise InvalidInputError(f"'{text}' is neither a kernel nor a call of one, such as add(n, t, b, c)")
    return found[1], None if found[2] is None else tuple(re.findall(r"\w+", found[2]))


def fuse_launches(
    launches: Sequence[tuple[str, Sequence[Hashable]]],
    source: str,
    options: Sequence[str],
    macros: DeviceMacros,
    gives_up: Collection[Hashable] = (),
) -> FusedKernel:
    """As `fuse`, of launches of which is known what each passes.

    Args:
        launches: the kernel of each, and what each of its arguments is passed: equal things are one argument where
            they are memory, or have one name; None is nothing else's equal.
        source: OpenCL C.
        options: OpenCL build options, one by one.
        macros: what the source may find out about its device.
        gives_up: those of these things that nobody reads afterwards.
    """
    return _fused(source, launches, options, macros, gives_up)


def _fused(
    source: str | Path,
    launches: Sequence[tuple[str, Sequence[Hashable] | None]],
    options: Sequence[str],
    macros: DeviceMacros,
    gives_up: Collection[Hashable],
    name: str | None = None,
    *,
    are_names: bool = False,
) -> FusedKernel:
    text = opencl_c_of(source)
    if text is None:
        raise InvalidInputError("only OpenCL C can be fused, not LLVM IR")
    if not 2 <= len(launches) <= MOST_KERNELS:
        raise InvalidInputError(f"two to {MOST_KERNELS} kernels are fused, not {len(launches)}")
    unit = compile_source(source, options, macros)
    kernels = [lower(unit, each) for each, _ in launches]
    name = _free_name(name, [each for each, _ in launches], text)
    passed, name_of = _passed(kernels, launches, are_names)
    given_up = [str(each) if are_names else name_of[each] for each in gives_up if are_names or each in name_of]
    size = _demanded_size(kernels)
    folders = [] if isinstance(source, str) else [f"-I{source.parent}"]
    kernel, is_side_by_side = kernels[0], True
    for count in range(2, len(kernels) + 1):
        wrapper = _wrapper(name, f"{name}{_MARK}", kernels[:count], passed[:count], size)
        kernel = lower(f"{text}\n\n{wrapper}", name, [*folders, *options], macros)
        kernel, is_independent = _joined(kernel, f"{name}{_MARK}")
        is_side_by_side &= is_independent
    kernel, found, dropped = _without_stores(kernel, given_up)
    apart = distinct_arguments(kernel.function, EffectsOfKernel.of_kernel(kernel), PointerRoots())
    assert apart is not None
    every = "both" if len(kernels) == 2 else "all"
    pairs = apart_in_words(apart.apart, kernel.argument_names)
    assumptions = [f"{every} kernels are launched over the same NDRange", *pairs]
    if given_up:
        each = "it" if len({*given_up}) == 1 else "them"
        assumptions.append(
            f"nobody reads {listed(given_up)} after the launch, nor accesses {each} by another argument"
        )
    saved = sum(map(accessed_bytes, kernels)) - accessed_bytes(kernel)
    calls = (
        of.name if row == of.argument_names else f"{of.name}({', '.join(row)})"
        for of, row in zip(kernels, passed, strict=True)
    )
    told = tuple(assumptions), tuple(passed), tuple(calls)
    return FusedKernel(kernel, found, dropped, *told, apart.apart, is_side_by_side, saved)


def _joined(kernel: Kernel, mark: str) -> tuple[Kernel, bool]:
    """Clean up a kernel of two parts, and say if they are independent.

    Raises RefusalError where they are not known to do what two launches do.

    Args:
        kernel: its parts follow each other.
        mark: the function that is called between them.
    """
    module = kernel.editable_graph()
    tell_parts(module, kernel.name, mark)
    kernel = Kernel(kernel.name, normalised(module))
    while (merged := merge_guards(kernel)) is not None:
        kernel = Kernel(kernel.name, normalised(merged))
    accesses = Accesses.of(kernel)
    is_independent = accesses.are_independent
    if not is_independent:
        accesses.check_stores()
    clean = kernel
    while (cleaner := merge_guards(clean) or forward_stores(clean, is_distinct=True)) is not None:
        clean = Kernel(kernel.name, normalised(cleaner))
    if not is_independent:
        Accesses.of(clean).check_loads(accesses.written_first)
    return clean, is_independent


def _without_stores(kernel: Kernel, gives_up: Collection[str]) -> tuple[Kernel, tuple[GivenUp, ...], Names]:
    """Drop what is given up: the stores, then the arguments; return what became of them, and the dropped ones."""
    names = kernel.argument_names
    for each in gives_up:
        if each not in names:
            raise InvalidInputError(
                f"the fused kernel has no argument '{each}' to give up{did_you_mean(each, names)}"
            )
        if kernel.arguments[names.index(each)].type != PointerType(AddressSpace.GLOBAL):
            raise InvalidInputError(f"'{each}' is no buffer in global memory, which alone can be given up")
    module = kernel.editable_graph()
    found = drop_dead_stores(module, kernel.name, gives_up)
    share_values(module, kernel.name, is_distinct=True)
    kernel = Kernel(kernel.name, normalised(module))
    module = kernel.editable_graph()
    dropped = drop_arguments(module, kernel.name, gives_up)
    return (Kernel(kernel.name, normalised(module)) if dropped else kernel), found, dropped


def _free_name(name: str | None, kernels: Sequence[str], text: str) -> str:
    """Return the fused kernel's name. Raises InvalidInputError where it can't be called so."""
    if name is None:
        name = next((each for each in ("_".join(kernels), "_then_".join(kernels)) if not _is_opencls(each)), "")
    is_name = re.fullmatch(r"[A-Za-z_]\w*", name)
    if not is_name or re.search(rf"\b({name}|{name}{_MARK})\b", text) or _is_opencls(name):
        raise InvalidInputError(f"the fused kernel can't be called '{name}': give it another name (--name)")
    return name


def _is_opencls(name: str) -> bool:
    return is_opencl_word(name) or is_opencl_function(name)


def _demanded_size(kernels: Sequence[Kernel]) -> tuple[int, int, int] | None:
    """The local size that kernels demand. Raises RefusalError, `fusion-ndrange`: they can't be launched alike."""
    sizes = {kernel.required_work_group_size for kernel in kernels} - {None}
    if len(sizes) > 1:
        raise RefusalError("fusion-ndrange", "the kernels demand different local sizes")
    along = {frozenset(dimension for _, dimension in asked_ids(kernel.instructions())) for kernel in kernels}
    if len(along) > 1:
        reason = "the kernels ask for ids along different dimensions: they are not launched over one NDRange"
        raise RefusalError("fusion-ndrange", reason)
    return next(iter(sizes), None)


# Which arguments are one.


def _passed(
    kernels: Sequence[Kernel], launches: Sequence[tuple[str, Sequence[Hashable] | None]], are_names: bool
) -> tuple[list[Names], dict[Hashable, str]]:
    """Return the fused kernel's arguments that each kernel is passed, and the name of each thing among them."""
    name_of: dict[Hashable, str] = {}
    known: dict[str, None] = {}
    passed = []
    for kernel, (_, given) in zip(kernels, launches, strict=True):
        things = kernel.argument_names if given is None else given
        if len(things) != len(kernel.arguments):
            raise InvalidInputError(f"{kernel.name} takes {len(kernel.arguments)} arguments, not {len(things)}")
        row = []
        for argument, thing in zip(kernel.arguments, things, strict=True):
            key = thing if are_names or isinstance(argument.type, PointerType) else (argument.name, thing)
            if thing is None or argument.type == _LOCAL or key not in name_of:
                name_of[key] = _free(str(thing) if are_names else argument.name, known)
                known[name_of[key]] = None
            row.append(name_of[key])
        passed.append(tuple(row))
    return passed, name_of


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_2"
    return name


def _wrapper(
    name: str, mark: str, kernels: Sequence[Kernel], passed: Sequence[Names], size: Sequence[int] | None
) -> str:
    """Return the kernel that calls kernels, the last one after a call of the mark.

    Where some before have barriers, too, a barrier comes between: drivers get those under conditions wrong that
    may follow others without one that is always reached. Raises InvalidInputError for arguments that don't fit.
    """
    every: dict[str, list[tuple[str, Argument]]] = {}
    calls, waits = [], [any(map(is_barrier, kernel.instructions())) for kernel in kernels]
    for index, (kernel, row) in enumerate(zip(kernels, passed, strict=True)):
        calls += ["barrier(CLK_LOCAL_MEM_FENCE);"] * (waits[index] and any(waits[:index]))
        calls += [f"{mark}();"] * (index == len(kernels) - 1)
        calls.append(f"{kernel.name}({', '.join(row)});")
        for given, argument in zip(row, kernel.arguments, strict=True):
            owner, known = every.setdefault(given, [(kernel.name, argument)])[0]
            if _type_of(known) != _type_of(argument):
                raise InvalidInputError(
                    f"'{given}' of {owner} is {_type_of(known)}, '{argument.name}' of {kernel.name} is "
                    f"{_type_of(argument)}: they can't be one argument; rename one"
                )
            every[given].append((kernel.name, argument))
    names = dict.fromkeys(kernel.name for kernel in kernels)
    for each in every.keys() & names.keys():
        raise InvalidInputError(f"an argument is called '{each}', as one of the kernels is: rename one of them")
    # A macro that the source defines after its kernels.
    undefined = [f"#undef {each}" for each in (*every, *names)]
    demanded = f"__attribute__((reqd_work_group_size({', '.join(map(str, size))}))) " if size else ""
    declared = ", ".join(_declared(each, [argument for _, argument in found]) for each, found in every.items())
    head = f"{demanded}kernel void {name}({declared})"
    return "\n".join([*undefined, f"void {mark}(void);", head, "{", *calls, "}\n"])


def _type_of(argument: Argument) -> str:
    """The type as OpenCL C spells it, without qualifiers and names that a source gives it."""
    if not argument.type_name or argument.access != "none":
        reason = f"'{argument.name}' is neither a buffer nor a value: images, samplers and pipes are not fused"
        raise RefusalError("fusion-alias", reason)
    return f"{_space_of(argument)}{argument.base_type_name or argument.type_name}"


def _space_of(argument: Argument) -> str:
    space = _SPACES.get(argument.type.address_space, "") if isinstance(argument.type, PointerType) else ""
    return f"{space} " if space else ""


def _declared(name: str, arguments: Iterable[Argument]) -> str:
    """An argument's declaration: `const` where each that it is passed for is, other qualifiers where one is."""
    first, *others = arguments
    qualifiers = [each.qualifiers for each in (first, *others)]
    has = {word for each in qualifiers for word in each}
    is_constant = all("const" in each for each in qualifiers) and first.type_name.endswith("*")
    words = ("const " if is_constant else "") + ("volatile " if "volatile" in has else "")
    restrict = "restrict " if "restrict" in has else ""
    array = _ARRAY.fullmatch(first.type_name)
    if array:
        return f"{words}{_space_of(first)}{array[1]} (*{restrict}{name}){array[2]}"
    return f"{words}{_space_of(first)}{first.type_name} {restrict}{name}"
