#!/usr/bin/env bash
# Fuzzes with libFuzzer, one target after another, and keeps what breaks a promise. See --help.
set -euo pipefail

usage() {
    cat <<END
Usage: tests/fuzz/run.sh [--merge] [SECONDS] [TARGET...]
  SECONDS   for each target (60)
  TARGET    of those that have a folder in tests/fuzz/corpus (all)
  --merge   afterwards, keep in tests/fuzz/corpus/TARGET only the smallest inputs that reach all that was reached

What is found grows in build/fuzz/corpus/TARGET. An input that breaks a promise lies in build/fuzz/broken/TARGET: mend the
fault, and keep the input under a name that tells it in tests/fuzz/corpus/TARGET, where every run replays it.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
seconds=60 merge='' targets=()
for argument; do
    case $argument in
        --help | -h) usage && exit ;;
        --merge) merge=1 ;;
        *[!0-9]*) targets+=("$argument") ;;
        *) seconds=$argument ;;
    esac
done
((${#targets[@]})) || mapfile -t targets < <(ls tests/fuzz/corpus)
for target in "${targets[@]}"; do
    [[ -d tests/fuzz/corpus/$target ]] || { echo "no such target: $target; there are $(ls tests/fuzz/corpus | xargs)" >&2; exit 64; }
done

# shellcheck source-path=SCRIPTDIR source=../../.ci/packages.sh
source .ci/packages.sh
need "${packages_to_build[@]}" "${packages_to_fuzz[@]}"
mkdir -p build/fuzz
{ cmake --preset fuzz && cmake --build --preset fuzz; } >build/fuzz/build.log 2>&1 || { tail -n 40 build/fuzz/build.log; exit 1; }

# Inputs have names of their own in the kept corpus; only those that bear a digest are libFuzzer's to replace.
merge_corpus() {
    local kept=tests/fuzz/corpus/$1 all=build/fuzz/corpus/$1
    find "$kept" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -exec mv -t "$all" {} +
    "build/fuzz/tests/fuzz/fuzz_$1" -merge=1 -max_len=2048 "$kept" "$all" >"build/fuzz/$1-merge.log" 2>&1
}

broken=()
for target in "${targets[@]}"; do
    mkdir -p "build/fuzz/corpus/$target" "build/fuzz/broken/$target"
    log=build/fuzz/$target.log
    printf '%-14s ' "$target"
    "build/fuzz/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=2048 -timeout=20 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/broken/$target/" "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1 || broken+=("$target")
    awk '/^#[0-9]+.*cov:/ { cov = $0 } /stat::number_of_executed_units/ { runs = $2 }
        END { sub(/.*cov: /, "", cov); split(cov, word, " "); printf "%10d executions, %5d edges, %s inputs\n", runs, word[1], word[5] }' "$log"
    [[ -z $merge ]] || merge_corpus "$target"
done
for target in "${broken[@]}"; do
    printf '\n%s broke a promise:\n' "$target"
    grep -E -m 12 "what\(\)|ERROR: |runtime error:|Test unit written|^ +#[0-9]+ .*next_id" "build/fuzz/$target.log" || tail -n 20 "build/fuzz/$target.log"
done
((${#broken[@]} == 0))
