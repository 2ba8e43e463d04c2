#!/bin/bash
# bench.sh BIN: run the measurements, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.venv/bin}
for script in bench/*.py; do
    echo "== $script"
    "$bin/python" "$script"
done
