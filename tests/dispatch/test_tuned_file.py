"""Tuned files: written and read as they are, and refused in one line where they make no sense."""

from __future__ import annotations

import copy
import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coarsen.dispatch.tree import DEEPEST, MOST_LEAVES, Leaf, Split, Tree
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.variant.variant import Variant
from tests.dispatch.files import FILE


def test_what_is_written_is_read(tmp_path: Path) -> None:
    FILE.write(tmp_path / "mv.tuned.json")
    assert TunedFile.read(tmp_path / "mv.tuned.json") == FILE


def test_a_number_with_a_name_is_a_number() -> None:
    """One of an enumeration isn't looked up among all whole numbers, one by one."""
    assert replace(FILE, evidence={"kind": socket.AF_UNIX}).to_json()["evidence"] == {"kind": int(socket.AF_UNIX)}


def test_the_same_content_gives_the_same_bytes() -> None:
    other = replace(FILE, evidence={"regret": {"mean": 0.01}, "inputs": 24})
    assert other.to_bytes() == FILE.to_bytes() == TunedFile.from_bytes(FILE.to_bytes()).to_bytes()


def test_thresholds_are_exact() -> None:
    file = replace(FILE, tree=Split("aspect", 0.1 + 0.2, Leaf(0), Leaf(1)))
    tree = TunedFile.from_bytes(file.to_bytes()).tree
    assert isinstance(tree, Split)
    assert tree.threshold == 0.1 + 0.2


def without(*path: str | int) -> Callable[[Any], None]:
    def change(value: Any) -> None:  # noqa: ANN401 (any JSON value)
        for entry in path[:-1]:
            value = value[entry]
        del value[path[-1]]

    return change


def changed(new: object, *path: str | int) -> Callable[[Any], None]:
    def change(value: Any) -> None:  # noqa: ANN401 (any JSON value)
        for entry in path[:-1]:
            value = value[entry]
        value[path[-1]] = new

    return change


LAUNCH = ("versions", 1, "launches", 0)
MISTAKES: tuple[tuple[Callable[[Any], None], str], ...] = (
    (changed("coarsen tuned file 2", "format"), "no tuned file of the format"),
    (without("kernel"), "no field 'kernel'"),
    (changed(1, "further"), "unknown field 'further'"),
    (changed("__import__('os')", "kernel"), "can't be called"),
    (changed(7, "default"), "the default version is 7, of 3"),
    (changed(1, "default"), "must be the kernel as it is written, without coarsening"),
    (changed([], "versions"), "0 versions"),
    (changed([["aspect", "__import__('os').getcwd()"]], "features"), "may only have numbers"),
    (
        changed([["aspect", "heigth / width"]], "features"),
        r"'heigth', which no launch passes \(did you mean height",
    ),
    (changed([["aspect", "scale // 2"]], "features"), "// or % of a number that isn't whole"),
    (changed([["aspect", f"width + {2**63}"]], "features"), "beyond 64 bits"),
    (changed([["a b", "width"]], "features"), "can't be called"),
    (changed([["aspect", 3]], "features"), "no text as its expression"),
    (changed([["aspect", None]], "features"), "supplied the feature 'aspect', .*: tune again with -o"),
    (changed([["aspect"]], "features"), "a name and an expression"),
    (changed([["aspect", "width"], ["aspect", "height"]], "features"), "a feature is there twice"),
    (changed(3, "tree"), "the version 3, of 3"),
    (changed(-1, "tree"), "the version -1"),
    (changed(True, "tree"), "a version's number, or have"),
    (changed("lambda", "tree", "feature"), "asks for 'lambda'"),
    (changed("0", "tree", "threshold"), "a number as the threshold"),
    (changed(10**400, "tree", "threshold"), "isn't finite"),
    (changed("width.real", *LAUNCH, "global_size", 0), "may only have whole numbers"),
    (changed("global_size_0", *LAUNCH, "global_size", 0), "'global_size_0', which is no whole argument"),
    (changed("scale", *LAUNCH, "global_size", 0), "'scale', which is no whole argument"),
    (changed("COLUMNS", *LAUNCH, "global_size", 0), "'COLUMNS', which is no"),
    (changed([], *LAUNCH, "global_size"), "0 global sizes"),
    (changed(["1", "1"], *LAUNCH, "local_size"), "2 local and 1 global sizes"),
    (changed({"a": "4"}, *LAUNCH, "local_memory"), "'a' is no argument that is local memory"),
    (changed({"width": "4"}, "versions", 1, "variant", "definitions"), "has the name of an argument"),
    (changed({"ROWS": "4 -I/tmp"}, "versions", 1, "variant", "definitions"), "which no build option takes"),
    (changed({"ROWS": "4'"}, "versions", 1, "variant", "definitions"), "which no build option takes"),
    (changed([[2, 0, 1]], "versions", 2, "variant", "coarsenings"), "several launches is coarsened"),
    (changed(["b"], "versions", 2, "launches", 0, "arguments"), "passes 'b'"),
    (without("versions", 0, "launches"), "give all their sizes, or none"),
    (changed(["x"], "evidence"), "'evidence' of the tuned file must be an object"),
)


@pytest.mark.parametrize(("change", "message"), MISTAKES)
def test_a_mistake_is_one_clear_line(change: Callable[[Any], None], message: str) -> None:
    value = copy.deepcopy(FILE.to_json())
    change(value)
    with pytest.raises(InvalidInputError, match=message) as raised:
        TunedFile.from_bytes(json.dumps(value).encode())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b'{"format": 1, "format": 1}', b'{"format": NaN}', b"[" * 100_000, b"9" * 10_000],
    ids=["empty", "open", "no text", "twice", "nan", "deep", "long number"],
)
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError):
        TunedFile.from_bytes(data)


def test_the_name_of_the_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.tuned.json"
    path.write_text("{}")
    with pytest.raises(InvalidInputError, match=r"x\.tuned\.json: it is no tuned file"):
        TunedFile.read(path)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -float("inf")])
def test_a_threshold_that_is_no_number_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidInputError, match="isn't finite"):
        replace(FILE, tree=Split("aspect", threshold, Leaf(0), Leaf(1)))


def test_a_whole_number_is_a_threshold() -> None:
    tree = Split("aspect", 3, Leaf(0), Leaf(1))
    assert type(tree.threshold) is float
    file = replace(FILE, tree=tree)
    assert TunedFile.from_bytes(file.to_bytes()) == file
    with pytest.raises(InvalidInputError, match="isn't finite"):
        Split("aspect", 10**400, Leaf(0), Leaf(1))


def test_a_tree_that_is_too_deep_is_refused() -> None:
    tree: Tree = Leaf(0)
    for _ in range(DEEPEST + 1):
        tree = Split("aspect", 0.0, tree, Leaf(1))
    with pytest.raises(InvalidInputError, match="deeper"):
        replace(FILE, tree=tree)
    value = FILE.to_json()
    nested: Any = 0
    for _ in range(500):
        nested = {"feature": "aspect", "threshold": 0.0, "at_most": nested, "above": 1}
    with pytest.raises(InvalidInputError, match="deeper"):
        TunedFile.from_json({**value, "tree": nested})


def test_a_huge_tree_is_refused() -> None:
    trees: list[Tree] = [Leaf(0)] * (2 * MOST_LEAVES)
    while len(trees) > 1:
        trees = [Split("aspect", 0.0, *pair) for pair in zip(trees[::2], trees[1::2], strict=True)]
    with pytest.raises(InvalidInputError, match="more than 1024 answers"):
        replace(FILE, tree=trees[0])


def test_keywords_of_python_are_names_of_arguments() -> None:
    value = json.loads(FILE.to_bytes().decode().replace('"a"', '"in"').replace("bytes_a", "bytes_in"))
    assert TunedFile.from_json(value).arguments[0].name == "in"


def test_versions_without_launches_take_the_callers_sizes() -> None:
    versions = (TunedVersion(Variant()), TunedVersion(Variant((64,))))
    file = replace(FILE, versions=versions, tree=Leaf(1))
    assert not file.has_sizes
    assert TunedFile.from_bytes(file.to_bytes()) == file


def test_no_version_is_there_twice() -> None:
    version = TunedVersion(Variant(), (TunedLaunch("mv", ("height",)),))
    with pytest.raises(InvalidInputError, match="a version twice"):
        replace(FILE, versions=(version, version), tree=Leaf(1))


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
)
def test_nothing_else_comes_of_strange_fields(value: object) -> None:
    written = FILE.to_json()
    for name in written:
        try:
            TunedFile.from_json({**written, name: value})
        except InvalidInputError as error:
            assert "\n" not in str(error)
