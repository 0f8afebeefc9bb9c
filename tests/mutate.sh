#!/usr/bin/env bash
# Plants one fault at a time into a copy of the sources, and says which test finds it, after how long. A tool for whoever changes the window, the
# refill or their tests: a fault that no test finds is a hole in the tests. Usage: tests/mutate.sh [window|refill] [NAME...]
# Exits with 1 if a fault was not found, 2 if one could not be planted (its pattern matches no more) or does not compile.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$PWD/build/mutants
group=all
case ${1:-} in
    --help | -h) sed -n '2,4s/^# //p' "$0"; exit ;;
    window | refill) group=$1 && shift ;;
esac
only=" $* " status=0
mkdir -p "$work/sources"
find "$work/sources" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
cp -r CMakeLists.txt CMakePresets.json protocol sidecar sql tests "$work/sources"  # not -p: what an interrupted run built must be built again
cd "$work/sources"
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
compiler=(g++)
if command -v ccache >/dev/null; then
    compiler=(ccache g++)
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
compiler+=(-std=c++20 -O1 -w -pthread -I. -DBOOST_TEST_DYN_LINK)

say() { printf '%-28s %-24s %s\n' "$1" "$2" "$3"; }
worse() { (($1 > status)) && status=$1 || true; }

# run NAME TEST COMMAND...: true if the test finds a fault, and says so
run() {
    local began=$EPOCHREALTIME log=$work/$1.log result=0
    timeout -k 1 90 "${@:3}" >"$log" 2>&1 || result=$?
    ((result != 0)) || return 1
    local words
    words=$(grep -m 1 -oE 'seed [0-9]+: .*|FAULT: .*|error: in .*|[0-9]+ executions, .*|memory access violation.*' "$log" || ((result != 124)) || echo 'hangs')
    say "$1" "$2" "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%5.1f s", b - a }')  ${words:0:100}"
}

object() { "${compiler[@]}" -c "$2" -o "$work/$1.o" >"$work/compile.log" 2>&1 || { head -n 5 "$work/compile.log"; return 1; }; }

test_window() {
    [[ -e $work/main.o ]] || object main tests/support/main.cpp
    object layout tests/window/window_layout_tests.cpp && g++ -o "$work/layout" "$work"/{main,layout}.o -lboost_unit_test_framework || return 2
    run "$1" layout "$work/layout" && return
    if [[ -e /usr/include/relacy ]]; then
        "${compiler[@]}" -fno-sized-deallocation -o "$work/weak" tests/model/weak_memory.cpp || return 2
        run "$1" 'weak memory' "$work/weak" 20000 && return
    fi
    object hammer tests/window/window_hammer_tests.cpp && g++ -pthread -o "$work/hammer" "$work"/{main,hammer}.o -lboost_unit_test_framework || return 2
    local suite seed
    for seed in 1 2; do
        for suite in window_hammer_tests window_process_tests; do
            NEXT_ID_SEED=$seed run "$1" "$suite $seed" "$work/hammer" --run_test=$suite --catch_system_error=no && return
        done
    done
    return 1
}

test_refill() {
    [[ -e build/release/build.ninja ]] || cmake --preset release -DNEXT_ID_TESTS=ON >"$work/compile.log"
    cmake --build build/release --target simulation >"$work/compile.log" 2>&1 || { grep -m 3 error "$work/compile.log"; return 2; }
    run "$1" simulation build/release/tests/simulation/simulation --seeds 1000000 --seconds 12
}

# mutant GROUP NAME [FILE EDIT]...: an edit is Perl, applied to the whole file
mutant() {
    [[ $group == all || $group == "$1" ]] || return 0
    [[ $only == '  ' || $only == *" $2 "* ]] || return 0
    local name=$2 kind=$1 files=() result=0
    shift 2
    while (($#)); do
        files+=("$1")
        [[ -e $work/original/$1 ]] || { mkdir -p "$work/original/${1%/*}" && cp -p "$1" "$work/original/$1"; }
        cp "$1" "$work/before"
        perl -0pi -e "$2" "$1"
        if cmp -s "$1" "$work/before"; then
            say "$name" - "NOT PLANTED: its pattern is not in $1"
            result=2
        fi
        shift 2
    done
    ((result != 0)) || "test_$kind" "$name" || result=$?
    ((result != 1)) || say "$name" - 'NOT FOUND'
    ((result != 2)) || say "$name" - 'not tried'
    worse "$result"
    local file
    for file in "${files[@]}"; do cp "$work/original/$file" "$file"; done
}
rm -rf "$work/original"

layout=protocol/window_layout.h hammer=tests/window/hammer.h
cursor='map.header(generation).cursor.value' limit='map.header(generation).limit.value'
mutant window slot_reused_too_early $layout 's/(cursor\(\)\)) <= slot_mask_ &&/$1 <= 1 + slot_mask_ &&/'
mutant window ticket_reused_too_early $layout 's/return slot_number\(limit\) - slot_number\(cursor\(\)\) <=/Ticket from = cursor();\n if (from < limit && rest_of_slot(from).count == 1) from = next_slot(from);\n return slot_number(limit) - slot_number(from) <=/'
mutant window slot_read_after_swap $layout 's/out\[0\] = \{rest.first, rest.step, n\};/out[0] = {rest_of_slot(begin).first, rest_of_slot(begin).step, n};/'
mutant window limit_before_slot $layout 's/( +slot\.first\.store.*?slot\.count\.store[^\n]*\n)( +limit = next_slot.*?release\);\n)/$2$1/s'
mutant window limit_store_relaxed $layout 's/(limit\.store\(limit, std::memory_order_)release/$1relaxed/'
mutant window limit_load_relaxed $layout 's/(return header_->limit\.load\(std::memory_order_)acquire/$1relaxed/'
mutant window swap_relaxed $layout 's/\(from, to, std::memory_order_seq_cst, std::memory_order_acquire/(from, to, std::memory_order_relaxed, std::memory_order_relaxed/'
mutant window swap_acquire_only $layout 's/\(from, to, std::memory_order_seq_cst/(from, to, std::memory_order_acquire/'
mutant window room_relaxed $layout 's/(slot_number\(limit\) - slot_number\()cursor\(\)(\) <= slot_mask_ &&)/$1header_->cursor.load(std::memory_order_relaxed)$2/'
mutant window slot_ends_too_late $layout 's/(slot\.count\.load\(std::memory_order_relaxed\)) - offset/$1 + 1 - offset/'
mutant window slot_ends_too_early $layout 's/rest\.count == n \? next_slot/rest.count <= n + 1 ? next_slot/'
mutant window last_slot_ends_too_late $layout 's/(slot\.count\.load\(std::memory_order_relaxed\)) - offset/$1 + (next_slot(ticket) == header_->limit.load(std::memory_order_relaxed)) - offset/'
mutant window limit_counts_ids $layout 's/limit = next_slot\(limit\);\n( +header_)/limit += count;\n$1/'
mutant window adoption_resets_cursor $hammer "s/(if \\(!window\\.sound\\(\\)\\))/$cursor = 0;\\n\$1/"
mutant window adoption_rewinds_a_slot $hammer "s/(if \\(!window\\.sound\\(\\)\\))/if ($cursor >= TestWindow::slot_ids_max) $cursor = ($cursor - 1) \\/ TestWindow::slot_ids_max * TestWindow::slot_ids_max;\\n\$1/"
mutant window adoption_moves_limit_on $hammer "s/(if \\(!window\\.sound\\(\\)\\))/$limit = $limit + TestWindow::slot_ids_max;\\n\$1/"
mutant window close_by_store $layout 's/Ticket at = header_->cursor\.exchange\(to, std::memory_order_acq_rel\);/Ticket at = cursor();\nheader_->cursor.store(to, std::memory_order_release);/'
mutant window drain_reopens $layout 's/if \(header_->cursor\.load\(std::memory_order_relaxed\) == retired\) return;//'
mutant window fetch_add_for_swap $layout 's/return header_->cursor\.compare_exchange_weak\(.*?\);/Ticket now = header_->cursor.load(std::memory_order_seq_cst);\nheader_->cursor.store(now + (to - from), std::memory_order_seq_cst);\nfrom = now;\nreturn true;/s'
mutant window load_then_store $layout 's/return header_->cursor\.compare_exchange_weak\(.*?\);/if (cursor() != from) return from = cursor(), false;\nheader_->cursor.store(to, std::memory_order_seq_cst);\nreturn true;/s'
mutant window old_plan_new_cursor $layout 's/for \(Ticket from = cursor\(\);;\) \{  \/\/ the common/std::optional<Range> kept;\nfor (Ticket from = cursor();;) {  \/\/ the common/; s/const Range rest = rest_of_slot\(from\);\n( +if \(rest\.count < n\))/if (!kept) kept = rest_of_slot(from);\nconst Range rest = *kept;\n$1/'
mutant window wake_stored_release $layout 's/(wake_at\.store\(at, std::memory_order_)seq_cst/$1release/'
mutant window wake_blind $layout 's/return header_->cursor\.load\(std::memory_order_seq_cst\) >= at;/return false;/'
mutant window wake_off_by_one $layout 's/from < wake_at && wake_at <= to/from < wake_at \&\& wake_at < to/'
mutant window wake_read_first $layout 's/(if \(swap\(from, to\)\) \{)/const bool says = passes_wake_at(begin, to);\n$1/; s/n, 0, passes_wake_at\(begin, to\)/n, 0, says/'

refill=sidecar/refill/sequence_refill.cpp
mutant refill guard_skipped $refill 's/if \(!mark\) return latch\(now, mark\.error\(\)\);/const Mark furthest = mark ? *mark : supply_.window().mark();/; s/set_mark\(\*mark\);/set_mark(furthest);/'
mutant refill guard_skipped_on_inspect $refill 's/\} else if \(const std::string how.*?return latch\(now, how\);\n    \}/}/s'
mutant refill mark_after_publishing $refill 's/    supply_\.window\(\)\.set_mark\(\*mark\);\n//; s/(    publish\(std::move\(\*ranges\)\);\n)/$1    supply_.window().set_mark(*mark);\n/'
mutant refill mark_not_kept $refill 's/    supply_\.window\(\)\.set_mark\(\*mark\);\n//'
mutant refill adopts_after_a_boot sidecar/window/window_source.cpp 's/if \(text_in\(origin\.boot_id\) != owner\.boot_id\)/if (false)/'
mutant refill block_begins_at_its_value sidecar/refill/reservation.cpp 's/Wide\{run\.first\} - parameters\.increment \+ 1, parameters\.minimum\);\n    return \{static_cast<std::int64_t>\(first\), 1, static_cast<std::uint64_t>\(last - first \+ 1\)/Wide{run.first}, parameters.minimum);\n    return {static_cast<std::int64_t>(first), 1, static_cast<std::uint64_t>(last - first + parameters.increment)/'
mutant refill latched_asks_on $refill 's,if \(state_ != RefillState::reserving\) return \{Step,if (state_ != RefillState::reserving && state_ != RefillState::latched) return {Step,'
mutant refill latch_keeps_window $refill 's/    discard\("the sequence went back"\);\n//'
mutant refill latch_forgotten_at_start $refill 's/mark\.latched = true;/mark.latched = false;/'
mutant refill nobody_expires sidecar/refill/refill.cpp 's/        sequence->supply\(\)\.waiting\(\)\.expire[^\n]*\n//'
mutant refill expires_when_it_looks sidecar/refill/refill.cpp 's/    for \(const auto& sequence : sequences_\) again = std::min\(again, sequence->supply\(\)\.waiting\(\)\.next_deadline\(\)\);\n//'
mutant refill newest_first sidecar/window/waiting_list.cpp 's/waiter = remove\(waiters_\.begin\(\)\);/waiter = remove(std::prev(waiters_.end()));/; s/take_for\(waiters_\.begin\(\)->second/take_for(std::prev(waiters_.end())->second/'
mutant refill strict_serves_newer $refill 's/supply_\.deliver\(\), asked_for_\)/supply_.deliver())/'
mutant refill strict_keeps_the_rest $refill 's/        throw_away_rest\(\);\n        publish_pending\(\);\n    \} while \(supply_\.window\(\)\.left\(\) != 0\);/    } while (false);/'
mutant refill strict_adopts $refill 's/    if \(is_strict\(\) && received_ != 0\) discard[^\n]*\n//'
mutant refill mark_lost_on_discard sidecar/window/window_file.cpp 's/read_identity\(old\.origin\(\)\), read_mark\(old\.origin\(\)\)/read_identity(old.origin()), Mark{}/'
mutant refill mark_lost_at_start sidecar/window/window_file.cpp 's/\{owner\(\), found->identity, found->mark\}/{owner(), found->identity, Mark{}}/'
mutant refill new_connection_not_inspected sidecar/refill/sequence_refill.h 's/void on_connected\(\) \{ verified_ = false; \}/void on_connected() {}/' $refill 's/    verified_ = false;\n//'
mutant refill waits_for_ever_after_failure sidecar/refill/refill.cpp 's/connect_not_before_ = now \+ backoff_\.next\(dice_\(\)\);/connect_not_before_ = never;/'
mutant refill pending_published_twice $refill 's/        pending_ids_ -= published;\n/        if (published != range.count) return;\n        pending_ids_ -= published;\n/'
mutant refill resumes_without_moving sidecar/refill/guard.cpp 's/return ascending \? \*sequence\.last_value >= past : \*sequence\.last_value <= past;/return true;/'
exit "$status"
