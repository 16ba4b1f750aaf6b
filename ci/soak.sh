#!/usr/bin/env bash
# usage: ci/soak.sh [HOURS | --minutes N] [--slice SECONDS]
#
# Runs every fuzz target in turn, for SECONDS (default 600) each on all CPUs, until the time is over
# (default 1 hour). Goes on from fuzz/corpus, which grows. Each slice adds a line to
# docs/assurance-runs.csv, and the table of docs/assurance.md is written anew from all of them. A
# difference, crash or hang is recorded and does not stop the rest; the exit code is then 1.
#
# Optimised, without a sanitizer and without debug assertions: ci/fuzz.sh has those.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    sed -n '2s/^# //p' "$0" >&2
    exit 2
}

minutes=60 slice=600
while [ $# -gt 0 ]; do
    case $1 in
        --minutes) minutes=${2:-} && shift ;;
        --slice) slice=${2:-} && shift ;;
        *) [[ $1 =~ ^[0-9]+$ ]] && minutes=$((60 * $1)) || usage ;;
    esac
    shift || usage
done
[[ $minutes =~ ^[1-9][0-9]*$ && $slice =~ ^[1-9][0-9]*$ ]] || usage

. ci/fuzz-tools.sh
runs=docs/assurance-runs.csv
page=docs/assurance.md
header=date,commit,target,cpu,flags,processes,seconds,executions,compared,edges,features,corpus,differences,artifacts
commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain -- . ':!docs')" ] || commit+=-dirty
cpu=$(awk -F'\t*: ' '{ gsub(",", ""); of[$1] = $2 } /^$/ { exit }
    END { print of["model name"], "(family " of["cpu family"], "model " of["model"] ")" }' /proc/cpuinfo)
processes=$(nproc)
flags=(--release --sanitizer none)
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

[ -e "$runs" ] || echo "$header" >"$runs"
[ "$(head -n 1 "$runs")" = "$header" ] || { echo "$runs has other columns" >&2 && exit 2; }

# Copied, so that a build in the meantime does not change what is running.
programs=$(build fuzz/target/soak "${flags[@]}")
mapfile -t targets < <(cargo +nightly fuzz list)
cp "${targets[@]/#/$programs/}" "$scratch"

# The greatest number that follows a word in the lines of progress, over all processes.
greatest() { sed -n "s/.* $1: \([0-9]*\).*/\1/p" "$scratch"/log.* | sort -n | tail -n 1; }
# The sum of a final statistic over all processes.
sum() { awk -v name="stat::$1:" '$1 == name { sum += $2 } END { printf "%.0f", sum }' "$scratch"/log.*; }

# soak TARGET SECONDS: one slice, on all CPUs; fails on a difference.
soak() {
    local target=$1 begin=$SECONDS process pids=() failed=0 artifacts
    rm -f "$scratch"/log.*
    touch "$scratch/begin"
    for process in $(seq "$processes"); do
        fuzz "$scratch/$target" "$2" "fuzz/corpus/$target" >"$scratch/log.$process" 2>&1 &
        pids+=($!)
    done
    for process in "${pids[@]}"; do
        wait "$process" || failed=$((failed + 1))
    done
    mapfile -t artifacts < <(find "fuzz/artifacts/$target" -type f -newer "$scratch/begin" -printf '%f\n')
    printf '%s,%s,%s,%s,%s,%d,%d,%d,%d,%d,%d,%d,%d,%s\n' "$(date -u +%FT%RZ)" "$commit" "$target" \
        "$cpu" "${flags[*]}" "$processes" $((SECONDS - begin)) "$(sum number_of_executed_units)" \
        "$(sum results_compared)" "$(greatest cov)" "$(greatest ft)" \
        "$(find "fuzz/corpus/$target" -type f | wc -l)" \
        $((failed > 0 && ${#artifacts[@]} > 0 ? ${#artifacts[@]} : failed)) "${artifacts[*]}" >>"$runs"
    tail -n 1 "$runs"
    if [ "$failed" -gt 0 ]; then
        grep -hE -A 3 'panicked at|ERROR: libFuzzer' "$scratch"/log.* >&2 || true
        return 1
    fi
}

# The table of docs/assurance.md, between its two marks.
write_table() {
    awk -F, '
        function commas(n,    s) {
            s = sprintf("%.0f", n)
            while (s ~ /^[0-9]+[0-9][0-9][0-9](,|$)/) {
                match(s, /^[0-9]+/)
                s = substr(s, 1, RLENGTH - 3) "," substr(s, RLENGTH - 2)
            }
            return s
        }
        function row(name, edges) {
            printf "| %s | %.2f | %s | %s | %s | %s |\n", name, hours[name], commas(executions[name]),
                commas(compared[name]), edges, commas(differences[name])
        }
        function add(name) {
            hours[name] += $6 * $7 / 3600; executions[name] += $8; compared[name] += $9
            differences[name] += $13
        }
        # Field n of every line, without repetition.
        function note(n) {
            if (($n) in noted) return
            noted[$n]
            list[n] = list[n] (list[n] ? ", " : "") $n
        }
        NR == 1 { next }
        !($3 in hours) { targets[++count] = $3 }
        { note(2); note(4); note(5) }
        { add($3); add("all"); state[$3] = commas($10) " / " commas($11) " / " commas($12) }
        NR == 2 { first = $1 }
        END {
            print "| target | CPU hours | executions | results compared | edges / features / corpus | differences |"
            print "|---|---|---|---|---|---|"
            for (i = 1; i <= count; i++) row(targets[i], state[targets[i]])
            row("all", "")
            printf "\n- From %s to %s\n- CPU: %s\n- Flags of `cargo fuzz build`: `%s`\n- Commits: %s\n",
                first, $1, list[4], list[5], list[2]
        }' "$runs" >"$scratch/table"
    awk -v table="$scratch/table" '
        /^<!-- soak: end -->$/ { inside = 0 }
        !inside
        /^<!-- soak: begin/ { inside = 1; while ((getline line < table) > 0) print line }
    ' "$page" >"$scratch/page"
    cat "$scratch/page" >"$page"
}

failed=0 end=$((SECONDS + 60 * minutes))
while [ "$SECONDS" -lt "$end" ]; do
    for target in "${targets[@]}"; do
        left=$((end - SECONDS))
        [ "$left" -gt 0 ] || break
        soak "$target" $((left < slice ? left : slice)) || failed=1
        write_table
    done
done
exit "$failed"
