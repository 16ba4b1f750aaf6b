# Sourced by asan.sh and tsan.sh, in the root of the repository.

if ! rustup toolchain list | grep -q '^nightly'; then
    rustup toolchain install nightly --profile minimal
fi

# Too long for what they add: the same paths over more cases, and big integers that take most of the
# time; and what reads a build without the sanitizer. What else is left out is left out by the scripts.
skip=(
    corpora_in_every_lane
    corpora_at_every_count
    verdicts_are_those_of_big_integers
    compiled_code
)

# run_tests SANITIZER [FLAG...]: the tests of what is built from src/, pipeline/ and cli/, but for
# those in `skip`.
run_tests() {
    local host
    # To name a target keeps the flags away from build scripts and macros.
    host=$(rustc +nightly -vV | sed -n 's/^host: //p')
    RUSTFLAGS=-Zsanitizer=$1 cargo +nightly test --locked --target "$host" --target-dir "target/$1" \
        -p octosig -p octosig-pipeline -p octosig-cli --lib --bins --tests "${@:2}" \
        -- $(printf -- '--skip %s ' "${skip[@]}")
}
