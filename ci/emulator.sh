#!/usr/bin/env bash
# usage: ci/emulator.sh
#
# The AVX-512 backend on an emulated CPU, so on any machine: the self-test, the corpora in every lane and at
# every count to 33, packets beside solana-perf, instructions and hashes beside their models, and a bound on
# the instructions for a signature; and on CPUs without AVX-512 the choice of another backend. Runs the
# programs of `cargo test` as they are, two at a time.
# Needs root, apt and Debian 12 for the emulator, which is prepared on the first run.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo test --locked --workspace --no-run --message-format json >"$scratch/programs"

# program PACKAGE KIND NAME: the path of a test program, or of a program (KIND bin).
program() {
    perl -MJSON::PP -e '
        my ($package, $kind, $name, $file) = @ARGV;
        open my $messages, "<", $file or die "$file: $!\n";
        while (<$messages>) {
            my $message = decode_json($_);
            next unless $message->{reason} eq "compiler-artifact" && $message->{executable};
            next unless $message->{package_id} =~ m{/\Q$package\E#|[/#]\Q$package\E@};
            my $target = $message->{target};
            print("$message->{executable}\n"), exit
                if $target->{name} eq $name && $target->{kind}[0] eq $kind && ($kind eq "bin") != $message->{profile}{test};
        }
        die "no program $name of $package\n"' "$@" "$scratch/programs"
}

# emulate PROGRAM ARGUMENT...: with the libraries that it needs.
emulate() {
    local library files=
    while read -r library; do
        files+=" $(realpath "$library")=$library"
    done < <(ldd "$1" | grep -o '/[^ ]*')
    AVX512_EMU_FILES="$files ${extra_files:-}" ci/emulator/run.sh "$@"
}

corpora=$scratch/corpora.jsonl
avx512=$(program octosig test avx512)
OCTOSIG_CORPORA_FILE=$corpora "$avx512" --ignored write_corpora
unit=$(program octosig lib octosig)
packets=$(program octosig-pipeline test packets)
octosig=$(program octosig-cli bin octosig)

# chosen MODEL BACKEND: on this model of CPU, which lacks AVX-512, octosig chooses that backend, and fails
# where it is told to use AVX-512.
chosen() {
    local vectors output status=0
    vectors=$(realpath vectors/rfc8032-7.1.jsonl)
    export AVX512_EMU_MODEL=$1 extra_files=$vectors=/vectors
    output=$(emulate "$octosig" verify --backend avx512 /vectors 2>&1) || status=$?
    printf '%s: exit code %s, %s\n' "$1" "$status" "$output"
    [ "$status" = 2 ]
    grep -q 'backend avx512 is not available on this machine: it needs avx512f' <<<"$output"
    output=$(emulate "$octosig" verify /vectors)
    printf '%s\n' "$output"
    grep -q "^backend  *$2\$" <<<"$output"
}

{
    # First: that the emulated CPU has the instructions at all.
    extra_files=$corpora=/corpora.jsonl AVX512_EMU_ENV=OCTOSIG_CORPORA_FILE=/corpora.jsonl \
        emulate "$avx512" --include-ignored --skip write_corpora --test-threads 1
    echo "corpora: $SECONDS s"
} >"$scratch/corpora.log" 2>&1 &
first=$!
{
    benches/instructions.sh --check
    emulate "$unit" --exact --test-threads 1 \
        field::ifma::tests::the_cpu_equals_the_model_limb_for_limb \
        field::ifma::tests::tables_on_the_cpu_are_the_model_s \
        sha512::tests::cpu_equals_sha2
    vectors=$(realpath vectors/packets.jsonl.gz)
    extra_files="$vectors=$PWD/pipeline/../vectors/packets.jsonl.gz" \
        emulate "$packets" --ignored --exact vectors::stored_flags_in_one_split
    chosen corei7_haswell_4770 avx2
    chosen corei7_ivy_bridge_3770k portable
    echo "the rest: $SECONDS s"
} >"$scratch/others.log" 2>&1 &
second=$!

status=0
wait "$first" || status=$?
cat "$scratch/corpora.log"
wait "$second" || status=$?
cat "$scratch/others.log"
exit "$status"
