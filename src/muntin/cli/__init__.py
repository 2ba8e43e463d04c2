"""The command line: flags, wiring, exit codes. Knows every component; nobody imports it."""
