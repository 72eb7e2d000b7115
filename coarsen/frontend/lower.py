"""The front end's one entry: a file or a text to `ir.Kernel`.

kernel.cl ──clang──▶ LLVM IR ──open──▶ TranslationUnit ──normal form──▶ module ──read──▶ ir.Kernel
kernel.ll, kernel.bc ─────────▲        (once for all kernels)   (for each kernel)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock

from coarsen.base.limits import MOST_INPUT_BYTES
from coarsen.errors import InvalidInputError
from coarsen.frontend.compile import Source, compilations
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros
from coarsen.frontend.disassemble import disassemble
from coarsen.frontend.input_checks import check_target, parsed
from coarsen.frontend.normal_form import normal_form
from coarsen.frontend.options import BuildOptions, parse_options
from coarsen.frontend.source_names import name_origins
from coarsen.frontend.source_text import (
    BYTE_ORDER_MARK,
    TOO_LARGE,
    decode_source,
    is_assembly,
    is_bitcode,
    read_source,
)
from coarsen.frontend.translation_unit import TranslationUnit, translation_unit
from coarsen.ir.graph.locations import read_module
from coarsen.ir.kernel import Kernel

_DEBUG_VERSION = '!"Debug Info Version"'
# A string, which stays, or what refers to debug information.
_DEBUG_REFERENCE = re.compile(
    r'"[^"]*"|,? !(?:dbg|llvm\.loop) !\d+'
    r"|^ *#dbg_[^\n]*|^ *(?:(?:tail|notail) )?call void @llvm\.dbg\.[^\n]*|^!llvm\.dbg\.[^\n]*",
    re.MULTILINE,
)


def lower(
    source: str | Path | TranslationUnit,
    kernel: str | None = None,
    options: str | Sequence[str] = (),
    macros: DeviceMacros = PORTABLE,
) -> Kernel:
    """Lower one kernel to normal form.

    Args:
        source: OpenCL C or LLVM IR text, or the path of a `.cl`, `.ll` or `.bc` file; or a source that
            `compile_source` has compiled: options and macros were given there.
        kernel: the kernel's name; may be left out where there is just one.
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source may find out about its device.

    Returns:
        The kernel, uncoarsened, as `coarsen.features` and the predictors take it.

    Raises:
        InvalidInputError: the file can't be read, does not compile, or the kernel is not clear.
        RefusalError: the kernel calls itself, or is too long.
    """
    unit = _unit_of(source, options, macros).with_kernel(kernel)
    name = unit.chosen(kernel)
    module = read_module(normal_form(unit, name))
    name_origins(module, name)
    return Kernel(name, module)


def _unit_of(
    source: str | Path | TranslationUnit, options: str | Sequence[str], macros: DeviceMacros
) -> TranslationUnit:
    if not isinstance(source, TranslationUnit):
        return compile_source(source, options, macros)
    if options or macros != PORTABLE:
        raise InvalidInputError("the source is compiled already: options and macros go with compile_source")
    return source


def compile_source(
    source: str | Path, options: str | Sequence[str] = (), macros: DeviceMacros = PORTABLE
) -> TranslationUnit:
    """Compile a source once for all of its kernels, which `lower` takes from it.

    Args:
        source: OpenCL C or LLVM IR text, or the path of a `.cl`, `.ll` or `.bc` file.
        options: OpenCL build options as PyOpenCL takes them.
        macros: what the source may find out about its device.

    Raises:
        InvalidInputError: the file can't be read, or does not compile.
        RefusalError: it is LLVM IR, and no module of OpenCL's.
    """
    found = _compilations(source, options, macros)
    unit = translation_unit(next(found))
    whole = replace(unit, guarded=_compiled_when_asked(found))
    return whole if unit.kernels else whole.with_kernel(None)


def _compiled_when_asked(found: Iterator[str]) -> Callable[[], tuple[TranslationUnit, ...]]:
    """Return a function that compiles what is left when it is first called; other threads wait for that."""
    lock, units = Lock(), cache(lambda: tuple(map(translation_unit, found)))

    def guarded() -> tuple[TranslationUnit, ...]:
        with lock:
            return units()

    return guarded


def list_kernels(
    source: str | Path, options: str | Sequence[str] = (), macros: DeviceMacros = PORTABLE
) -> list[str]:
    """Return the names of the kernels in a source, in their order. Raises as `compile_source` does."""
    return [*compile_source(source, options, macros).kernels]


def _compilations(source: str | Path, options: str | Sequence[str], macros: DeviceMacros) -> Iterator[str]:
    """Yield the LLVM IR text of a source: for OpenCL C with more and more extensions, as `compilations` does."""
    if isinstance(source, str):
        if len(source) > MOST_INPUT_BYTES:
            raise InvalidInputError(f"the source: {TOO_LARGE}")
        code = Source(source.removeprefix(BYTE_ORDER_MARK))
    else:
        content = read_source(source)
        if is_bitcode(content):
            yield _checked(disassemble(content, source))
            return
        code = Source(decode_source(content, source), source)
    if is_assembly(code.text) or (code.path is not None and code.path.suffix == ".ll"):
        yield _checked(code.text)
        return
    parsed_options = parse_options(options)
    yield from compilations(_with_chosen_values(code, parsed_options), parsed_options, macros)


def _with_chosen_values(code: Source, options: BuildOptions) -> Source:
    """Return the source of a file so that `-D` chooses the values of parameters that its pragmas declare.

    A `#define` of theirs would win over `-D` without a word. A source that is no file is a program's, which its
    device builds as it stands.
    """
    chosen = {re.split(r"[=(]", word[2:])[0] for word in options.clang_options if word.startswith("-D")}
    if code.path is None or not chosen or "pragma" not in code.text:
        return code
    # Imported late: few sources declare parameters.
    from coarsen.frontend.annotations import read_annotations, source_without_pragmas

    declared = {each.name for each in read_annotations(code.text, str(code.path)).parameters}
    if not chosen & declared:
        return code
    return replace(code, text=source_without_pragmas(code.text, str(code.path)))


def _checked(assembly: str) -> str:
    """Assembly that LLVM reads and that is for SPIR, as LLVM prints it."""
    if _DEBUG_VERSION in assembly:
        # LLVM ends the process where a module with debug information isn't valid; without, it says why.
        # Nor may anything refer to it: LLVM warns where it leaves some out.
        plain = _DEBUG_REFERENCE.sub(lambda match: match[0] if match[0].startswith('"') else "", assembly)
        with parsed(plain.replace(_DEBUG_VERSION, '!"No Version"')):
            pass
    with parsed(assembly) as module:
        check_target(module.triple)
        return str(module)
