"""Two kernels of a source, launched one after the other over the same NDRange, as one kernel.

    kernel void scale(int n, float k, global const float *a, global float *t) { … }
    kernel void add(int n, global const float *t, global const float *b, global float *c) { … }
      ─▶ kernel void scale_add(int n, float k, global const float *a, global const float *b, global float *c)

    wrapper ─▶ lower ─▶ parts told ─▶ clean up, checked ─▶ dead stores dropped ─▶ normal form ─▶ OpenCL C

A kernel that calls both is written behind the source and lowered, so that each keeps its own early returns.
Whether one launch of it does what the two did, `transform/fusion.py` decides. What only the launch can keep to is
said: the same NDRange for both, memory that doesn't overlap, buffers that are given up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coarsen.analysis.distinct_arguments import distinct_arguments
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.normal_form import normalised
from coarsen.frontend.source_text import opencl_c_of
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.transform.distinct import apart_in_words, listed
from coarsen.transform.fusion import Accesses, GivenUp, asked_ids, drop_arguments, drop_dead_stores, tell_parts
from coarsen.transform.simplify import forward_stores, merge_guards
from coarsen.transform.value_numbering.shared_values import share_values

_SPACES = {AddressSpace.GLOBAL: "global", AddressSpace.CONSTANT: "constant", AddressSpace.LOCAL: "local"}


@dataclass(frozen=True)
class FusedKernel:
    """Two kernels as one.

    Attributes:
        kernel: in normal form; its arguments are what a launch passes, in this order.
        given_up: what became of the arguments whose contents nobody asks for.
        dropped: the arguments that are gone.
        assumptions: what a launch must keep to, in words.
    """

    kernel: Kernel
    given_up: tuple[GivenUp, ...]
    dropped: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def opencl_c(self) -> str:
        """OpenCL C source that holds this kernel alone. Raises RefusalError if it can't be written as such."""
        return write_opencl_c(self.kernel).text


def fuse(
    source: str | Path,
    first: str,
    second: str,
    options: Sequence[str] = (),
    *,
    same: Mapping[str, str] | None = None,
    gives_up: Collection[str] = (),
    name: str | None = None,
) -> FusedKernel:
    """Make one kernel of two that a program launches one after the other over the same NDRange.

    Arguments of one name are one argument, local memory excepted; other ones of the second kernel come last.

    Args:
        source: OpenCL C, or the path of a `.cl` file.
        first: the kernel that is launched first.
        second: the kernel that is launched next.
        options: OpenCL build options.
        same: further arguments that are passed the same, those of the second kernel by those of the first.
        gives_up: arguments of the fused kernel whose buffers nobody reads after the launch, nor accesses by
            another argument.
        name: of the fused kernel; `first_second` where it is left out.

    Raises:
        InvalidInputError: there are no such kernels or arguments, or they don't fit together.
        RefusalError: one launch is not known to do what two do, or a kernel can't be written as OpenCL C.
    """
    text = opencl_c_of(source)
    if text is None:
        raise InvalidInputError("only OpenCL C can be fused, not LLVM IR")
    unit = compile_source(source, options)
    kernels = [lower(unit, each) for each in (first, second)]
    name = name or f"{first}_{second}"
    mark = f"{name}_next_part"
    is_taken = re.search(rf"\b({name}|{mark})\b", text)
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or is_taken:
        raise InvalidInputError(f"the fused kernel can't be called '{name}': give it another name (--name)")
    size = _demanded_size(kernels)
    signature = _Signature.of(kernels, same or {})
    wrapper = signature.wrapper(name, kernels, mark, size)
    folders = [] if isinstance(source, str) else [f"-I{source.parent}"]
    kernel = lower(f"{text}\n\n{wrapper}", name, [*folders, *options])
    module = kernel.editable_graph()
    tell_parts(module, name, mark)
    kernel = Kernel(name, normalised(module))
    while (merged := merge_guards(kernel)) is not None:
        kernel = Kernel(name, normalised(merged))
    accesses = Accesses.of(kernel)
    accesses.check_stores()
    clean = kernel
    while (cleaner := merge_guards(clean) or forward_stores(clean, is_distinct=True)) is not None:
        clean = Kernel(name, normalised(cleaner))
    Accesses.of(clean).check_loads(accesses.written_first)
    return _given_up(clean, gives_up)


def _given_up(kernel: Kernel, gives_up: Collection[str]) -> FusedKernel:
    """Drop what is given up."""
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
    share_values(module, kernel.name)
    kernel = Kernel(kernel.name, normalised(module))
    module = kernel.editable_graph()
    dropped = drop_arguments(module, kernel.name, gives_up)
    if dropped:
        kernel = Kernel(kernel.name, normalised(module))
    apart = distinct_arguments(kernel.function, EffectsOfKernel.of_kernel(kernel), PointerRoots())
    assert apart is not None
    pairs = apart_in_words(apart.apart, kernel.argument_names)
    assumptions = ["both kernels are launched over the same NDRange", *pairs]
    if gives_up:
        each = "it" if len({*gives_up}) == 1 else "them"
        assumptions.append(
            f"nobody reads {listed([*gives_up])} after the launch, nor accesses {each} by another argument"
        )
    return FusedKernel(kernel, found, dropped, tuple(assumptions))


def _demanded_size(kernels: Sequence[Kernel]) -> tuple[int, int, int] | None:
    """The local size that kernels demand. Raises RefusalError, `fusion-ndrange`: they can't be launched alike."""
    sizes = {kernel.required_work_group_size for kernel in kernels} - {None}
    if len(sizes) > 1:
        raise RefusalError("fusion-ndrange", "the kernels demand different local sizes")
    along = [{dimension for _, dimension in asked_ids(kernel.instructions())} for kernel in kernels]
    if along[0] != along[1]:
        reason = "the kernels ask for ids along different dimensions: they are not launched over one NDRange"
        raise RefusalError("fusion-ndrange", reason)
    return next(iter(sizes), None)


@dataclass(frozen=True)
class _Signature:
    """The arguments of a fused kernel.

    Attributes:
        arguments: by name, each with those of the two kernels that it is passed for.
        passed: the names of what each kernel is passed.
    """

    arguments: Mapping[str, tuple[Argument, ...]]
    passed: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, kernels: Sequence[Kernel], same: Mapping[str, str]) -> _Signature:
        """Return the arguments of two kernels as one list. Raises InvalidInputError where they don't fit."""
        first, second = ({each.name: each for each in kernel.arguments} for kernel in kernels)
        for kernel, told, known in ((kernels[0], [*same], first), (kernels[1], [*same.values()], second)):
            for name in told:
                if name not in known:
                    near = did_you_mean(name, [*known])
                    raise InvalidInputError(f"--same: {kernel.name} has no argument '{name}'{near}")
        if len({*same.values()}) < len(same):
            raise InvalidInputError("--same: an argument of the second kernel is named twice")
        arguments: dict[str, tuple[Argument, ...]] = {name: (argument,) for name, argument in first.items()}
        own_name = {other: own for own, other in same.items()}
        passed = []
        for name, argument in second.items():
            # What --same says of an argument of the first kernel takes the place of names that are equal.
            is_apart = argument.type == PointerType(AddressSpace.LOCAL) or name in same
            own = own_name.get(name, "" if is_apart else name)
            if own in first:
                _check_same(kernels, first[own], argument)
                arguments[own] = (*arguments[own], argument)
            else:
                own = name
                while own in arguments:
                    own += "_2"
                arguments[own] = (argument,)
            passed.append(own)
        return cls(arguments, (tuple(first), tuple(passed)))

    def wrapper(self, name: str, kernels: Sequence[Kernel], mark: str, size: Sequence[int] | None) -> str:
        """Return the kernel that calls both, with a call of a function without a body between them."""
        declared = ", ".join(_declared(n, arguments) for n, arguments in self.arguments.items())
        one, other = (
            f"{kernel.name}({', '.join(given)});" for kernel, given in zip(kernels, self.passed, strict=True)
        )
        demanded = f"__attribute__((reqd_work_group_size({', '.join(map(str, size))}))) " if size else ""
        return f"void {mark}(void);\n{demanded}kernel void {name}({declared})\n{{\n{one}\n{mark}();\n{other}\n}}\n"


def _check_same(kernels: Sequence[Kernel], first: Argument, second: Argument) -> None:
    """Raise InvalidInputError for arguments of two kernels that can't be passed the same."""
    one, other = _type_of(first), _type_of(second)
    if one != other:
        raise InvalidInputError(
            f"'{first.name}' of {kernels[0].name} is {one}, '{second.name}' of {kernels[1].name} is {other}: "
            "they can't be one argument; rename one"
        )


def _type_of(argument: Argument) -> str:
    """The type as OpenCL C spells it, without qualifiers."""
    if not argument.type_name or argument.access != "none":
        reason = f"'{argument.name}' is neither a buffer nor a value: images, samplers and pipes are not fused"
        raise RefusalError("fusion-alias", reason)
    space = _SPACES.get(argument.type.address_space, "") if isinstance(argument.type, PointerType) else ""
    return f"{space} {argument.type_name}".strip()


def _declared(name: str, arguments: Sequence[Argument]) -> str:
    """An argument's declaration: `const` where each that it is passed for is, `volatile` where one is."""
    type_ = _type_of(arguments[0])
    words = [
        *(["const"] if all("const" in each.qualifiers for each in arguments) and type_.endswith("*") else []),
        *(["volatile"] if any("volatile" in each.qualifiers for each in arguments) else []),
    ]
    return " ".join([*words, type_, name])
