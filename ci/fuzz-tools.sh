# Sourced by fuzz.sh and soak.sh, in the root of the repository.

# What fuzz/ is built with, where it is missing.
if ! rustup toolchain list | grep -q '^nightly'; then
    rustup toolchain install nightly --profile minimal
fi
if ! cargo fuzz --version >/dev/null 2>&1; then
    cargo install cargo-fuzz --locked --version 0.13.2
fi

# build DIR [FLAG...]: builds every target into DIR, and prints the folder of the programs.
build() {
    cargo +nightly fuzz build --target-dir "$@" >&2
    echo "$1/$(rustc +nightly -vV | sed -n 's/^host: //p')/release"
}

# fuzz PROGRAM SECONDS CORPUS: begins with the corpus and the seeds, and puts what is new into the
# corpus. A crash, a hang or too much memory is a failure and leaves an artifact. In a subshell only.
fuzz() {
    local target=${1##*/}
    mkdir -p "$3" "fuzz/artifacts/$target"
    exec "$1" "$3" "fuzz/seeds/$target" -max_total_time="$2" -timeout=60 -rss_limit_mb=4096 \
        -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$target/"
}
