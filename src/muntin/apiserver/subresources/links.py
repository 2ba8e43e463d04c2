"""Links in what a proxy passes back, made to lead through the proxy again; pure.

A page of a workload names its own paths (``/style.css``), which mean something else at the API
server: below the proxy's path they find their way back. Only the values of attributes that hold
addresses are changed, and of them those of the same host with an absolute path.
Source: apimachinery v1.34 pkg/util/proxy/transport.go.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from urllib.parse import urlunsplit

from muntin.kit import urls

_ATTRIBUTES: dict[str, frozenset[str]] = {
    tag: frozenset(names.split())
    for tag, names in {
        "a": "href",
        "applet": "codebase",
        "area": "href",
        "audio": "src",
        "base": "href",
        "blockquote": "cite",
        "body": "background",
        "button": "formaction",
        "command": "icon",
        "del": "cite",
        "embed": "src",
        "form": "action",
        "frame": "longdesc src",
        "head": "profile",
        "html": "manifest",
        "iframe": "longdesc src",
        "img": "longdesc src usemap",
        "input": "src usemap formaction",
        "ins": "cite",
        "link": "href",
        "object": "classid codebase data usemap",
        "q": "cite",
        "script": "src",
        "source": "src",
        "video": "poster src",
    }.items()
}
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'=<>`]+)""")


def rewritten(link: str, prefix: str, hosts: Iterable[str]) -> str:
    """``link`` below ``prefix``; as it is, if it is relative or leads to none of ``hosts``."""
    try:
        parts = urls.split(link)
    except ValueError:  # no address at all
        return link
    if (parts.netloc and parts.netloc not in hosts) or not parts.path.startswith("/"):
        return link
    path = parts.path if parts.path.startswith(prefix) else prefix.rstrip("/") + parts.path
    return urlunsplit(("", "", path, parts.query, parts.fragment))


def rewritten_page(page: str, prefix: str, hosts: Iterable[str]) -> str:
    """A page of HTML with its links below ``prefix``; all else is left as it was."""
    finder = _Finder(page)
    finder.feed(page)
    finder.close()
    pieces, done = [], 0
    for start, tag, text in finder.found:
        pieces += [page[done:start], _rewritten_tag(tag, text, prefix, hosts)]
        done = start + len(text)
    return "".join([*pieces, page[done:]])


def _rewritten_tag(tag: str, text: str, prefix: str, hosts: Iterable[str]) -> str:
    wanted = _ATTRIBUTES[tag]

    def one(match: re.Match[str]) -> str:
        name, equals, quoted = match.groups()
        if name.lower() not in wanted:
            return match[0]
        quote = quoted[0] if quoted[0] in "\"'" else ""
        value = html.unescape(quoted[1:-1] if quote else quoted)
        link = rewritten(value, prefix, hosts)
        if link == value:
            return match[0]
        return f'{name}{equals}"{html.escape(link)}"'

    return _ATTRIBUTE.sub(one, text)


class _Finder(HTMLParser):
    """Where the tags are that may hold links: offset, name and text of each."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[int, str, str]] = []
        self._lines = [0]
        for match in re.finditer("\n", page):
            self._lines.append(match.end())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        text = self.get_starttag_text()
        if tag in _ATTRIBUTES and attrs and text:
            line, column = self.getpos()
            self.found.append((self._lines[line - 1] + column, tag, text))
