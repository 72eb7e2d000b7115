"""A tuned file as a C99 header: the same choices, and the sizes of the launch that was chosen.

struct mv_inputs in = { .width = 4096, .height = 64 };
struct mv_launch launch;
int version = mv_choose(&in, &launch);      /* which of the versions' programs to launch, with which sizes */
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coarsen.dispatch.c_text import ARITHMETIC, TYPES, declarations, statements, tree_lines
from coarsen.dispatch.features import SIZE_NAMES, feature_steps, input_kinds
from coarsen.dispatch.launch_sizes import launch_formulas
from coarsen.dispatch.steps import Kind, Named, Steps
from coarsen.dispatch.tree import Tree, features_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening, Level

# Of C and C++.
_KEYWORDS = (
    "asm auto bool break case catch char class const continue default delete do double else enum extern false "
    "float for friend goto if inline int long namespace new operator private protected public register restrict "
    "return short signed sizeof static struct switch template this throw true try typedef typename union unsigned "
    "using virtual void volatile while"
)


def c_header(file: TunedFile) -> str:
    """Return the text of the header.

    Raises:
        InvalidInputError: a version of several launches; one that is guarded, has wide accesses, or is coarsened
            and leaves its local size to the driver; a name that C has for itself.
    """
    _check(file)
    name = file.kernel
    guard = f"COARSEN_CHOOSE_{name}"
    kinds = _inputs(file)
    parts = [
        f"/* Chooses among the versions of the kernel {name}; made by coarsen {_comment(file.coarsen_version)} "
        "from a tuned file.\n"
        f" * Tuned on {_comment(file.device)}, driver {_comment(file.driver)}. */",
        f"#ifndef {guard}\n#define {guard}",
        ARITHMETIC,
        _types(name, kinds),
        *_trees(file),
        *(_sizes(file, version) for version in range(len(file.versions))),
        _choose(file),
        "#endif\n",
    ]
    return "\n".join(parts)


def _check(file: TunedFile) -> None:
    for number, version in enumerate(file.versions):
        if version.is_sequence:
            raise InvalidInputError(f"version {number} takes several launches, which the C header can't choose")
        if version.variant.any_size or version.variant.transforms.wide_accesses:
            raise InvalidInputError(
                f"version {number} is guarded or has wide accesses, which the C header can't check"
            )
        if version.variant.is_coarsened and not version.variant.local_size:
            raise InvalidInputError(f"version {number} is coarsened and has no local size, which C needs")
    taken = sorted({*_KEYWORDS.split()} & {*_inputs(file), file.kernel})
    if taken:
        raise InvalidInputError(f"the C header can't have the name {taken[0]}, which is C's own")


def _inputs(file: TunedFile) -> Mapping[str, Kind]:
    """The numbers that the header's functions take, in order, each with its kind."""
    kinds = input_kinds(file.arguments)
    needed = set(() if file.has_sizes else SIZE_NAMES)
    for version in file.versions:
        for expression in version.expressions():
            needed |= expression.names
    supplied = {}
    for feature in file.features:
        formula = feature.formula()
        if formula is None:
            supplied[feature.name] = Kind.REAL
        else:
            needed |= formula.names
    return {name: kind for name, kind in kinds.items() if name in needed} | supplied


def _types(name: str, kinds: Mapping[str, Kind]) -> str:
    members = [f"    {TYPES[kind]} {entry};" for entry, kind in kinds.items()] or ["    int unused;"]
    return (
        "/* What the launch passes: arguments, bytes of buffers, and features that only the caller knows. */\n"
        f"struct {name}_inputs {{\n" + "\n".join(members) + "\n};\n\n"
        "/* Sizes in work-items, as clEnqueueNDRangeKernel takes them; a local size of 0 stands for NULL. */\n"
        f"struct {name}_launch {{\n"
        "    unsigned dimensions;\n    size_t global_size[3];\n    size_t local_size[3];\n};\n"
    )


def _trees(file: TunedFile) -> Iterator[str]:
    """The functions that answer a tree; the default version where a feature has no value."""
    yield _tree(file, f"{file.kernel}_version", file.tree)
    if file.tree_without_supplied is not None:
        yield _tree(file, f"{file.kernel}_version_without_supplied", file.tree_without_supplied)


def _tree(file: TunedFile, function: str, tree: Tree) -> str:
    kinds = input_kinds(file.arguments)
    asked = [feature for feature in file.features if feature.name in features_of(tree)]
    formulas = [feature_steps(feature, kinds) or Steps((), Named(feature.name), Kind.REAL) for feature in asked]
    lines, results = statements(formulas, f"return {file.default};")
    places = {feature.name: f"f{number}" for number, feature in enumerate(asked)}
    values = [
        f"const double {place} = {result}; /* {feature.name} */"
        for (place, result), feature in zip(zip(places.values(), results, strict=True), asked, strict=True)
    ]
    body = _indented([*declarations(formulas), "(void)in;", *lines])
    compared = list(tree_lines(tree, places, "        "))
    return (
        f"static inline int {function}(const struct {file.kernel}_inputs *in)\n{{\n{body}    {{\n"
        + "".join(f"        {value}\n" for value in values)
        + "\n".join(compared)
        + "\n    }\n}\n"
    )


def _sizes(file: TunedFile, number: int) -> str:
    """The function of a version's sizes; it returns 0 where they have no value or don't divide."""
    version = file.versions[number]
    formulas = [] if not version.launches else launch_formulas(version, version.launches[0], file.arguments).sizes
    lines, results = statements(formulas, "return 0;")
    if version.launches:
        dimensions = len(version.launches[0].global_size)
        whole, local = results[:dimensions], results[dimensions : 2 * dimensions]
    else:
        dimensions = 3
        whole = [f"in->global_size_{entry}" for entry in range(3)]
        own = version.variant.local_size
        local = [str(size) for size in (*own, *[1] * (3 - len(own)))] if own else []
        local = local or [f"in->local_size_{entry}" for entry in range(3)]
    lines.append(f"launch->dimensions = {dimensions};")
    for entry in range(dimensions):
        lines += _one_size(entry, whole[entry], local[entry] if local else "0")
    for coarsening in version.variant.coarsenings:
        lines += _merged(coarsening)
    lines.append("return 1;")
    return (
        f"static inline int {file.kernel}_sizes_{number}(const struct {file.kernel}_inputs *in, "
        f"struct {file.kernel}_launch *launch)\n{{\n"
        + _indented([*declarations(formulas), "(void)in;", *lines])
        + "}\n"
    )


def _one_size(dimension: int, whole: str, local: str) -> Iterator[str]:
    yield f"if ({whole} <= 0 || {local} < 0 || (uint64_t){whole} > SIZE_MAX || (uint64_t){local} > SIZE_MAX)"
    yield "    return 0;"
    yield f"launch->global_size[{dimension}] = (size_t){whole};"
    yield f"launch->local_size[{dimension}] = (size_t){local};"


def _merged(coarsening: Coarsening) -> Iterator[str]:
    factor, dimension, stride = coarsening.factor, coarsening.dimension, coarsening.stride
    whole, local = f"launch->global_size[{dimension}]", f"launch->local_size[{dimension}]"
    yield f"if ({dimension} >= launch->dimensions || {local} == 0 || {whole} % {local} != 0)"
    yield "    return 0;"
    if coarsening.level is Level.GROUP:
        yield f"if ({whole} / {local} % {factor} != 0)"
        yield "    return 0;"
    else:
        yield f"if ({local} % {factor} != 0 || {local} / {factor} % {stride} != 0)"
        yield "    return 0;"
        yield f"{local} /= {factor};"
    yield f"{whole} /= {factor};"


def _choose(file: TunedFile) -> str:
    name = file.kernel
    numbers = range(len(file.versions))
    cases = "\n".join(f"    case {number}: return {name}_sizes_{number}(in, launch);" for number in numbers)
    without = str(file.default)
    if file.tree_without_supplied is not None:
        without = f"{name}_version_without_supplied(in)"
    return f"""\
static inline int {name}_sizes(int version, const struct {name}_inputs *in, struct {name}_launch *launch)
{{
    switch (version) {{
{cases}
    }}
    return 0;
}}

enum {{ {name}_default = {file.default}, {name}_versions = {len(file.versions)} }};

/* The version to launch, and its sizes; the default version where those of the chosen one have no value or don't
 * divide. -1 where the default version's have none either. `has_supplied` says that features that only the caller
 * knows are there. */
static inline int
{name}_choose_with(const struct {name}_inputs *in, int has_supplied, struct {name}_launch *launch)
{{
    const int version = has_supplied ? {name}_version(in) : {without};
    if ({name}_sizes(version, in, launch))
        return version;
    return {name}_sizes({name}_default, in, launch) ? {name}_default : -1;
}}

static inline int {name}_choose(const struct {name}_inputs *in, struct {name}_launch *launch)
{{
    return {name}_choose_with(in, {int(not file.needs_supplied)}, launch);
}}
"""


def _indented(lines: Iterable[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)


def _comment(text: str) -> str:
    """A text that can't end the comment it stands in."""
    return "".join(letter if letter.isprintable() and letter not in "*\\" else " " for letter in text)[:200]
