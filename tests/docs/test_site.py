"""The built site: nothing is missing, nothing is broken, nothing comes from another host."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from coarsen.cli.main import COMMANDS, load_command
from coarsen.opencl_bench import plots, shipped_results
from coarsen.opencl_bench.results import frames
from coarsen.opencl_bench.results.exchange import files
from tests.docs.conftest import ROOT
from tests.docs.pages import Page, Site, css_addresses
from tests.docs.pages import page as page_at
from tests.documented_codes import documented_codes

REFERENCE = {
    "coarsen": "coarsen",
    "coarsen.features": "features",
    "coarsen.models": "models",
    "coarsen.opencl_bench": "opencl_bench",
    "coarsen.opencl_bench.plots": "plots",
    "coarsen.stream": "stream",
}


def test_every_link_leads_somewhere(site: Site) -> None:
    found = [(page.path.name, link) for page in site.pages() for link in page.links if not leads(site, page, link)]
    assert found == []
    assert sum(len(page.links) for page in site.pages()) > 1000


def leads(site: Site, page: Page, link: str) -> bool:
    """Whether a link's file and its anchor are there; those to other hosts are not followed."""
    address = urlsplit(link)
    if address.scheme in ("http", "https"):
        return True
    target = (page.path.parent / unquote(address.path)).resolve() if address.path else page.path
    if not target.is_file() or not target.is_relative_to(site.folder):
        return False
    return not address.fragment or unquote(address.fragment) in {"__top", *page_at(target).ids}


def test_nothing_is_fetched_from_elsewhere(site: Site) -> None:
    fetched = [address for page in site.pages() for address in page.fetched]
    fetched += [address for sheet in site.style_sheets() for address in css_addresses(sheet.read_text())]
    assert len(fetched) > 50
    assert [address for address in fetched if re.match(r"(https?:)?//", address)] == []


@pytest.mark.parametrize("package", REFERENCE)
def test_every_public_name_is_explained(site: Site, package: str) -> None:
    page = site.page(f"reference/python/{REFERENCE[package]}.html")
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not page.ids & places_of(package, name)] == []


def places_of(package: str, name: str) -> set[str]:
    """The anchors that a name may have: as it is imported, and where it is defined."""
    found = getattr(importlib.import_module(package), name)
    return {f"{package}.{name}", f"{getattr(found, '__module__', package)}.{name}"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(site: Site, name: str) -> None:
    page = site.page("reference/command-line.html")
    parameters, anchor = load_command(name).params, f"coarsen-{name}"
    options = {option for parameter in parameters for option in parameter.opts if option.startswith("--")}
    shared = {"--verbose", "--quiet", "--debug", "--help-all"}
    assert anchor in page.ids
    assert {option for option in options - shared if anchor + option not in page.ids} == set()
    assert all(option in page.text for option in options)
    assert not re.search(r"coarsen [\w ]+ \[OPTIONS\] \{", page.text)


def test_every_code_is_explained(site: Site) -> None:
    page = site.page("reference/codes.html")
    for section in ("refusals", "region-reasons", "accumulator-reasons"):
        codes = documented_codes(section)
        assert {section, *codes} <= page.ids
        assert [code for code, meaning in codes.items() if f"{code} {meaning}" not in page.text] == []


def test_every_column_is_explained(site: Site) -> None:
    text = site.page("reference/results-format.html").text
    columns = {*frames.COLUMNS, *(column.name for column in files.COLUMNS)}
    assert {name for name in columns if not re.search(rf"\b{name}\b", text)} == set()


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_have_their_outputs(site: Site, path: Path) -> None:
    page = site.page(f"notebooks/{path.stem}.html")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    figures = [output for output in outputs if "image/png" in output.get("data", {})]
    printed = ["".join(output["text"]) for output in outputs if output["output_type"] == "stream"]
    assert len(list(page.path.parent.glob(f"{path.stem}-*.png"))) == len(figures)
    assert sum(address.startswith(f"{path.stem}-") for address in page.fetched) == len(figures)
    assert all(" ".join(text.split()) in page.text for text in printed)


def test_the_home_page_has_a_picture_of_what_was_measured(site: Site) -> None:
    home = site.page("index.html")
    assert any(address.endswith("images/gains.svg") for address in home.fetched)
    means = plots.geometric_means(plots.best_table(shipped_results("intel", "pocl", "h200").frame()))
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    # The page has a column for each device: on the H200, of OpenCL.
    row = " | ".join(f"{mean:.2f}" for mean in means.loc[~means["label"].str.contains("PTX"), "speedup"])
    assert f"| replication alone, along one dimension | {row} |" in text
