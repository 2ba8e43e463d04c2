"""The option of `make clients`; pytest knows it when this folder is named."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-clients", action="store_true", help="run every suite of a client, on every API"
    )
