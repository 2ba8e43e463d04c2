"""Options of `make clients` and `make programs`; pytest knows them when this folder is named."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-clients", action="store_true", help="run every suite of a client, on every API"
    )
    parser.addoption(
        "--programs-seconds", type=float, default=60, help="how long programs of others work"
    )
