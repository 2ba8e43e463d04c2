#!/bin/bash
# gen.sh BIN: write everything that is generated from tables. `check.sh` compares.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.venv/bin}
for script in scripts/gen_*.py; do
    "$bin/python" "$script" >/dev/null
done
