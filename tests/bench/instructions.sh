#!/usr/bin/env bash
# Counts the instructions that a request costs, with callgrind: no clock, so a slower program shows on the busiest machine.
# Fails when it is more than 1.2 times what instructions.txt says. Needs the release build of bench_instructions.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath -m "${1:-$here/../../build/release/tests/bench/bench_instructions}")
budgets=$here/instructions.txt
few=1000 many=3000 # requests; starting and ending cost the same, and fall out of the difference
[[ -x $program ]] || { echo "instructions: $program is not there; build the target bench_instructions first" >&2; exit 1; }

work=$(mktemp -d /dev/shm/next-id-instructions.XXXXXX)
trap 'rm -rf "$work"' EXIT

# count HOW REQUESTS
count() {
    mkdir "$work/state"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" "$work/state" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    rm -r "$work/state"
    sed -nE 's/^.*Collected : ([0-9]+)$/\1/p' "$work/log"
}

failed=0
while read -r how budget; do
    [[ $how != '#'* ]] || continue
    each=$((($(count "$how" "$many") - $(count "$how" "$few")) / (many - few)))
    printf '%-9s %6d instructions a request, %6d allowed\n' "$how" "$each" "$((budget * 12 / 10))"
    ((each * 10 > budget * 12)) || continue
    failed=1
    cat <<END
A request ($how) costs $each instructions, more than 1.2 times the $budget in tests/bench/instructions.txt. See where they go:
  mkdir -p /dev/shm/window && valgrind --tool=callgrind --callgrind-out-file=calls.out $program $how $many /dev/shm/window
  callgrind_annotate --inclusive=yes calls.out | head -n 60; rm -r /dev/shm/window
If what they buy is worth it, write the new figure into instructions.txt, and say why in the commit.
END
done <"$budgets"
exit "$failed"
