#!/bin/bash
# check.sh BIN: all that CI runs. Ends with pytest's own closing line.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.venv/bin}

echo "== format, rules, types, import contracts"
"$bin/ruff" format --check --quiet .
"$bin/ruff" check --quiet .
"$bin/mypy"
"$bin/lint-imports" | tail -n 3

echo "== generated files are what their tables say"
before=$(git status --porcelain=v1 2>/dev/null; git diff 2>/dev/null | sha256sum)
scripts/gen.sh "$bin"
after=$(git status --porcelain=v1 2>/dev/null; git diff 2>/dev/null | sha256sum)
if [ "$before" != "$after" ]; then
    echo "generated files differ from their tables: run 'make gen' and commit the result" >&2
    git status --short >&2
    exit 1
fi

echo "== tests"
exec "$bin/pytest" -q
