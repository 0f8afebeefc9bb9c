#!/usr/bin/env bash
# Plants one fault at a time into a copy of the sources, and sees whether the test that is there for it finds it. For whoever changes
# the window, the refill or their tests: a fault that no test finds is a hole in the tests.
#   tests/mutation/run.sh [--dry] [NAME...]     all of them, or those of a list (window, refill), of a test, or of that name
#   --dry   plants only, to see that each edit still fits its file
# The lists, *.faults, have one fault a line: its name, the test that ought to find it, a file, and an edit in Perl, applied to the whole
# file. Exits with 1 unless all were planted, compiled, and were found by a test that ended by itself.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/mutation
dry=''
case ${1:-} in
    -h | --help) sed -n '2,7s/^# //p' "$0" && exit ;;
    --dry) dry=yes && shift ;;
esac
wanted=" $* "
deadline_s=300 # of a test that hangs: that is no finding, since it would not tell anybody what is wrong
declare -A counts trusted

say() {
    printf '%-34s %-12s %-16s %6s  %s\n' "${@:1:4}" "${5:0:110}"
    counts[$3]=$((${counts[$3]:-0} + 1))
}

copy_sources() {
    mkdir -p "$work/sources"
    find "$work/sources" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
    (cd "$root" && cp -r CMakeLists.txt CMakePresets.json examples protocol sidecar sql tests "$work/sources") # not -p: what an interrupted run built must be built again
    cd "$work/sources"
    if command -v ccache >/dev/null; then
        export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1 CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    fi
    cmake -G Ninja -B "$work/build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
}

# command_of TEST: sets target, command and how often chance may try
command_of() {
    local suite=window_$1_tests
    target=mutation_$1 tries=1
    case $1 in
        hammer | death) tries=3 ;;
        process) target=mutation_hammer tries=3 ;;
        weak_memory) target=weak_memory && command=("$work/build/tests/model/weak_memory") && return ;;
        simulation) target=simulation && command=("$work/build/tests/simulation/simulation" --seeds 1000000 --seconds 40) && return ;;
        refill) suite='*' ;;
        waiting) suite=waiting_list_tests target=mutation_waiting_list ;;
    esac
    command=("$work/build/tests/mutation/$target" --run_test="$suite" --catch_system_error=no --color_output=no)
}

# first_words LOG: of what the test has to say about the fault
first_words() {
    grep -m 1 -E '^seed [0-9]+: |FAULT: |error: in |DATA RACE|executions, [^n]|Assertion' "$1" | sed -E "s|^.*/sources/||; s|^[^ ]*\([0-9]+\): ||" || tail -n 1 "$1"
}

# run NAME TEST: builds the test and runs it; sets verdict, seconds and words
run() {
    local log=$work/$1.log try result=0 began target tries command
    command_of "$2"
    seconds=-
    if ! cmake --build "$work/build" --target "$target" >"$log" 2>&1; then
        verdict='not compiled' words=$(grep -m 1 -E 'error|FAILED' "$log")
        return
    fi
    began=$EPOCHREALTIME
    for ((try = 0; try < tries && result == 0; ++try)); do
        timeout -k 1 "$deadline_s" "${command[@]}" >"$log" 2>&1 || result=$?
    done
    seconds=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    case $result in
        0) verdict='NOT FOUND' ;;
        124 | 137) verdict=HANGS ;;
        *) verdict=found ;;
    esac
    words=$(first_words "$log")
}

mutant=$(mktemp)
trap 'rm -f "$mutant"' EXIT
[[ $dry ]] || copy_sources
for list in "$here"/*.faults; do
    of=$(basename "$list" .faults)
    while read -r name test file edit; do
        [[ $name && $name != '#'* ]] || continue
        [[ $wanted == '  ' || $wanted == *" $of "* || $wanted == *" $test "* || $wanted == *" $name "* ]] || continue
        if ! perl -0pe "$edit" "$root/$file" >"$mutant" || cmp -s "$mutant" "$root/$file"; then
            say "$name" "$test" 'not planted' - "its edit changes nothing in $file"
        elif [[ $dry ]]; then
            counts[planted]=$((${counts[planted]:-0} + 1))
        else
            if [[ ! ${trusted[$test]:-} ]]; then # a test that fails without a fault finds nothing
                run "clean_$test" "$test"
                [[ $verdict == 'NOT FOUND' ]] || { say 'no fault' "$test" "$verdict" "$seconds" "$words"; exit 1; }
                trusted[$test]=yes
            fi
            cp "$mutant" "$file"
            run "$name" "$test"
            say "$name" "$test" "$verdict" "$seconds" "$words"
            cp "$root/$file" "$file"
        fi
    done <"$list"
done
for verdict in "${!counts[@]}"; do printf '%s: %d  ' "$verdict" "${counts[$verdict]}"; done
echo
((${#counts[@]} == 1)) && [[ ${counts[found]:-}${counts[planted]:-} ]]
