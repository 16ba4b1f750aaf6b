#!/usr/bin/env bash
# The ratio of a peer's time to octosig's, taken in pairs of runs from separate binaries.
set -euo pipefail

usage() {
    cat <<EOF
usage: benches/paired.sh [options] [ROW...]

Each ROW is COUNT:LENGTH or COUNT:LENGTH:KEYS, signatures in a call, message bytes and distinct
keys in a call (COUNT, unless given). Without rows: those of the README's table.

  --backend NAME   octosig's backend: auto (default), portable, avx2, avx512
  --profile NAME   octosig's profile: dalek-strict (default), stdlib-compat, zip215, simd0376
  --whole          scalars of whole size only, where octosig takes half-size ones
  --peer NAME      dalek (default): ed25519-dalek's verify_strict; zebra: ed25519-zebra's verify;
                   simd: ed25519-simd's verify_batch, built with AVX-512 flags. May be repeated
  --serial         build the peer with the serial backend, the counterpart of portable
  --native         time the peer built with -C target-cpu=native as well; octosig stays as it is
  --pairs N        pairs of runs for a row (default 9)
  --seconds S      time for a run (default 0.5)
  --cpu N          pin to this CPU (default: the last one allowed)
  --all-cpus       run on every allowed CPU at the same time; times are the mean over CPUs
  --binaries DIR   take the programs from this folder; build them into it if it has none
  --markdown       print tables in Markdown, as the README has them

Prints microseconds of CPU time for a signature (median over runs of the median over rounds); the
median, least and greatest ratio over the pairs; and the ratio of the least times, which compares
the fastest round of all runs of each binary. Above 1, octosig is faster. With --native, one run of
octosig makes a pair with a run of either build of the peer.
EOF
}

backend=auto profile=dalek-strict scalars=half-size names=() serial='' native='' pairs=9 seconds=0.5 cpu=''
all_cpus='' binaries='' markdown='' rows=()
while [ $# -gt 0 ]; do
    case $1 in
        --backend) backend=${2:?a value is missing} && shift ;;
        --whole) scalars=whole ;;
        --profile) profile=${2:?a value is missing} && shift ;;
        --peer)
            if ! [[ ${2:?a value is missing} =~ ^(dalek|zebra|simd)$ ]]; then
                usage >&2 && exit 2
            fi
            names+=("$2") && shift
            ;;
        --serial) serial='--cfg curve25519_dalek_backend="serial"' ;;
        --native) native='-C target-cpu=native' ;;
        --pairs) pairs=${2:?a value is missing} && shift ;;
        --seconds) seconds=${2:?a value is missing} && shift ;;
        --cpu) cpu=${2:?a value is missing} && shift ;;
        --all-cpus) all_cpus=1 ;;
        --binaries) binaries=${2:?a value is missing} && shift ;;
        --markdown) markdown=1 ;;
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
if [ ${#names[@]} -eq 0 ]; then
    names=(dalek)
fi
if [ ${#rows[@]} -eq 0 ]; then
    rows=({1,2,3,4,5,6,7,8,64,1024}:200 {1,2,3,4,8,64,1024}:1232 64:200:8)
fi

root=$(cd "$(dirname "$0")/.." && pwd)
stock=${RUSTFLAGS:-}
# Named, so that the flags do not reach procedural macros.
host=$(rustc -vV 2>/dev/null | sed -n 's/^host: //p' || true)

# build FOLDER FLAGS PROGRAM...: prints where the programs are.
build() {
    local folder=$root/target/$1 flags=$2 program features=()
    shift 2
    for program in "$@"; do
        if [ -n "$binaries" ] && [ -x "$binaries/$program" ]; then
            continue
        fi
        if [ "$program" = time_simd ]; then
            features=(--features simd)
        fi
        RUSTFLAGS=$flags cargo build --quiet --release --target "$host" --target-dir "$folder" \
            --manifest-path "$root/benches/paired/Cargo.toml" --bin "$program" "${features[@]}"
        if [ -n "$binaries" ]; then
            mkdir -p "$binaries"
            cp "$folder/$host/release/$program" "$binaries"
        fi
    done
    echo "${binaries:-$folder/$host/release}"
}

# Builds of the peers: what they are called, their flags and programs.
peers=() peer_flags=() peer_programs=()
# add_peer NAME FOLDER FLAGS PROGRAM
add_peer() {
    peers+=("$1")
    peer_flags+=("$3")
    peer_programs+=("$(build "$2" "$3" "$4")/$4")
}

bin=$(build paired "$stock" inputs time_octosig)
for name in "${names[@]}"; do
    folder=paired${serial:+-serial} flags=$stock${serial:+ $serial}
    if [ "$name" = simd ]; then
        folder=paired-simd
        flags+=' -C target-feature=+avx512f,+avx512bw,+avx512dq,+avx512ifma,+avx512vl'
    fi
    add_peer "ed25519-$name" "$folder" "$flags" "time_$name"
    if [ -n "$native" ]; then
        add_peer "ed25519-$name native" "$folder-native" "$flags $native" "time_$name"
    fi
done

cpus=('') where='not pinned'
if command -v taskset >/dev/null; then
    # 0-3,8 as 0 1 2 3 8
    mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F - '{ for (i = $1; i <= $NF; i++) print i }')
    if [ -z "$all_cpus" ]; then
        cpus=("${cpu:-${cpus[-1]}}")
    fi
    where="pinned to ${cpus[*]}"
fi

# Family and model as well: a virtual machine may leave the name short.
cpu_name() {
    awk -F '\t*: ' '
        !($1 in value) { value[$1] = $2 }
        END {
            if (!("model name" in value)) exit 1
            printf "%s", value["model name"]
            if ("cpu family" in value)
                printf ", family %s, model %s", value["cpu family"], value["model"]
        }' /proc/cpuinfo 2>/dev/null || uname -m
}

# build_of FLAGS
build_of() {
    local flags=${1# } cpu=''
    if [[ $flags == *target-cpu=native* ]]; then
        cpu=$(rustc --print target-cpus | sed -nE 's/^ *native .*\(currently (.*)\).*/ (\1)/p')
    fi
    echo "release profile, RUSTFLAGS=${flags:-(none)}$cpu"
}

# fact NAME VALUE
fact() {
    if [ -n "$markdown" ]; then
        echo "| $1 | $2 |"
    else
        printf '%-20s  %s\n' "$1" "$2"
    fi
}

if [ -n "$markdown" ]; then
    echo '| | |'
    echo '|---|---|'
fi
fact CPU "$(cpu_name), $where"
fact date "$(date +%F)"
fact commit "$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
fact rustc "$(rustc --version 2>/dev/null || echo unknown)"
fact octosig "$(build_of "$stock"); $backend backend, $profile profile, $scalars scalars"
for i in "${!peers[@]}"; do
    fact "${peers[i]}" "$(build_of "${peer_flags[i]}")"
done
fact method "separate binaries in turn, CPU time of one thread${all_cpus:+ on each CPU}, $pairs pairs of runs of $seconds s"
echo

if [ -n "$markdown" ]; then
    header='| signatures in a call | message bytes | keys | octosig, µs |'
    rule='|---|---|---|---|'
    for name in "${peers[@]}"; do
        header+=" $name, µs | ratio (least … greatest) | of least times |"
        rule+='---|---|---|'
    done
    printf '%s\n' "$header" "$rule"
else
    header='count  bytes   keys  octosig µs'
    for name in "${peers[@]}"; do
        header+=$(printf '  %20s µs   ratio     min..max    least' "$name")
    done
    echo "$header"
fi

inputs=$(mktemp)
trap 'rm -f "$inputs"' EXIT

# Median and least time of one run, the mean over CPUs: run PROGRAM LENGTH COUNT [BACKEND PROFILE SCALARS].
run() {
    local cpu
    for cpu in "${cpus[@]}"; do
        ${cpu:+taskset -c "$cpu"} "$1" "$inputs" "$2" "$3" "$seconds" "${@:4}" &
    done | sed -E 's/.*"min_ns":([0-9]+),"median_ns":([0-9]+).*/\2 \1/' |
        awk -v cpus="${#cpus[@]}" '{ median += $1; least += $2 } END { if (NR != cpus) exit 1; print median / NR, least / NR }'
}

for row in "${rows[@]}"; do
    IFS=: read -r count len keys <<<"$row"
    : "${keys:=$count}"
    # About a thousand signatures, in whole calls, so that the short calls do not repeat one input;
    # and the keys of one call are not those of the next unless so few are asked for.
    calls=$(((1024 + count - 1) / count))
    "$bin/inputs" $((calls * count)) "$len" $((keys == count ? calls * count : keys)) >"$inputs"
    for _ in $(seq "$pairs"); do
        times=$(run "$bin/time_octosig" "$len" "$count" "$backend" "$profile" "$scalars")
        for program in "${peer_programs[@]}"; do
            times+=" $(run "$program" "$len" "$count")"
        done
        echo "$times"
    done | awk -v pairs="$pairs" -v count="$count" -v len="$len" -v keys="$keys" \
        -v markdown="$markdown" '
        function median(values, n,    i, j, t) {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
                    t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
                }
            return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
        }
        # Median and least time of each binary, octosig first.
        {
            binaries = NF / 2
            for (i = 1; i <= binaries; i++) {
                time[i, NR] = $(2 * i - 1)
                if (NR == 1 || $(2 * i) < least[i]) least[i] = $(2 * i)
            }
        }
        END {
            if (NR < pairs) exit # a run failed and has said why
            if (markdown) {
                row = "| %d | %d | %d |"
                ours = " %.2f |"
                theirs = " %.2f | %.2f (%.2f … %.2f) | %.2f |"
            } else {
                row = "%5d  %5d  %5d"
                ours = "  %10.2f"
                theirs = "  %23.2f  %6.2f  %5.2f..%-5.2f  %6.2f"
            }
            printf row, count, len, keys
            for (i = 1; i <= binaries; i++) {
                for (j = 1; j <= NR; j++) {
                    times[j] = time[i, j]
                    ratios[j] = time[i, j] / time[1, j]
                }
                middle = median(ratios, NR) # sorts
                if (i == 1)
                    printf ours, median(times, NR) / 1000
                else
                    printf theirs, median(times, NR) / 1000, middle, ratios[1], ratios[NR],
                        least[i] / least[1]
            }
            print ""
        }'
done
