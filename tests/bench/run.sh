#!/usr/bin/env bash
# Measures next-id side by side with the least a server can do, with nginx and its Lua module, with Redis and with
# PostgreSQL itself, on this machine, now. Starts everything it needs on free loopback ports and in a temporary directory,
# and takes it all down again. See README.md for what the figures mean.
set -euo pipefail

# What is measured: a row's name, how (measure_KIND in measure.sh), on which servers (servers.sh), and the rest of that
# function's arguments. Within a round the servers of a row take turns.
rows=(
    'tcp-1        http     next-id,bare,nginx-lua,nginx-static,redis  tcp'
    'tcp-16       http     next-id,bare,nginx-lua,nginx-static,redis  tcp  --depth 16'
    'unix-1       http     next-id,bare,nginx-lua,nginx-static,redis  unix'
    'unix-16      http     next-id,bare,nginx-lua,nginx-static,redis  unix --depth 16'
    'resp-tcp-1   resp     next-id,redis      tcp'
    'resp-tcp-16  resp     next-id,redis      tcp  --depth 16'
    'resp-unix-1  resp     next-id,redis      unix'
    'resp-unix-16 resp     next-id,redis      unix --depth 16'
    'incr-tcp-1   incr     next-id,redis      resp'
    'incr-tcp-16  incr     next-id,redis      resp --depth 16'
    'incr-unix-1  incr     next-id,redis      unix'
    'incr-unix-16 incr     next-id,redis      unix --depth 16'
    'curl         http     next-id,bare       tcp  --client curl'
    'go           http     next-id,bare       tcp  --client go'
    'java         http     next-id,bare       tcp  --client java'
    'java-url     http     next-id,bare       tcp  --client java-url'
    'curl-traced  http     next-id,bare       tcp  --client curl --traced'
    'go-traced    http     next-id,bare       tcp  --client go --traced'
    'java-traced  http     next-id,bare       tcp  --client java --traced'
    'idle         idle     next-id,bare       tcp  10000'
    'threads-2    http     next-id-2-threads  tcp'
    'refill       paced    next-id,next-id-refilling  tcp'
    'ids          batch    next-id            tcp  1000 json'
    'ranges       batch    next-id            tcp  1000 ranges'
    'nextval      nextval  postgres'
    'step         postgres next-id-step          10000'
    'block-1000   postgres next-id-block-1000    1000000'
    'block-100000 postgres next-id-block-100000  1000000'
    'start        start    next-id,psql'
    'micro        micro    next-id'
)

usage() {
    cat <<END
Usage: tests/bench/run.sh [--rows NAME,...] [--rounds N] [--seconds S] [--connections N] [--unpinned] [--quick]
  --rows NAME,...   only these (all): $(printf '%s ' "${rows[@]%% *}" | fold -s -w 76 | sed '2,$s/^/                    /')
  --rounds N        how often each measurement is repeated, servers in turn (5)
  --seconds S       of each measurement (2.5)
  --connections N   kept alive (64)
  --unpinned        let the scheduler place server and load generator, instead of giving each a core
  --quick           one round of a tenth of a second: does it all work?
NEXT_ID_PROGRAM names a program to measure instead of building one.
END
}

rounds=5 seconds=2.5 connections=64 pinned=yes chosen=''
while (($#)); do
    case $1 in
        --rows) chosen=${2:?} && shift 2 ;;
        --rounds) rounds=${2:?} && shift 2 ;;
        --seconds) seconds=${2:?} && shift 2 ;;
        --connections) connections=${2:?} && shift 2 ;;
        --unpinned) pinned=no && shift ;;
        --quick) rounds=1 seconds=0.1 && shift ;;
        --help | -h) usage && exit ;;
        *) usage >&2; exit 64 ;;
    esac
done

# shellcheck source-path=SCRIPTDIR source=servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source-path=SCRIPTDIR source=measure.sh
source "$here/measure.sh"
results=$root/build/bench/results.jsonl

choose_rows() {
    local name row kept=()
    [[ -n $chosen ]] || return 0
    for name in ${chosen//,/ }; do
        for row in "${rows[@]}"; do [[ ${row%% *} != "$name" ]] || { kept+=("$row") && continue 2; }; done
        usage >&2
        die "there is no row $name"
    done
    rows=("${kept[@]}")
}

# Every round gives each server the same work within seconds, and begins with another server.
measure_all() {
    local round row turn name kind servers options
    for ((round = 1; round <= rounds; round++)); do
        echo "round $round of $rounds ..."
        for row in "${rows[@]}"; do
            read -r name kind servers options <<<"$row"
            IFS=, read -ra servers <<<"$servers"
            for ((turn = 0; turn < ${#servers[@]}; turn++)); do
                # shellcheck disable=SC2086 # options are words
                "measure_$kind" "$round" "$name" "${servers[(round - 1 + turn) % ${#servers[@]}]}" $options
            done
        done
    done
}

write_results() {
    mkdir -p "$(dirname "$results")"
    local commit cpu
    commit=$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)
    cpu=$(awk -F ': ' '/^model name/ { gsub(/["\\]/, "", $2); print $2; exit }' /proc/cpuinfo)
    {
        printf '{"kind":"machine","time":"%s","commit":"%s","cpu":"%s",' "$(date -u +%FT%TZ)" "$commit" "$cpu"
        printf '"cores":%d,"kernel":"%s",' "$(nproc)" "$(uname -r)"
        printf '"connections":%d,"pinned":"%s"}\n' "$connections" "$pinned"
    } >"$results"
    awk '{
        json = "{\"kind\":\"run\""
        for (i = 1; i <= NF; i++) {
            split($i, pair, "=")
            value = pair[2] ~ /^-?[0-9.]+$/ ? pair[2] : "\"" pair[2] "\""
            json = json ",\"" pair[1] "\":" value
        }
        print json "}"
    }' "$work/runs" >>"$results"
    printf '\n%s, medians of %s rounds of %s s, %s connections, %s cores (%s), pinned: %s, commit %s\n\n' \
        "$(date -u +%F)" "$rounds" "$seconds" "$connections" "$(nproc)" "$cpu" "$pinned" "$commit"
    awk -f "$here/table.awk" -v summary="$results" "$here/targets" "$work/runs"
    printf '\nevery run: %s\n' "$results"
}

choose_rows
if [[ $pinned == yes ]]; then choose_cores || pinned=no; fi
set_the_stage
measure_all
write_results
! grep -qE ' (done=0|non_200=[1-9]|reconnects=[1-9])' "$work/runs" || die "some requests were not answered"
