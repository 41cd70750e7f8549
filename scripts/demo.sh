#!/usr/bin/env bash
# Oracle, noop and a scripted ReAct on one task of each category, then the tables.
set -euo pipefail
bin=$1 storage=$2
shift 2
options=()
for task in "$@"; do options+=(--task "$task"); done
"$bin/mldevbench" run --name demo --storage "$storage" --agent oracle --agent noop "${options[@]}"
"$bin/mldevbench" run --name demo --storage "$storage" --agent react --model scripted/studies/demo/scripted.yaml --task hello_world
"$bin/mldevbench" report demo --storage "$storage" --format md --html "$storage/demo/report.html" > "$storage/demo/report.md"
echo "page: $storage/demo/report.html; tables: $storage/demo/report.md; Parquet: $storage/demo/runs/"
