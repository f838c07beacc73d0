"""A Chromium, and windows of it that see what a page does wrong."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from crabmem.web.entrance import PATH
from tests.ui import NO_BROWSER
from tests.web.browsing import Site
from tests.web.conftest import person as person
from tests.web.conftest import site as site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def started() -> Iterator["Browser | None"]:
    """A browser that has a name of somebody else lead to this machine; None where there is none here."""
    file = os.environ.get("CRABMEM_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        file = None
    if file is None:
        yield None
        return
    rules = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.test 127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=file, args=rules)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """The browser."""
    with started() as browser:
        if browser is None:
            pytest.skip(NO_BROWSER)
        yield browser


class Watched:
    """What a window does that no page of ours does: a script that fails or is kept from running, a question, a request
    elsewhere."""

    def __init__(self, context: "BrowserContext", site: Site) -> None:
        self.wrong: list[str] = []
        self._own = (f"http://127.0.0.1:{site.port}/", "file:///")
        context.on("request", self._asked)
        context.on("weberror", lambda error: self.wrong.append(str(error.error)))
        context.on("dialog", self._asks)
        context.on("console", self._says)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(self._own):
            self.wrong.append(f"asked for {request.url}")

    def _asks(self, dialog: Any) -> None:
        if dialog.type != "beforeunload":
            self.wrong.append(f"a dialog: {dialog.message}")
        dialog.accept()

    def _says(self, message: Any) -> None:
        if message.type in ("error", "warning") and "status of 40" not in message.text:
            self.wrong.append(message.text)


def let_in(context: "BrowserContext", site: Site) -> None:
    """Give a window the cookie, as the terminal does."""
    tab = context.new_page()
    tab.goto(site.at(PATH + site.entrance.ticket()))
    tab.wait_for_selector("h1:has-text('Inbox')")
    tab.close()


@contextmanager
def window(chromium: "Browser", site: Site, **options: Any) -> Iterator["BrowserContext"]:
    """A window of a browser that was let in; anything wrong in it fails the test."""
    context = chromium.new_context(viewport=options.pop("viewport", {"width": 1200, "height": 800}), **options)
    let_in(context, site)
    watched = Watched(context, site)
    try:
        yield context
        assert watched.wrong == []
    finally:
        context.close()


@pytest.fixture
def tab(chromium: "Browser", site: Site) -> Iterator[Any]:
    """A tab in such a window, at the inbox."""
    with window(chromium, site) as context:
        page = context.new_page()
        page.goto(site.at("/"))
        yield page
