"""``python -m muntin``."""

from muntin.cli.main import main

main()
