"""The launches of a C function's loops as a C99 header: a host calls it as it called the function.

cl_int status = mm_run(queue, kernels, n, m, l, a, b, c);   /* kernels[i] is created by the name mm_kernels[i] */
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from coarsen.base.version import __version__
from coarsen.dispatch.c_text import ARITHMETIC, declarations, function, statements
from coarsen.dispatch.expressions import parse_condition, parse_expression
from coarsen.dispatch.header import comment_text
from coarsen.dispatch.steps import Operation, whole_steps_of
from coarsen.loops.kernel_text import whole_type
from coarsen.loops.launches import LaunchIf, Launching, LaunchLoop, NestLaunch, extents_in
from coarsen.loops.nest import free_name
from coarsen.loops.program import NestProgram
from coarsen.loops.writer import opencl_type

# Bounds of loops may be negative where a size is 0, and isl's quotients go downwards.
_DOWNWARDS = {Operation.QUOTIENT: "coarsen_quotient_downwards", Operation.REMAINDER: "coarsen_remainder_downwards"}
_INVALID = "CL_INVALID_GLOBAL_WORK_SIZE"


def host_header(program: NestProgram) -> str:
    """Return the text of the header. Raises InvalidInputError for a bound that is no whole expression."""
    return "\n".join(_Header(program).parts())


class _Header:
    def __init__(self, program: NestProgram) -> None:
        self._program, self._nest, self._name = program, program.nest, program.nest.function
        self._whole = whole_type(self._nest)
        self._most = f"CL_{self._whole.upper()}_MAX" + f" - {program.beyond}" * bool(program.beyond)
        self._arrays = [each for each in self._nest.arrays.values() if not each.is_private]
        self._scratch = [each.name for each in self._arrays if each.is_local]
        # Filled as functions are written: what sizes are made of, and by kernel a launch of it.
        self._values: dict[str, None] = {}
        self._made: dict[str, NestLaunch] = {}

    def parts(self) -> Iterator[str]:
        name, program, count = self._name, self._program, f"{self._name.upper()}_KERNELS"
        body = [*self._launches(program.launches, {}), "return CL_SUCCESS;"]
        taking = f"cl_command_queue queue, const cl_kernel *kernels, const struct {name}_values *in"
        launching = function(f"cl_int\n{name}_launches({taking})", ["cl_int status;", "(void)in;", *body])
        functions = [self._bytes(), launching, self._run()]
        made = f" * Buffers for {', '.join(self._scratch)} are made and released.\n" if self._scratch else ""
        yield (
            f"/* The launches of {name} in {comment_text(program.path.name)}, for hosts in C99 with OpenCL 1.2;\n"
            f" * made by coarsen {__version__}.\n *\n"
            f" *     cl_kernel kernels[{count}]; created of {name}.cl by the names in {name}_kernels\n"
            f" *     cl_int status = {name}_run({', '.join(('queue', 'kernels', *program.arguments))});\n"
            f"{made} */\n#ifndef COARSEN_RUN_{name}\n#define COARSEN_RUN_{name}\n"
        )
        yield ARITHMETIC
        yield Path(__file__).with_name("run.h").read_text("utf-8")
        names = "".join(f'    "{each}",\n' for each in program.names)
        yield f"#define {count} {len(program.names)}"
        yield f"static const char *const {name}_kernels[{count}] = {{\n{names}}};\n"
        yield "/* The work-group of each kernel; define others before this file is included. */"
        for kernel in program.names:
            for place, size in enumerate(self._made[kernel].local_size):
                macro = f"{kernel.upper()}_LOCAL_{place}"
                # Of lanes there must be as many as the kernel is written for.
                defined = f"#define {macro} {parse_expression(size).evaluate(program.macros)}"
                yield f"#ifndef {macro}\n{defined}\n#endif" if size.isdecimal() else defined
        members = "".join(f"    int64_t {each};\n" for each in self._values) or "    int64_t none;\n"
        yield f"\nstruct {name}_values {{\n{members}}};\n"
        yield from functions
        yield "#endif\n"

    def _computed(
        self, texts: Iterable[str], status: str, variables: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[list[str], list[str]]:
        """Statements that compute expressions, and their results in C; else a status is returned."""
        expressions = [parse_expression(each) for each in texts]
        names = {name for each in expressions for name in each.names}
        self._values |= dict.fromkeys(sorted(names - variables.keys()))
        formulas = [whole_steps_of(each, each.names, {}) for each in expressions]
        lines, results = statements(formulas, f"return {status};", variables, _DOWNWARDS)
        return [*declarations(formulas), *lines], results

    def _bytes(self) -> str:
        """The function that says how many bytes of each array are accessed."""
        lines = ["cl_int status;", "(void)in;", "(void)bytes;"]
        for each in self._program.ends:
            computing, (last,) = self._computed([each.text], _INVALID)
            lines += _block([*computing, f"if ({last} > {self._most})", f"    return {_INVALID};"])
        for number, array in enumerate(self._arrays):
            computing, results = self._computed(extents_in(self._nest, array), "CL_INVALID_BUFFER_SIZE")
            element = f"sizeof(cl_{opencl_type(array.element, self._nest.place)})"
            call = f"coarsen_bytes(extents, {len(results)}, {element}, {self._most}, &bytes[{number}])"
            extents = f"const int64_t extents[] = {{{', '.join(results)}}}; /* of {array.name} */"
            lines += _block([*computing, extents, *_checked(call)])
        taking = f"const struct {self._name}_values *in, size_t *bytes"
        return function(f"cl_int\n{self._name}_bytes({taking})", [*lines, "return CL_SUCCESS;"])

    def _launches(self, launches: Sequence[Launching], steps: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements of launches; of the names of loops around them `steps` has the variables."""
        for each in launches:
            match each:
                case LaunchIf(conditions=conditions, body=body):
                    asked = [parse_condition(text) for text in conditions]
                    sides = (side.text for one in asked for side in (one.left, one.right))
                    computing, results = self._computed(sides, _INVALID, steps)
                    pairs = zip(asked, results[::2], results[1::2], strict=True)
                    tests = " && ".join(f"{left} {one.sign} {right}" for one, left, right in pairs)
                    yield from _scoped(computing, _block(self._launches(body, steps), f"if ({tests})"))
                case LaunchLoop(name=name, body=body):
                    computing, (first, end) = self._computed((each.first, each.end), _INVALID, steps)
                    head = f"for (int64_t at_{name} = {first}; at_{name} < {end}; at_{name} += {each.step})"
                    inner = self._launches(body, {**steps, name: f"at_{name}"})
                    yield from _scoped(computing, _block(inner, head))
                case NestLaunch(kernel=text, steps=given):
                    self._made[text.kernel.name] = each
                    computing, values = self._computed(given.values(), _INVALID, steps)
                    own = dict(zip(given, values, strict=True))
                    if computing:  # its results have names that others have further inside
                        named = {step: f"step_{step}" for step in given}
                        lines = "const int64_t {0} = {1}; (void){0};"
                        computing += map(lines.format, named.values(), values)
                        own = named
                    yield from _scoped(computing, _block(self._launch(each, {**steps, **own})))

    def _launch(self, launch: NestLaunch, steps: Mapping[str, str]) -> Iterator[str]:
        """Yield the statements that enqueue a kernel, whose other arguments than steps are set."""
        text, name = launch.kernel, launch.kernel.kernel.name
        kernel = f"kernels[{self._program.names.index(name)}]"
        computing, results = self._computed(launch.global_size, _INVALID, steps)
        yield from computing
        local = ", ".join(f"{name.upper()}_LOCAL_{place}" for place in range(len(results)))
        yield f"const size_t local[] = {{{local}}};"
        yield f"const int64_t sizes[] = {{{', '.join(results)}}};"
        for place, each in enumerate(text.arguments):
            if each in text.kernel.steps:
                yield f"const cl_{self._whole} given_{place} = (cl_{self._whole}){steps[each]};"
                yield from _checked(f"clSetKernelArg({kernel}, {place}, sizeof given_{place}, &given_{place})")
        yield from _checked(f"coarsen_enqueue(queue, {kernel}, {len(results)}, sizes, local, {self._most})")

    def _run(self) -> str:
        name, given, nest = self._name, self._program.arguments, self._nest
        queue, kernels, values, bytes_, status = (
            free_name(each, (*given, *self._scratch)) for each in ("queue", "kernels", "values", "bytes", "status")
        )
        lines = [f"struct {name}_values {values};", f"size_t {bytes_}[{max(1, len(self._arrays))}] = {{0}};"]
        lines += [f"cl_mem {each} = NULL;" for each in self._scratch]
        numbers = {**self._program.macros, **{each: each for each in nest.parameters}}
        lines += [f"{values}.{each} = {numbers.get(each, 0)};" for each in self._values]
        lines.append(f"cl_int {status} = {name}_bytes(&{values}, {bytes_});")
        for number, array in enumerate(self._arrays):
            size = f"{bytes_}[{number}]"
            if array.is_local:
                lines.append(f"{array.name} = coarsen_create({queue}, {size}, &{status});")
            else:
                lines += _unless_failed(f"coarsen_check_buffer({array.name}, {size})", status)
        for one, other in self._program.apart:
            if {one, other} <= {*given}:
                lines += [f"if ({one} && {one} == {other})", f"    {status} = CL_INVALID_ARG_VALUE;"]
        for number, text in enumerate(self._program.kernels):
            for place, each in enumerate(text.arguments):
                if each not in text.kernel.steps:
                    call = f"clSetKernelArg({kernels}[{number}], {place}, sizeof {each}, &{each})"
                    lines += _unless_failed(call, status)
        lines += _unless_failed(f"{name}_launches({queue}, {kernels}, &{values})", status)
        for each in self._scratch:
            lines += [f"if ({each})", f"    clReleaseMemObject({each});"]
        taking = [f"cl_command_queue {queue}", f"const cl_kernel {kernels}[{name.upper()}_KERNELS]"]
        for each in given:
            of_real = opencl_type(nest.types[each], nest.place) if each in nest.types else ""
            kind = self._whole if each in nest.parameters else of_real or "mem"
            taking.append(f"cl_{kind} {each}")
        parameters = ",\n    ".join(taking)
        return function(f"cl_int\n{name}_run({parameters})", [*lines, f"return {status};"])


def _block(lines: Iterable[str], head: str = "") -> list[str]:
    return [f"{head} {{" if head else "{", *(f"    {line}" for line in lines), "}"]


def _scoped(computing: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Lines after others that compute what they need; a block where there are such."""
    return _block([*computing, *lines]) if computing else [*lines]


def _checked(call: str) -> list[str]:
    return [f"status = {call};", "if (status != CL_SUCCESS)", "    return status;"]


def _unless_failed(call: str, status: str = "status") -> list[str]:
    return [f"if ({status} == CL_SUCCESS)", f"    {status} = {call};"]
