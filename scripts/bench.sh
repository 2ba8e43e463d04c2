#!/bin/bash
# bench.sh BIN [PART...]: measure, and write the tables of docs/benchmarks.md.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.venv/bin}
exec "$bin/python" bench/run.py "${@:2}"
