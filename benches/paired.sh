#!/usr/bin/env bash
# The ratio of a peer's time to octosig's, taken in pairs of runs from separate binaries.
set -euo pipefail

usage() {
    cat <<EOF
usage: benches/paired.sh [options] [ROW...]

Each ROW is COUNT:LENGTH or COUNT:LENGTH:KEYS, signatures in a call, message bytes and distinct
keys in a call (COUNT, unless given). Without rows: all that the README states.

  --backend NAME   octosig's backend: auto (default), portable, avx2
  --profile NAME   octosig's profile: dalek-strict (default), stdlib-compat, zip215, simd0376
  --peer NAME      dalek (default): ed25519-dalek's verify_strict; zebra: ed25519-zebra's verify
  --serial         build the peer with the serial backend, the counterpart of portable
  --pairs N        pairs of runs for a row (default 9)
  --seconds S      time for a run (default 0.5)
  --cpu N          pin to this CPU (default: the last one allowed)

Prints microseconds of CPU time for a signature (median over runs of the median over rounds), and
the median, least and greatest ratio over the pairs. Above 1, octosig is faster.
EOF
}

backend=auto profile=dalek-strict peer=dalek serial='' pairs=9 seconds=0.5 cpu='' rows=()
while [ $# -gt 0 ]; do
    case $1 in
        --backend) backend=${2:?a value is missing} && shift ;;
        --profile) profile=${2:?a value is missing} && shift ;;
        --peer)
            peer=${2:?a value is missing} && shift
            if ! [[ $peer =~ ^(dalek|zebra)$ ]]; then
                usage >&2 && exit 2
            fi
            ;;
        --serial) serial='--cfg curve25519_dalek_backend="serial"' ;;
        --pairs) pairs=${2:?a value is missing} && shift ;;
        --seconds) seconds=${2:?a value is missing} && shift ;;
        --cpu) cpu=${2:?a value is missing} && shift ;;
        -h | --help) usage && exit ;;
        -*) usage >&2 && exit 2 ;;
        *)
            if ! [[ $1 =~ ^[1-9][0-9]*:[0-9]+(:[1-9][0-9]*)?$ ]]; then
                usage >&2 && exit 2
            fi
            rows+=("$1")
            ;;
    esac
    shift
done
if [ ${#rows[@]} -eq 0 ]; then
    rows=({1,2,3,4,5,6,7,8,64,1024}:200 {8,64,1024}:1232 64:200:8)
fi

root=$(cd "$(dirname "$0")/.." && pwd)
export RUSTFLAGS="${RUSTFLAGS:+$RUSTFLAGS }$serial"
target=$root/target/paired${serial:+-serial}
cargo build --quiet --release --target-dir "$target" \
    --manifest-path "$root/benches/paired/Cargo.toml"
bin=$target/release

pin=()
if command -v taskset >/dev/null; then
    : "${cpu:=$(taskset -cp $$ | grep -oE '[0-9]+$')}"
    pin=(taskset -c "$cpu")
fi

echo "CPU      $(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null || uname -m)${cpu:+, pinned to $cpu}"
echo "rustc    $(rustc --version)"
echo "flags    release profile, RUSTFLAGS=${RUSTFLAGS:-(none)}"
echo "commit   $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
echo "backend  $backend, profile $profile; $pairs pairs of ${seconds} s"
echo
echo "count  bytes   keys  octosig µs  $peer µs   ratio     min..max"

inputs=$(mktemp)
trap 'rm -f "$inputs"' EXIT

# Median time of one run: run PROGRAM LENGTH COUNT [BACKEND PROFILE].
run() {
    "${pin[@]}" "$bin/$1" "$inputs" "$2" "$3" "$seconds" "${@:4}" |
        sed -E 's/.*"median_ns":([0-9]+).*/\1/'
}

for row in "${rows[@]}"; do
    IFS=: read -r count len keys <<<"$row"
    : "${keys:=$count}"
    # About a thousand signatures, in whole calls, so that the short calls do not repeat one input;
    # and the keys of one call are not those of the next unless so few are asked for.
    calls=$(((1024 + count - 1) / count))
    "$bin/inputs" $((calls * count)) "$len" $((keys == count ? calls * count : keys)) >"$inputs"
    for _ in $(seq "$pairs"); do
        ours=$(run time_octosig "$len" "$count" "$backend" "$profile")
        theirs=$(run "time_$peer" "$len" "$count")
        echo "$ours $theirs"
    done | awk -v pairs="$pairs" -v count="$count" -v len="$len" -v keys="$keys" '
        function median(values, n,    i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
                    t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
                }
            return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        }
        { ours[NR] = $1; theirs[NR] = $2; ratio[NR] = $2 / $1 }
        END {
            if (NR < pairs) exit # a run failed and has said why
            middle = median(ratio, NR) # sorts
            printf "%5d  %5d  %5d  %10.2f  %8.2f  %6.2f  %5.2f..%.2f\n", count, len, keys,
                median(ours, NR) / 1000, median(theirs, NR) / 1000, middle, ratio[1], ratio[NR]
        }'
done
