"""Links of proxied pages and redirects. Source: apimachinery v1.34 pkg/util/proxy/transport.go."""

import pytest

from muntin.apiserver.subresources.links import rewritten, rewritten_page

PREFIX = "/api/v1/namespaces/n/pods/p/proxy"
HOSTS = ("10.244.1.7:80", "localhost:8001")


@pytest.mark.parametrize(
    ("link", "led"),
    [
        ("/style.css", f"{PREFIX}/style.css"),
        ("/", f"{PREFIX}/"),
        ("/a/?b=/c#d", f"{PREFIX}/a/?b=/c#d"),
        ("style.css", "style.css"),
        ("../up", "../up"),
        ("#here", "#here"),
        ("", ""),
        ("http://10.244.1.7:80/x", f"{PREFIX}/x"),
        ("http://localhost:8001/x", f"{PREFIX}/x"),
        ("//10.244.1.7:80/x", f"{PREFIX}/x"),
        ("https://example.com/x", "https://example.com/x"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        (f"{PREFIX}/x", f"{PREFIX}/x"),
        ("http://[", "http://["),
    ],
)
def test_a_link(link, led):
    assert rewritten(link, PREFIX, HOSTS) == led


def test_a_page_changes_in_its_links_alone():
    page = (
        "<!DOCTYPE html>\n<html><head><LINK rel=x HREF='/a.css'><!-- <a href=\"/no\"> -->\n"
        "<script src=/b.js>var x = \"<a href='/no'>\";</script></head>\n"
        '<body title="/no"><a class="/no" href="/c?d=1&amp;e=2">&lt;/x&gt;</a>\n'
        '<img src="https://example.com/no" longdesc="rel"/><form action="/f">é</form></body>'
    )
    led = rewritten_page(page, PREFIX, HOSTS)
    assert led == (
        page.replace("'/a.css'", f'"{PREFIX}/a.css"')
        .replace("src=/b.js", f'src="{PREFIX}/b.js"')
        .replace('"/c?', f'"{PREFIX}/c?')
        .replace('"/f"', f'"{PREFIX}/f"')
    )
    assert led.count(PREFIX) == 4


@pytest.mark.parametrize(
    "page", ["", "<", "<a href", "<a href='/x", "<!--", "<a <a href=/x>", "\x00"]
)
def test_what_is_no_page_does_no_harm(page):
    assert isinstance(rewritten_page(page, PREFIX, HOSTS), str)
