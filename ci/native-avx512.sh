#!/usr/bin/env bash
# usage: ci/native-avx512.sh [DIR]
#
# On a machine with AVX-512 IFMA: the self-test, the corpora, and the ratio to ed25519-dalek and ed25519-simd
# on one CPU and on all of them. Took eight minutes on two CPUs, builds included. Programs are taken from DIR
# where they are there, or built into it (default target/native-avx512), linked statically: the folder can be
# carried to a machine without Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=${1:-target/native-avx512}
mkdir -p "$programs"
export RUSTFLAGS='-C target-feature=+crt-static'
target=x86_64-unknown-linux-gnu

if [ ! -x "$programs/octosig" ]; then
    cargo build --locked --release --target "$target" -p octosig-cli
    cp "target/$target/release/octosig" "$programs"
fi
if [ ! -x "$programs/avx512" ]; then
    cargo test --locked --no-run --target "$target" --test avx512 --message-format json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | xargs -I{} cp {} "$programs/avx512"
fi

printf '\n== self-test\n'
"$programs/octosig" doctor
printf '\n== corpora\n'
"$programs/avx512" --include-ignored --skip write_corpora
for where in '' --all-cpus; do
    printf '\n== ratios %s\n' "$where"
    benches/paired.sh --backend avx512 --peer dalek --peer simd --pairs 3 --seconds 0.2 --markdown --binaries "$programs" \
        $where {1,2,4,8,64,1024}:200 {1,2,4,8,64,1024}:1232
done
