"""What MkDocs calls while it builds the pages: notebooks become pages, and marks become generated reference.

A page asks for generated text by a line of its own, `<!-- generated: commands -->` for example.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType, ModuleType
from typing import Any

from command_pages import commands_in_markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from notebook_pages import notebook_page
from result_pages import file_columns_in_markdown, frame_columns_in_markdown

from coarsen import errors
from coarsen.base.codes import REFUSALS, REGION_REASONS
from coarsen.features import FEATURES

# Tables of the codes of refusals and of reasons, of exit codes, of the features.


def codes_in_markdown(codes: Mapping[str, str]) -> str:
    """Stable codes, each with its meaning."""
    rows = (f'| <span id="{code}"></span>`{code}` | {meaning} |' for code, meaning in codes.items())
    return "\n".join(["| code | meaning |", "| --- | --- |", *rows])


def exit_codes_in_markdown() -> str:
    """The exit codes, each with its error class."""
    rows = "\n".join(_exit_codes())
    return f"| exit code | when | error in Python |\n| --- | --- | --- |\n{rows}"


def _exit_codes() -> Iterator[str]:
    yield "| 0 | done | |"
    for error in sorted(_error_classes(), key=lambda error: error.exit_code):
        meaning = (error.__doc__ or "").strip().split("\n")[0]
        yield f"| {error.exit_code} | {meaning} | [`{error.__name__}`][coarsen.errors.{error.__name__}] |"
    yield "| 130 | Interrupted (Ctrl-C). | `KeyboardInterrupt` |"


def _error_classes() -> Iterator[type[errors.CoarsenError]]:
    for each in vars(errors).values():
        if isinstance(each, type) and issubclass(each, errors.CoarsenError) and each is not errors.CoarsenError:
            yield each


def features_in_markdown() -> str:
    """The 17 features of the paper."""
    described = ((each, each.description.replace("|", "\\|")) for each in FEATURES)
    rows = (f"| `{each.name}` | {description} | {each.unit} |" for each, description in described)
    return "\n".join(["| feature | what it is | unit |", "| --- | --- | --- |", *rows])


# The reference of a package: what mkdocstrings is asked for so that it shows the public names and no others.

PACKAGES = (
    "coarsen",
    "coarsen.features",
    "coarsen.models",
    "coarsen.opencl_bench",
    "coarsen.opencl_bench.plots",
)
# As `::: coarsen.models` stands in a page, with the names that the package offers.
_PACKAGE = """\
::: {package}
    options:
      members: [{members}]
      show_root_heading: false
      show_root_toc_entry: false
      summary: {{attributes: true, classes: true, functions: true, modules: false}}
"""
# What is asked for by itself: a function with the name of a module, which is what the sources have under it, and a
# class of many fields, which a table of the page lists.
_APART = """\
::: {origin}.{name}
    options:
      show_signature: {has_signature}
"""
_WITHOUT_SIGNATURE = ("Features", "MechanismFeatures")


def package_in_markdown(package: str) -> str:
    """The names in `__all__` of a package, each with its signature and its docstring."""
    module = import_module(package)
    names = [name for name in module.__all__ if not name.startswith("_")]
    apart = [name for name in names if name in _WITHOUT_SIGNATURE or _is_shadowed(package, name)]
    # YAML reads a word in quotes as text, whatever it is.
    members = ", ".join(f'"{name}"' for name in names if name not in apart)
    requests = [_PACKAGE.format(package=package, members=members), *(_apart(module, name) for name in apart)]
    return "\n".join(requests)


def _is_shadowed(package: str, name: str) -> bool:
    return f"{package}.{name}" in sys.modules


def _apart(module: ModuleType, name: str) -> str:
    origin = getattr(module, name).__module__
    return _APART.format(origin=origin, name=name, has_signature=str(name not in _WITHOUT_SIGNATURE).lower())


# The package as one tree, as it is when it is installed: `features/` is `coarsen/features` there, and so on.
#
#     pyproject.toml: [tool.setuptools.package-dir] ─▶ temporary folder of symbolic links ─▶ where griffe looks
#
# What reads sources without importing them knows nothing of setuptools' mapping of folders to packages. With this
# view the reference of Python is made of the tree that it stands in, however the package is installed.


def package_view(root: Path) -> Path:
    """A folder with the packages of the repository at `root`; it vanishes with the process."""
    return Path(_linked(root).name)


@cache
def _linked(root: Path) -> TemporaryDirectory[str]:
    view = TemporaryDirectory(prefix="packages-")
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    folders: dict[str, str] = settings["tool"]["setuptools"]["package-dir"]
    # Shorter names first: a package's own folder is made before what is linked into it.
    for package, folder in sorted(folders.items()):
        place = Path(view.name, *package.split("."))
        if "." in package:
            place.symlink_to(root / folder)
        else:
            place.mkdir()
            for entry in (root / folder).iterdir():
                (place / entry.name).symlink_to(entry)
    return view


GENERATED: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "commands": commands_in_markdown,
        "refusals": partial(codes_in_markdown, REFUSALS),
        "region reasons": partial(codes_in_markdown, REGION_REASONS),
        "exit codes": exit_codes_in_markdown,
        "columns of data frames": frame_columns_in_markdown,
        "columns of files": file_columns_in_markdown,
        "features": features_in_markdown,
        **{f"public names of {package}": partial(package_in_markdown, package) for package in PACKAGES},
    }
)
_MARK = re.compile(r"^<!-- generated: (?P<what>.+) -->$", re.MULTILINE)


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Tell griffe, before mkdocstrings asks it, where the packages are."""
    handler: dict[str, Any] = config.plugins["mkdocstrings"].config["handlers"]["python"]
    handler["paths"] = [str(package_view(_root(config)))]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebooks: a page each, its figures, and the file to be downloaded."""
    for path in sorted((_root(config) / "notebooks").glob("*.ipynb")):
        page = notebook_page(path)
        files.append(File.generated(config, f"notebooks/{page.name}.md", content=page.markdown))
        files.append(File.generated(config, f"notebooks/{path.name}", content=path.read_bytes()))
        for name, figure in page.figures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=figure))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put generated text where a page asks for it."""
    return _MARK.sub(lambda mark: GENERATED[mark["what"]](), markdown)


def _root(config: MkDocsConfig) -> Path:
    """The repository's folder."""
    return Path(config.config_file_path).parent
