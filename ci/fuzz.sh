#!/usr/bin/env bash
# usage: ci/fuzz.sh [SECONDS]
#
# Builds every fuzz target with AddressSanitizer, debug assertions and overflow checks, and runs each
# from its seeds for SECONDS (default 20). Fails if one finds anything.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
if [ $# -gt 1 ] || ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: ci/fuzz.sh [SECONDS]" >&2
    exit 2
fi

. ci/fuzz-tools.sh
programs=$(build fuzz/target)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for target in $(cargo +nightly fuzz list); do
    if ! (fuzz "$programs/$target" "$seconds" "$scratch/$target") >"$scratch/log" 2>&1; then
        cat "$scratch/log"
        echo "$target: failed; the input is in fuzz/artifacts/$target" >&2
        exit 1
    fi
    echo "$target: $(grep -E '^#[0-9]+\s+DONE' "$scratch/log")"
done
