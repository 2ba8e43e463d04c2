"""What stands in a Warning header, and what does not."""

import pytest

from muntin.apiserver.warning_header import warning_header


@pytest.mark.parametrize(
    ("texts", "header"),
    [
        ([], ""),
        (["", "two\nlines", "a\x7fb"], ""),
        (["mind the gap", "mind the gap"], '299 - "mind the gap"'),
        (['say "hello"', "back\\slash"], '299 - "say \\"hello\\"", 299 - "back\\\\slash"'),
        (["evil\r\nSet-Cookie: a=b", "good"], '299 - "good"'),
        (["x" * 5000], f'299 - "{"x" * 256}"'),
    ],
)
def test_a_header_is_one_line_that_can_be_read(texts, header):
    assert warning_header(texts) == header


def test_many_warnings_are_cut_and_then_left_out():
    header = warning_header(f"{number:03} {'x' * 300}" for number in range(100))
    assert header.count("299 - ") == 16
    assert len(header) < 5000
