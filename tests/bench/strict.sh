#!/usr/bin/env bash
# Compares --order strict, where waiting requests share a statement, with what an application would do instead: one
# nextval() for each request. Requests a second with 64 connections kept alive; release build, a throwaway PostgreSQL with
# fsync as configured there by default. Rounds in turn, medians; compare the ratios, never the figures.
set -euo pipefail

rounds=${1:-3} seconds=${2:-3} connections=64 sessions=16

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/release
work=$(mktemp -d /tmp/next-id-strict.XXXXXX)
state=$(mktemp -d /dev/shm/next-id-strict.XXXXXX)
started=()

# shellcheck disable=SC2317 # called by the trap
clean_up() {
    local i
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do
        kill -INT "${started[i]}" 2>/dev/null || true
        wait "${started[i]}" 2>/dev/null || true
    done
    rm -rf "$work" "$state"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

die() {
    printf 'strict: %s\n' "$*" >&2
    exit 1
}

# wait_for COMMAND...: until it succeeds
wait_for() {
    local deadline=$((SECONDS + 30))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || die "this does not come about: $*"
        sleep 0.05
    done
}

for program in next-id tests/bench/bench_load; do
    [[ -x $build/$program ]] || die "build it first: cmake --preset release && cmake --build --preset release"
done
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
as=()
chmod 711 "$work"
mkdir "$work/pg"
if ((EUID == 0)); then # as whom PostgreSQL refuses to run
    chown postgres "$work/pg"
    as=(setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig QUIT --)
fi
cd "$work/pg"
"${as[@]}" "$bin/initdb" -D "$work/pg/data" -U postgres -A trust --no-sync --no-locale >"$work/initdb.log" 2>&1 ||
    die "initdb failed: $(tail -n 3 "$work/initdb.log")"
"${as[@]}" "$bin/postgres" -D "$work/pg/data" -c listen_addresses= -c unix_socket_directories="$work/pg" \
    >"$work/postgres.log" 2>&1 &
started+=($!)
export PGHOST=$work/pg PGUSER=postgres PGDATABASE=postgres
wait_for "$bin/psql" -Xqc 'SELECT 1'
"$bin/psql" -Xqc 'CREATE SEQUENCE ids'

env PG_HOST="$work/pg" PG_DATABASE=postgres PG_USER=postgres PG_PASSWORD= PG_SEQUENCE=ids "$build/next-id" serve \
    --order strict --http none --socket "$work/next-id.sock" --admin none --state-dir "$state" --wait-max 10s \
    >"$work/next-id.log" 2>&1 &
started+=($!)
wait_for curl -sf --unix-socket "$work/next-id.sock" http://localhost/next-id

echo "SELECT nextval('ids')" >"$work/plain"
# Durable when it is answered, as the sidecar's statement is: see sql/reserve.sql.
echo "SELECT nextval('ids'), pg_logical_emit_message(true, 'next-id', '')" >"$work/durable"

strict() {
    "$build/tests/bench/bench_load" "$work/next-id.sock" --connections "$connections" --seconds "$seconds" >"$work/load"
    awk -v seconds="$seconds" '{ for (i = 1; i <= NF; i++) if (split($i, pair, "=") && pair[1] == "done") print int(pair[2] / seconds) }' "$work/load"
}
nextval() { # nextval FILE CLIENTS
    "$bin/pgbench" -n -M prepared -f "$work/$1" -c "$2" -j 2 -T "${seconds%.*}" 2>/dev/null | awk '/^tps/ { print int($3) }'
}

for ((round = 1; round <= rounds; round++)); do
    strict >>"$work/strict.results"
    nextval durable "$sessions" >>"$work/durable-$sessions.results"
    nextval durable "$connections" >>"$work/durable-$connections.results"
    nextval plain "$sessions" >>"$work/plain-$sessions.results"
    nextval plain "$connections" >>"$work/plain-$connections.results"
done

median() { sort -n "$work/$1.results" | awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] }'; }
ours=$(median strict)
printf '%-52s %9s %8s\n' "medians of $rounds rounds of $seconds s" requests/s ratio
printf '%-52s %9d %8s\n' "next-id --order strict, $connections connections" "$ours" 1
for way in "durable-$sessions" "durable-$connections" "plain-$sessions" "plain-$connections"; do
    theirs=$(median "$way")
    printf '%-52s %9d %8.2f\n' "one nextval a request, ${way%-*}, ${way#*-} sessions" "$theirs" "$(awk "BEGIN { print $ours / $theirs }")"
done
