#!/usr/bin/env bash
# usage: ci/mutants.sh [ARGUMENT OF cargo mutants]...
#
# Mutation testing: changes one thing at a time in the rules, the encodings, the lanes and the gather
# and scatter of packets, and reports the changes that no test notices in target/mutants/. Hours; with
# `--re src/profile.rs`, `--shard 1/8` or `--iterate` less. .cargo/mutants.toml says what is changed,
# docs/assurance.md what survived, and why.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo mutants --version >/dev/null 2>&1; then
    cargo install cargo-mutants --locked --version 27.1.0
fi

# 0: all were noticed; 2 or 3: some were not, or took too long.
failed=0
run() {
    local package=$1
    shift
    mkdir -p "target/mutants/$package"
    cargo mutants --package "$package" --output "target/mutants/$package" "$@" || failed=$?
}
run octosig "$@" -- --lib --test conformance --test adversary
run octosig-pipeline "$@" -- --lib --tests
exit "$failed"
