#!/bin/bash
# bench.sh BIN: run the measurements, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.venv/bin}
for script in bench/up.py bench/memory.py bench/pods.py; do
    echo "== $script"
    "$bin/python" "$script"
done
