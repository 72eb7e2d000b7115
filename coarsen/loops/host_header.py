"""The launches of a C function's loops as a C99 header: a host calls it as it called the function.

cl_int status = mm_run(queue, kernels, n, m, l, a, b, c);   /* kernels[i] is created by the name mm_kernels[i] */
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from coarsen.base.version import __version__
from coarsen.dispatch.c_text import ARITHMETIC, declarations, function, statements
from coarsen.dispatch.expressions import parse_condition, parse_expression
from coarsen.dispatch.header import comment_text
from coarsen.dispatch.steps import Operation, whole_steps_of
from coarsen.loops.expression_text import opencl_type
from coarsen.loops.kernel_text import KernelText, whole_type
from coarsen.loops.launches import LaunchIf, Launching, LaunchLoop, NestLaunch, extents_in
from coarsen.loops.nest import free_name
from coarsen.loops.program import NestProgram

# Bounds of loops may be negative where a size is 0, and isl's quotients go downwards.
_DOWNWARDS = {Operation.QUOTIENT: "coarsen_quotient_downwards", Operation.REMAINDER: "coarsen_remainder_downwards"}
_INVALID = "CL_INVALID_GLOBAL_WORK_SIZE"
_INCLUDES = """\
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif"""
_CONTRACT = """\
 * It sets the kernels' arguments, which no other thread may do meanwhile, enqueues all launches, and waits for
 * none. Returned are OpenCL's codes: CL_INVALID_BUFFER_SIZE for a buffer that is too small, or an array with too
 * many elements for the kernels' whole numbers; CL_INVALID_GLOBAL_WORK_SIZE for too many work-items, or a loop
 * that counts too far;
 * CL_INVALID_ARG_VALUE for the same buffer as two arrays that have to be apart.
"""
_HELPERS = """\
#ifndef COARSEN_RUN
#define COARSEN_RUN
static inline int coarsen_quotient_downwards(int64_t a, int64_t b, int64_t *result)
{
    if (b <= 0)
        return 0;
    *result = a / b - (a % b < 0);
    return 1;
}

static inline int coarsen_remainder_downwards(int64_t a, int64_t b, int64_t *result)
{
    if (b <= 0)
        return 0;
    *result = a % b + (a % b < 0 ? b : 0);
    return 1;
}

/* The bytes of an array; CL_INVALID_BUFFER_SIZE where it has more elements than `most`. */
static inline cl_int
coarsen_bytes(const int64_t *extents, unsigned dimensions, size_t element, int64_t most, size_t *bytes)
{
    int64_t elements = 1;
    unsigned place;
    *bytes = 0;
    for (place = 0; place < dimensions; place++)
        if (extents[place] <= 0)
            return CL_SUCCESS;
    for (place = 0; place < dimensions; place++)
        if (!coarsen_multiply(elements, extents[place], &elements))
            return CL_INVALID_BUFFER_SIZE;
    *bytes = (size_t)elements * element;
    return elements > most || (uint64_t)elements > SIZE_MAX / element ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}

static inline cl_int coarsen_check_buffer(cl_mem buffer, size_t bytes)
{
    size_t size = 0;
    cl_int status = CL_SUCCESS;
    if (bytes > 0)
        status = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
    return status == CL_SUCCESS && size < bytes ? CL_INVALID_BUFFER_SIZE : status;
}

/* Enqueues a kernel over whole work-groups, after all that the queue has; nothing where a size is below 1. */
static inline cl_int coarsen_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                     const int64_t *sizes, const size_t *local, int64_t most)
{
    cl_command_queue_properties properties = 0;
    cl_int status;
    size_t whole[3];
    cl_uint place;
    for (place = 0; place < dimensions; place++)
        if (sizes[place] < 1)
            return CL_SUCCESS;
    for (place = 0; place < dimensions; place++) {
        const size_t own = local[place];
        if (own < 1 || sizes[place] > most - (int64_t)own || (uint64_t)sizes[place] > SIZE_MAX - own)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        whole[place] = ((size_t)sizes[place] + own - 1) / own * own;
    }
    status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (status == CL_SUCCESS && (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        status = clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL);
    if (status == CL_SUCCESS)
        status = clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, whole, local, 0, NULL, NULL);
    return status;
}
#endif
"""


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
        body = [*self._launches(program.launches), "return CL_SUCCESS;"]
        taking = f"cl_command_queue queue, const cl_kernel *kernels, struct {name}_values *in"
        launching = function(f"cl_int\n{name}_launches({taking})", ["cl_int status;", "(void)in;", *body])
        functions = [self._bytes(), *map(self._kernel, program.kernels), launching, self._run()]
        made = f" * Buffers for {', '.join(self._scratch)} are made and released.\n" if self._scratch else ""
        yield (
            f"/* The launches of {name} in {comment_text(program.path.name)}, for hosts in C99 with OpenCL 1.2;\n"
            f" * made by coarsen {__version__}.\n *\n"
            f" *     cl_kernel kernels[{count}]; created of {name}.cl by the names in {name}_kernels\n"
            f" *     cl_int status = {name}_run({', '.join(('queue', 'kernels', *program.arguments))});\n"
            f" *\n{_CONTRACT}{made} */\n#ifndef COARSEN_RUN_{name}\n#define COARSEN_RUN_{name}\n{_INCLUDES}"
        )
        yield ARITHMETIC
        yield _HELPERS
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

    def _computed(self, texts: Iterable[str], status: str) -> tuple[list[str], list[str]]:
        """Statements that compute expressions, and their results in C; else a status is returned."""
        expressions = [parse_expression(each) for each in texts]
        self._values |= dict.fromkeys(sorted(name for each in expressions for name in each.names))
        formulas = [whole_steps_of(each, each.names, {}) for each in expressions]
        lines, results = statements(formulas, f"return {status};", functions=_DOWNWARDS)
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

    def _kernel(self, text: KernelText) -> str:
        """The function that enqueues a kernel, whose other arguments are set."""
        name = text.kernel.name
        computing, results = self._computed(self._made[name].global_size, _INVALID)
        local = ", ".join(f"{name.upper()}_LOCAL_{place}" for place in range(len(results)))
        lines = ["cl_int status = CL_SUCCESS;", f"const size_t local[] = {{{local}}};", "(void)in;", *computing]
        lines.append(f"const int64_t sizes[] = {{{', '.join(results)}}};")
        for place, each in enumerate(text.arguments):
            if each in text.kernel.steps:
                lines.append(f"const cl_{self._whole} given_{place} = (cl_{self._whole})in->{each};")
                lines += _unless_failed(f"clSetKernelArg(kernel, {place}, sizeof given_{place}, &given_{place})")
        lines += _unless_failed(f"coarsen_enqueue(queue, kernel, {len(results)}, sizes, local, {self._most})")
        taking = f"cl_command_queue queue, cl_kernel kernel, const struct {self._name}_values *in"
        return function(f"cl_int\n{name}_enqueue({taking})", [*lines, "return status;"])

    def _launches(self, launches: Sequence[Launching]) -> Iterator[str]:
        for each in launches:
            match each:
                case LaunchIf(conditions=conditions, body=body):
                    asked = [parse_condition(text) for text in conditions]
                    sides = (side.text for one in asked for side in (one.left, one.right))
                    computing, results = self._computed(sides, _INVALID)
                    pairs = zip(asked, results[::2], results[1::2], strict=True)
                    tests = " && ".join(f"{left} {one.sign} {right}" for one, left, right in pairs)
                    yield from _scoped(computing, _block(self._launches(body), f"if ({tests})"))
                case LaunchLoop(name=name, body=body):
                    self._values[name] = None
                    computing, ends = self._computed((each.first, each.end), _INVALID)
                    head = f"for (in->{name} = {ends[0]}; in->{name} < {ends[1]}; in->{name} += {each.step})"
                    yield from _scoped(computing, _block(self._launches(body), head))
                case NestLaunch(kernel=text, steps=steps):
                    name, own, values = text.kernel.name, list[str](), "in"
                    self._made[name] = each
                    self._values |= dict.fromkeys(steps)
                    others = {step: value for step, value in steps.items() if step != value}
                    if others:
                        own, results = self._computed(others.values(), _INVALID)
                        own.append(f"struct {self._name}_values own = *in;")
                        own += [f"own.{step} = {value};" for step, value in zip(others, results, strict=True)]
                        values = "&own"
                    number = self._program.names.index(name)
                    yield from _scoped(own, _checked(f"{name}_enqueue(queue, kernels[{number}], {values})"))

    def _run(self) -> str:
        name, given, nest = self._name, self._program.arguments, self._nest
        queue, kernels, values, bytes_, status, context = (
            free_name(each, (*given, *self._scratch))
            for each in ("queue", "kernels", "values", "bytes", "status", "context")
        )
        lines = [f"struct {name}_values {values};", f"size_t {bytes_}[{max(1, len(self._arrays))}];"]
        lines += [f"cl_mem {each} = NULL;" for each in self._scratch]
        numbers = {**self._program.macros, **{each: each for each in nest.parameters}}
        lines += [f"{values}.{each} = {numbers.get(each, 0)};" for each in self._values]
        lines.append(f"cl_int {status} = {name}_bytes(&{values}, {bytes_});")
        if self._scratch:
            lines.append(f"cl_context {context} = NULL;")
            call = f"clGetCommandQueueInfo({queue}, CL_QUEUE_CONTEXT, sizeof {context}, &{context}, NULL)"
            lines += _unless_failed(call, status)
        for number, array in enumerate(self._arrays):
            size = f"{bytes_}[{number}]"
            made = f"clCreateBuffer({context}, CL_MEM_READ_WRITE, {size} ? {size} : 1, NULL, &{status})"
            if array.is_local:
                lines += [f"if ({status} == CL_SUCCESS)", f"    {array.name} = {made};"]
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
