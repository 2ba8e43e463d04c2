"""Quantities, by the grammar and canonical form of apimachinery pkg/api/resource/quantity.go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.errors import Invalid
from muntin.model import quantity

# Pairs from the documentation of Quantity and "Resource units in Kubernetes".
CANONICAL = [
    ("1.5", "1500m"),
    ("1.5Gi", "1536Mi"),
    ("1000m", "1"),
    ("0.5", "500m"),
    (".5", "500m"),
    ("5.", "5"),
    ("1024Ki", "1Mi"),
    ("512", "512"),
    ("0.1Ki", "102400m"),
    ("100Mi", "100Mi"),
    ("1000000k", "1G"),
    ("1e3", "1e3"),
    ("12e6", "12e6"),
    ("12E6", "12e6"),
    ("128974848", "128974848"),
    ("129e6", "129e6"),
    ("129M", "129M"),
    ("123Mi", "123Mi"),
    ("0", "0"),
    ("-1500m", "-1500m"),
    ("0.0000000001", "1n"),
    ("+3", "3"),
]


@pytest.mark.parametrize(("text", "canonical"), CANONICAL)
def test_canonical_form(text: str, canonical: str) -> None:
    assert quantity.canonical(text) == canonical


@pytest.mark.parametrize("text", ["", "a", "1 Gi", "--1", "1x", "1ee3", "1kk", "Ki", "0x1"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="quantit"):
        quantity.parse(text)


def test_numbers_are_quantities_too() -> None:
    assert quantity.canonical(2) == "2"
    assert quantity.canonical(0.25) == "250m"


def test_units_round_up() -> None:
    assert quantity.value("1001m") == 2
    assert quantity.milli("100u") == 1
    assert quantity.value("1Ki") == 1024


def test_sums_keep_the_format_of_the_first() -> None:
    assert quantity.add("1Gi", "512Mi") == "1536Mi"
    assert quantity.add("0", "1Gi") == "1Gi"
    assert quantity.subtract("1", "250m") == "750m"
    assert quantity.compare("1Gi", "1G") == 1
    assert quantity.compare("1000m", "1") == 0


amounts = st.integers(min_value=-(10**12), max_value=10**12)
suffixes = st.sampled_from(["", "m", "k", "M", "Ki", "Mi", "e2", "e-2"])


@given(amounts, suffixes)
def test_canonical_text_means_the_same_and_is_stable(amount: int, suffix: str) -> None:
    text = f"{amount}{suffix}"
    canonical = quantity.canonical(text)
    assert quantity.parse(canonical).nano == quantity.parse(text).nano
    assert quantity.canonical(canonical) == canonical


@given(amounts, amounts)
def test_order_is_that_of_the_numbers(left: int, right: int) -> None:
    expected = (left > right) - (left < right)
    assert quantity.compare(f"{left}m", f"{right}m") == expected
