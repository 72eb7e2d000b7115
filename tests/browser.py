"""Chromium for tests: the system's own, driven without a window.

Tests that take `browser` or `open_page` exist only where there is one, as those of devices do. Where the
environment variable `COARSEN_REQUIRED_BROWSER` is set, they exist anyway, and fail without one: none is skipped.
A test folder gets the fixtures and the rule by importing them in its `conftest.py`:

    from tests.browser import browser, open_page, pytest_collection_modifyitems
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

REQUIRED_VARIABLE = "COARSEN_REQUIRED_BROWSER"
DESKTOP, PHONE = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FIXTURES = {"browser", "open_page"}


def find_browser() -> str | None:
    """The path of a Chromium of this machine."""
    return next((path for path in map(shutil.which, _NAMES) if path), None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that need a browser where there is none and none is required."""
    if find_browser() or os.environ.get(REQUIRED_VARIABLE):
        return
    dropped = [item for item in items if _FIXTURES & set(getattr(item, "fixturenames", ()))]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A running browser; fails where there is none.

    No longer than for a module: while Playwright runs, its thread counts as one with a running event loop, in
    which neither the browser of another folder nor anything else that needs a loop can be started.
    """
    path = find_browser()
    if path is None:
        pytest.fail(f"{REQUIRED_VARIABLE} is set, and there is no {' nor '.join(_NAMES)}")
    with sync_playwright() as playwright:
        # Without a sandbox it also runs as root, in a container; it only opens files that the tests wrote.
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@dataclass
class Opened:
    """A page that is open, and what it complained about or asked for beside its own file."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """`open_page(path, viewport, fragment="", scripts=True)` opens a file that has to stay quiet in the test."""
    opened: list[Opened] = []

    def open_file(path: Path, viewport: ViewportSize, fragment: str = "", scripts: bool = True) -> Opened:
        context = browser.new_context(viewport=viewport, java_script_enabled=scripts)
        page = context.new_page()
        found = Opened(page)
        opened.append(found)
        page.on("console", lambda message: found.complaints.append(message.text))
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.on("request", lambda request: found.requests.append(request.url))
        page.goto(path.as_uri() + fragment)
        return found

    yield open_file
    for each in opened:
        own = each.page.url.partition("#")[0]
        each.page.context.close()
        assert each.complaints == []
        assert {url.partition("#")[0] for url in each.requests} <= {own}
