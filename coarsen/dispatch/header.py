"""A tuned file as a C99 header: the same choices, and the sizes of the launch that was chosen.

struct mv_inputs in = { .width = 4096, .height = 64 };
struct mv_launch launch;
int version = mv_choose(&in, &launch);      /* which of the versions' programs to launch, with which sizes */
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coarsen.dispatch.c_text import ARITHMETIC, TYPES, declarations, statements, tree_lines
from coarsen.dispatch.features import SIZE_NAMES, feature_steps, input_kinds
from coarsen.dispatch.file_checks import check_launchable
from coarsen.dispatch.header_sizes import has_local_memory, indented, sizes_function
from coarsen.dispatch.header_steps import step_functions
from coarsen.dispatch.steps import Kind, Named, Steps
from coarsen.dispatch.tree import Tree, features_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError

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
        InvalidInputError: a version that is guarded, has wide accesses, or is coarsened and leaves its local size
            to the driver; a name that C has for itself.
    """
    _check(file)
    name = file.kernel
    guard = f"COARSEN_CHOOSE_{name}"
    kinds = _inputs(file)
    parts = [
        f"/* Chooses among the versions of the kernel {name}; made by coarsen "
        f"{comment_text(file.coarsen_version)} from a tuned file.\n"
        f" * Tuned on {comment_text(file.device)}, driver {comment_text(file.driver)}. */",
        f"#ifndef {guard}\n#define {guard}",
        ARITHMETIC,
        _types(file, kinds),
        *_trees(file),
        *step_functions(file),
        *(sizes_function(file, version) for version in range(len(file.versions))),
        _choose(file),
        "#endif\n",
    ]
    return "\n".join(parts)


def _check(file: TunedFile) -> None:
    check_launchable(file.versions)
    for number, version in enumerate(file.versions):
        transforms = version.variant.transforms
        if version.variant.any_size or transforms.wide_accesses or transforms.distinct:
            raise InvalidInputError(
                f"version {number} is guarded, has wide accesses or takes arguments as distinct, which the C "
                "header can't check (coarsen tune --space distinct=no finds versions without the last)"
            )
        others = [launch.kernel for launch in version.launches if launch.kernel != file.kernel]
        if others and not version.is_sequence:
            raise InvalidInputError(
                f"version {number} launches {others[0]} in place of {file.kernel}, which the C header can't say"
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


def _types(file: TunedFile, kinds: Mapping[str, Kind]) -> str:
    name = file.kernel
    members = [f"{TYPES[kind]} {entry};" for entry, kind in kinds.items()] or ["int unused;"]
    sizes = ["unsigned dimensions;", "size_t global_size[3];", "size_t local_size[3];"]
    comment = "Sizes in work-items, as clEnqueueNDRangeKernel takes them; a local size of 0 stands for NULL."
    if any(version.is_sequence for version in file.versions):
        comment += f"\n * No dimensions: the version takes several launches, which {name}_steps has."
    if has_local_memory(file):
        comment += "\n * Bytes of local memory by the index of the caller's argument; 0: as the caller has it."
        sizes.append(f"size_t local_memory[{len(file.arguments)}];")
    return (
        "/* What the launch passes: arguments, bytes of buffers, and features that only the caller knows. */\n"
        f"struct {name}_inputs {{\n{indented(members)}}};\n\n"
        f"/* {comment} */\nstruct {name}_launch {{\n{indented(sizes)}}};\n"
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
    body = indented([*declarations(formulas), "(void)in;", *lines])
    compared = list(tree_lines(tree, places, "        "))
    return (
        f"static inline int {function}(const struct {file.kernel}_inputs *in)\n{{\n{body}    {{\n"
        + "".join(f"        {value}\n" for value in values)
        + "\n".join(compared)
        + "\n    }\n}\n"
    )


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


def comment_text(text: str, limit: int = 200) -> str:
    """Return the first letters of a text, without those that could end the comment it stands in."""
    return "".join(letter if letter.isprintable() and letter not in "*\\" else " " for letter in text)[:limit]
