"""The suites take minutes and fetch packages: `make clients` runs them, not every check."""

collect_ignore = ["test_client_suites.py"]  # unless it is named itself
