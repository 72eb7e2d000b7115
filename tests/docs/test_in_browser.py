"""The pages in a browser, opened from the disk: search works, nothing is wider than a phone, nothing complains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import DESKTOP, PHONE
from tests.docs.pages import Site


@pytest.fixture
def quiet_page(browser: Browser) -> Iterator[Page]:
    """A page that asks nothing of other hosts, and writes nothing to the console."""
    context = browser.new_context(viewport=DESKTOP)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: complaints.append(asked.url) if asked.url.startswith("http") else None)
    yield page
    context.close()
    assert complaints == []


def test_search_finds_a_code(site: Site, quiet_page: Page) -> None:
    quiet_page.goto((site.folder / "index.html").as_uri())
    quiet_page.locator(".md-search__input").click()
    quiet_page.keyboard.type("irreducible")
    found = quiet_page.locator(".md-search-result__link[href*='codes.html']").first
    found.wait_for()
    assert "Codes" in found.inner_text()


def test_pages_are_no_wider_than_a_phone(site: Site, quiet_page: Page) -> None:
    quiet_page.set_viewport_size(PHONE)
    widths = {}
    for page in site.pages():
        quiet_page.goto(page.path.as_uri(), wait_until="domcontentloaded")
        widths[page.path.name] = quiet_page.evaluate("document.documentElement.scrollWidth")
    assert set(widths.values()) == {PHONE["width"]}, widths
