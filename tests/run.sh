#!/usr/bin/env bash
# All the tests, on a fresh Debian 12 too: installs what is missing, builds with sanitizers, runs the suites, and tries the
# scripts that people run. The last line is the sum. See --help.
set -euo pipefail

usage() {
    cat <<END
Usage: tests/run.sh [--long]
  --long    let the tests that hammer take their time (they see NEXT_ID_LONG=1)

  dev           every suite, under AddressSanitizer and UndefinedBehaviorSanitizer; warnings are errors
  tsan          the suites with threads, under ThreadSanitizer
  release       the image, and pods of it under podman
  quickstart    examples/quickstart.sh --once, twice
  package       what is installed, programs that use it, Debian packages (--long: in a clean Debian)
  simulation    ten thousand seeds of the simulated refill (--long: half an hour of them)
  instructions  what a request costs, counted by callgrind, against tests/bench/instructions.txt
  bench         tests/bench/run.sh --quick
  image         with --long only: the image, built by its Dockerfile from a bare Debian
  mutation      with --long only: tests/mutation/run.sh, the faults that the tests must find
  fuzz          with --long only: tests/fuzz/run.sh, half an hour a target (every run replays its corpora, in dev)
END
}

while (($#)); do
    case $1 in
        --long) export NEXT_ID_LONG=1 && shift ;;
        --help | -h) usage && exit ;;
        *) usage >&2; exit 64 ;;
    esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
logs=$root/build/tests
jobs=$(nproc)
threaded='^(window|waiting|serve|rate_limiter|admission|counters|client|tls)' # the suites that ThreadSanitizer has something to say about
passed=0 failed=0 summary=()

# count NAME PASSED FAILED SINCE
count() {
    ((passed += $2, failed += $3)) || true
    summary+=("$(printf '%-12s %4d passed, %d failed  %4d s' "$1" "$2" "$3" $((SECONDS - $4)))")
}

# build PRESET TARGET...
build() {
    printf '\n== %s: building\n' "$1"
    cmake --preset "$1" -DNEXT_ID_TESTS=ON >"$logs/$1-build.log" 2>&1 &&
        cmake --build --preset "$1" --target "${@:2}" -j "$jobs" >>"$logs/$1-build.log" 2>&1 && return
    grep -E -A 5 'FAILED:|error|Error' "$logs/$1-build.log" | head -n 60 || tail -n 40 "$logs/$1-build.log"
    return 1
}

# suites PRESET ARGUMENT...: those suites of that build, with ctest
suites() {
    local log=$logs/$1-ctest.log
    printf '\n== %s: testing\n' "$1"
    "${no_aslr[@]}" ctest --test-dir "build/$1" --output-on-failure --no-tests=error --timeout 600 -j "$jobs" "${@:2}" 2>&1 | tee "$log" || true
    grep -h '^skipped: ' "build/$1/Testing/Temporary/LastTest.log" || true # by a test that passed without something
    read -r suites_failed suites_all < <(sed -nE 's/^.*tests passed, ([0-9]+) tests failed out of ([0-9]+)$/\1 \2/p' "$log")
}

# build_and_test PRESET TARGET ARGUMENT...
build_and_test() {
    local since=$SECONDS suites_failed='' suites_all=''
    if build "$1" "$2"; then suites "$1" "${@:3}" || true; fi
    if [[ -n $suites_all ]]; then
        count "$1" $((suites_all - suites_failed)) "$suites_failed" "$since"
    else
        count "$1" 0 1 "$since"
    fi
}

# smoke NAME COMMAND...: passes if the command does
smoke() {
    local since=$SECONDS
    printf '\n== %s\n' "$1"
    if "${@:2}" 2>&1 | tee "$logs/$1.log"; then count "$1" 1 0 "$since"; else count "$1" 0 1 "$since"; fi
}

# The second time it has everything, and goes on counting.
quickstart_twice() {
    local first second
    first=$(examples/quickstart.sh --once --dir build/quickstart-test) || return
    second=$(examples/quickstart.sh --once --dir build/quickstart-test) || return
    printf '%s\n' "$first" "$second"
    ((${second##* } > ${first##* })) || { echo "the second run gave out ${second##* } after ${first##* }"; return 1; }
}

# In release, since what it does is arithmetic; the dev build runs some hundred seeds under its sanitizers.
simulate() {
    build release simulation || return
    local seeds=(--seeds 10000)
    if [[ -n ${NEXT_ID_LONG:-} ]]; then seeds=(--seeds 1000000000 --seconds 1800); fi
    build/release/tests/simulation/simulation "${seeds[@]}"
}

package() {
    build release next-id next_id_client next_id_client_static || return
    tests/package/check.sh "$root/build/release"
}

instructions() {
    build release bench_instructions || return
    tests/bench/instructions.sh
}

mkdir -p "$logs"
# shellcheck source-path=SCRIPTDIR source=../.ci/packages.sh
source "$root/.ci/packages.sh"
need "${packages_to_build[@]}" "${packages_to_test[@]}" "${packages_to_bench[@]}" "${packages_for_pods[@]}" "${packages_for_examples[@]}"
if [[ ${NEXT_ID_LONG:-} ]]; then need "${packages_to_test_long[@]}" "${packages_for_examples_long[@]}"; fi
if command -v ccache >/dev/null; then export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
# GCC 12's ThreadSanitizer knows where memory lies only when the kernel does not scatter it too widely.
no_aslr=()
if setarch -R true 2>/dev/null; then no_aslr=(setarch -R); fi

build_and_test dev all
build_and_test tsan pure_tests -L pure -R "$threaded"
build_and_test release next-id -L pods
smoke simulation simulate
smoke quickstart quickstart_twice
smoke package package
smoke instructions instructions
smoke bench tests/bench/run.sh --quick
if [[ ${NEXT_ID_LONG:-} ]]; then
    smoke image tests/k8s/build_test.py
    smoke mutation tests/mutation/run.sh
    smoke fuzz tests/fuzz/run.sh 1800
fi

printf '\n== sum, after %d s\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
