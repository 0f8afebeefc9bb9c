#!/usr/bin/env bash
# Checks window.pml exhaustively, then with each planted fault, which must be found. With NEXT_ID_LONG=1 in sizes that take a quarter of an hour.
# A model alone: tests/model/check.sh -DTAKES=1 -DREAD_AFTER ...
set -euo pipefail

model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/window.pml
for program in spin gcc; do
    command -v "$program" >/dev/null || { echo "$program is missing, which checks the model of the window: apt-get install $program"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check NAME EXPECTED FLAG...: `clean` or `found`
check() {
    local name=$1 expected=$2 began=$SECONDS out=$work/out errors states verdict=failed optimize=-O2
    [[ $expected == clean ]] || optimize=-O0  # found before it would pay
    (cd "$work" && spin -a "${@:3}" "$model" && gcc "$optimize" -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -w -o pan pan.c && ./pan -m1000000) >"$out" 2>&1 || true
    errors=$(sed -nE 's/.*errors: ([0-9]+).*/\1/p' "$out")
    states=$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' "$out")
    if ! [[ $errors ]] || grep -qE 'max search depth too small|out of memory|memory limit|Interrupted' "$out"; then
        verdict=incomplete
    elif ((errors == 0)); then
        verdict=clean
    elif grep -qE 'assertion violated|invalid end state' "$out"; then
        verdict=found
    fi
    printf '%-16s %-10s %9s states %4d s  %s\n' "$name" "$verdict" "${states:-?}" $((SECONDS - began)) "${*:3}"
    [[ $verdict == "$expected" ]] || { failed=1; echo "  expected: $expected"; grep -m 3 -E 'pan:1|rror' "$out" || true; }
}

if (($#)); then
    check window clean "$@"
    exit "$failed"
fi

# The parts are checked one by one, since all at once are more states than there is memory.
none=(-DTAKES=1 -DRANGES=3 -DMOST=2 -DWAKES=0 -DDRAINS=0 -DDEATHS=0)
deaths=("${none[@]}" -DDEATHS=1 -DWIDTH=1)
drains=("${none[@]}" -DDRAINS=1 -DRANGES=2)
wakes=("${none[@]}" -DWAKES=1 -DRANGES=2 -DLEVEL=1)
check slots clean "${none[@]}" -DWIDTH=1 -DRANGES=4
check deaths clean "${deaths[@]}"
check drains clean "${drains[@]}" -DWIDTH=1
check wakes clean "${wakes[@]}" -DWIDTH=1
if [[ ${NEXT_ID_LONG:-} ]]; then
    check slots clean "${none[@]}" -DTAKES=2
    check deaths clean "${none[@]}" -DDEATHS=1
    check drains clean "${none[@]}" -DDRAINS=1
    check wakes clean "${none[@]}" -DWAKES=1
    check wakes-again clean "${wakes[@]}" -DWAKES=2 -DDRAINS=1 -DWIDTH=1 -DRANGES=3
    check all clean "${none[@]}" -DWAKES=1 -DDRAINS=1 -DDEATHS=1 -DRANGES=2
fi

for fault in EARLY_SLOT EARLY_TICKET READ_AFTER LIMIT_FIRST LATE_END OLD_PLAN FLAG_CLOSE; do check "$fault" found "${none[@]}" -D$fault; done
check ADOPT_RESETS found "${deaths[@]}" -DADOPT_RESETS
for fault in DRAIN_BY_STORE DRAIN_REOPENS; do check "$fault" found "${drains[@]}" -D$fault; done
for fault in WAKE_LOAD_FIRST WAKE_READ_FIRST WAKE_BLIND WAKE_OFF_BY_ONE; do check "$fault" found "${wakes[@]}" -D$fault; done
exit "$failed"
