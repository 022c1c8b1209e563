"""Checks the built documents: no page loads anything from elsewhere, and its own links hold."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Collects what a page loads, where it leads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name"):
                self.anchors.add(value or "")
            elif name in ("src", "srcset", "data", "poster") or (tag, name) == ("link", "href"):
                self.loads.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.leads.append(value or "")


site = Path(sys.argv[1]).resolve()
pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
faults = []
for path, page in pages.items():
    where = path.relative_to(site)
    for link in [*page.loads, *page.leads]:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if link in page.loads and url.scheme != "data":
                faults.append(f"{where} loads {link}")
            continue
        # Only 404.html has links from the root of the server.
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if url.path.startswith("/"):
            target = site / unquote(url.path)[1:]
        if target.is_dir():
            target /= "index.html"
        if not target.exists():
            faults.append(f"{where} leads to {link}, which is not there")
        elif target in pages and unquote(url.fragment) not in pages[target].anchors:
            faults.append(f"{where} leads to {link}, and that anchor does not exist")
for style in site.rglob("*.css"):
    if "url(http" in (text := style.read_text(encoding="utf-8")) or "url(//" in text:
        faults.append(f"{style.relative_to(site)} loads from elsewhere")
print("\n".join(faults) or f"{len(pages)} pages")
sys.exit(bool(faults))
