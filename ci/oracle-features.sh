#!/usr/bin/env bash
# Fails if ed25519-dalek's or curve25519-dalek's feature legacy_compatibility is on in a workspace
# whose graph tests/graph.rs does not ask for.
set -euo pipefail
cd "$(dirname "$0")/.."

for manifest in benches/paired/Cargo.toml benches/instructions/Cargo.toml fuzz/Cargo.toml; do
    packages=$(cargo tree --locked --manifest-path "$manifest" --all-features --prefix none --format '{p} {f}')
    if ! grep '^ed25519-dalek v' <<<"$packages"; then
        echo "$manifest: no ed25519-dalek in its graph" >&2
        exit 1
    fi
    if grep legacy_compatibility <<<"$packages"; then
        echo "$manifest: legacy_compatibility is on" >&2
        exit 1
    fi
done
