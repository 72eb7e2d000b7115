"""What MkDocs calls while it builds the pages: notebooks become pages, and marks become generated reference.

A page asks for generated text by a line of its own, `<!-- generated: commands -->` for example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from code_pages import exit_codes_in_markdown, refusals_in_markdown, region_reasons_in_markdown
from command_pages import commands_in_markdown
from feature_pages import features_in_markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from notebook_pages import notebook_page
from package_view import package_view
from python_pages import PACKAGES, package_in_markdown
from result_pages import example_in_markdown, file_columns_in_markdown, frame_columns_in_markdown

GENERATED: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "commands": commands_in_markdown,
        "refusals": refusals_in_markdown,
        "region reasons": region_reasons_in_markdown,
        "exit codes": exit_codes_in_markdown,
        "columns of data frames": frame_columns_in_markdown,
        "columns of files": file_columns_in_markdown,
        "features": features_in_markdown,
        "an example of T4": example_in_markdown,
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
