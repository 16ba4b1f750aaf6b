#!/usr/bin/env bash
# The instructions that a signature takes, counted on the emulated CPU of ci/emulator/.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<EOF
usage: benches/instructions.sh [--check | --record | --peers] [ROW...]

Each ROW is COUNT:LENGTH, signatures in a call, each under a key of its own, and message bytes.
Without rows: those of benches/instructions/recorded.tsv.

  --check    fail if a row takes 3 % more than recorded.tsv says
  --record   write recorded.tsv
  --peers    count ed25519-dalek 2.2.0 as well, and ed25519-simd 0.1.0 and ed25519-dalek 3.0.0, which
             are built with AVX-512 flags

Prints name, signatures, message bytes and instructions for a signature: the median of 11 warm calls
without those of the timer's interrupts. An instruction is not time: a 512-bit one does more than a
scalar one. Needs root, apt and Debian 12 for the emulator.
EOF
}

mode='' rows=()
while [ $# -gt 0 ]; do
    case $1 in
        --check | --record | --peers) mode=${1#--} ;;
        -h | --help) usage && exit ;;
        -*) usage >&2 && exit 2 ;;
        *)
            if ! [[ $1 =~ ^[1-9][0-9]*:[0-9]+$ ]]; then
                usage >&2 && exit 2
            fi
            rows+=("$1")
            ;;
    esac
    shift
done
recorded=benches/instructions/recorded.tsv
if [ ${#rows[@]} -eq 0 ]; then
    while read -r _ count length _; do rows+=("$count:$length"); done <"$recorded"
fi
if [ ${#rows[@]} -eq 0 ]; then
    echo "$recorded has no rows" >&2
    exit 1
fi

target=x86_64-unknown-linux-gnu flags=-Ctarget-feature=+crt-static
# build FLAGS DIR BINARY [ARGUMENT...]
build() {
    RUSTFLAGS=$1 cargo build --quiet --locked --release --target "$target" --target-dir "$2" \
        --manifest-path benches/instructions/Cargo.toml --bin "$3" "${@:4}"
}
count() { ci/emulator/run.sh "$1/$target/release/$2" "${rows[@]}"; }

counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
build "$flags" target/instructions count_octosig
count target/instructions count_octosig | tee "$counts"
case $mode in
    record) sed 's/^[^\t]*\t/octosig\t/' "$counts" >"$recorded" ;;
    check)
        # name, count, length, instructions
        awk -F '\t' -v rows=${#rows[@]} '
            NR == FNR { bound[$2 ":" $3] = $4 * 1.03; next }
            !(($2 ":" $3) in bound) { print "no record of " $2 ":" $3; failed = 1; next }
            $4 > bound[$2 ":" $3] { print $2 ":" $3 " takes " $4 ", the bound is " bound[$2 ":" $3]; failed = 1 }
            $1 !~ /avx512/ { print "not counted on the AVX-512 backend"; failed = 1 }
            END { if (FNR != rows) { print FNR " rows of " rows " were counted"; failed = 1 } exit failed }' "$recorded" "$counts" >&2
        ;;
    peers)
        build "$flags" target/instructions count_dalek
        count target/instructions count_dalek
        build "$flags,+avx512f,+avx512bw,+avx512dq,+avx512ifma,+avx512vl" target/instructions-avx512 \
            count_avx512_peers --features avx512-peers
        count target/instructions-avx512 count_avx512_peers
        ;;
esac
