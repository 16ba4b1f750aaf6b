#!/usr/bin/env bash
# usage: ci/tsan.sh
#
# The tests under ThreadSanitizer: data races. The standard library is built with it too, so that its
# locks and channels are understood; assembly is not instrumented, and works on its caller's own
# memory.
set -euo pipefail
cd "$(dirname "$0")/.."

. ci/sanitizer-tools.sh
rustup component add --toolchain nightly rust-src
skip+=(
    # Measure memory, of which the sanitizer takes some for itself.
    a_call_needs_little_stack
    memory_does_not_grow_with_the_input
)
run_tests thread -Zbuild-std
