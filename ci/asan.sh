#!/usr/bin/env bash
# usage: ci/asan.sh
#
# The tests under AddressSanitizer and LeakSanitizer: memory out of bounds, after its end, or leaked.
# Everything in Rust is instrumented but the standard library and assembly; tests/kernels.rs reads
# what the assembly of src/field/fma/kernels.rs touches from its text.
set -euo pipefail
cd "$(dirname "$0")/.."

. ci/sanitizer-tools.sh
skip+=(
    # Measure memory, of which the sanitizer takes some for itself: red zones on the stack, freed
    # blocks that are kept back.
    a_call_needs_little_stack
    memory_does_not_grow_with_the_input
)
run_tests address
