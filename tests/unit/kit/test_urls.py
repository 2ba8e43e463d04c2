"""URLs: one error for a broken host and for a broken port."""

import pytest

from muntin.kit import urls
from muntin.kit.errors import Invalid


@pytest.mark.parametrize(
    "text",
    ["http://[", "http://a]b/", "http://a:99999/", "http://a:²/", "http://a:-1/", "http://a:x/",
     "http://a:" + "9" * 5_000 + "/", "//[::1"],
)  # fmt: skip
def test_what_is_no_url_raises_one_error(text):
    with pytest.raises(Invalid) as caught:
        urls.split(text)
    assert len(caught.value.message) < 6_000


def test_parts_can_be_read():
    parts = urls.split("https://[::1]:6443/a?b=c")
    assert (parts.hostname, parts.port, parts.path, parts.query) == ("::1", 6443, "/a", "b=c")
    assert urls.split("/relative").port is None
