#!/usr/bin/env bash
# Measures next-id side by side with the least a server can do and with nginx and its Lua module, on this machine, now.
# Starts everything it needs, a PostgreSQL too, on free loopback ports and in a temporary directory, and takes it all
# down again. See README.md for what the figures mean.
set -euo pipefail

usage() {
    cat <<END
Usage: tests/bench/run.sh [--rounds N] [--seconds S] [--connections N] [--unpinned] [--quick]
  --rounds N        how often each measurement is repeated, servers in turn (5)
  --seconds S       of each measurement (3)
  --connections N   kept alive (64)
  --unpinned        let the scheduler place server and load generator, instead of giving each a core
  --quick           one round of half a second: does it all work?
NEXT_ID_PROGRAM names a program to measure instead of building one.
END
}

rounds=5 seconds=3 connections=64 pinned=yes
while (($#)); do
    case $1 in
        --rounds) rounds=${2:?} && shift 2 ;;
        --seconds) seconds=${2:?} && shift 2 ;;
        --connections) connections=${2:?} && shift 2 ;;
        --unpinned) pinned=no && shift ;;
        --quick) rounds=1 seconds=0.5 && shift ;;
        --help | -h) usage && exit ;;
        *) usage >&2; exit 64 ;;
    esac
done

rows=(tcp-1 tcp-16 unix-1 unix-16) # transport-depth
servers=(next-id bare nginx-lua nginx-static)
block=1000000           # IDs in a value of the sequence: so many that refilling is not what is measured
window_min=50000000     # and so is the window, for seconds of millions of requests
window_max=200000000
first_id=1000000000000  # 13 digits from every server, so that all answers are equally long
ready_within_s=30

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/release
results=$root/build/bench/results.jsonl
PATH=$PATH:/usr/sbin:/sbin # Debian has nginx there

die() {
    printf 'bench: %s\n' "$*" >&2
    exit 1
}

build_programs() {
    local targets=(bench_load bench_bare_epoll)
    [[ -n ${NEXT_ID_PROGRAM:-} ]] || targets+=(next-id)
    echo "building ${targets[*]} ..."
    { cmake -S "$root" --preset release -DNEXT_ID_TESTS=ON && cmake --build "$build" --target "${targets[@]}"; } >"$work/build.log" 2>&1 ||
        { tail -n 40 "$work/build.log" >&2; die "the build failed"; }
}

# --- starting and stopping ------------------------------------------------------------------------

declare -A pid_of=()
started=()

# start NAME COMMAND...: in the background, its output in NAME.log. It does not outlive this script, whatever ends it.
start() {
    local name=$1
    shift
    setpriv --pdeathsig TERM -- "$@" >"$work/$name.log" 2>&1 </dev/null &
    pid_of[$name]=$!
    started+=("$name")
}

# wait_for NAME COMMAND...: until the command succeeds; gives up when NAME has ended, and after a while.
wait_for() {
    local name=$1 deadline=$((SECONDS + ready_within_s))
    shift
    until "$@" >/dev/null 2>&1; do
        if ! kill -0 "${pid_of[$name]}" 2>/dev/null || ((SECONDS >= deadline)); then
            tail -n 20 "$work/$name.log" >&2
            die "$name does not answer: $*"
        fi
        sleep 0.05
    done
}

stop() {
    local pid=${pid_of[$1]} deadline=$((SECONDS + 10)) signal=TERM
    [[ $1 != postgres ]] || signal=INT # TERM would wait for its clients
    kill -$signal "$pid" 2>/dev/null || return 0
    while kill -0 "$pid" 2>/dev/null; do
        ((SECONDS < deadline)) || kill -KILL "$pid" 2>/dev/null || true
        sleep 0.02
    done
}

clean_up() {
    local i
    trap '' INT TERM HUP # once is enough
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do stop "${started[i]}"; done
    rm -rf "$work" "$state_dir"
}

free_port() { # free_port VARIABLE
    local try
    for try in {1..100}; do
        try=$((20000 + RANDOM % 12000)) # below those that the kernel gives to clients
        [[ " ${ports[*]} " != *" $try "* ]] || continue
        (exec 3<>"/dev/tcp/127.0.0.1/$try") 2>/dev/null && continue
        ports+=("$try")
        printf -v "$1" %s "$try"
        return
    done
    die "no free port found"
}

answers() { curl --silent --fail --noproxy '*' --max-time 2 "$@"; }

# Server and load generator get a core each. Left alone, the scheduler now parts them and now puts both on one core, and
# that alone halves or doubles the CPU time of an answer.
choose_cores() {
    local cores
    mapfile -t cores < <(awk '/^Cpus_allowed_list/ {
        count = split($2, ranges, ",")
        for (i = 1; i <= count; i++) {
            split(ranges[i] "-" ranges[i], ends, "-")
            for (core = ends[1]; core <= ends[2]; core++) print core
        }
    }' /proc/self/status)
    if [[ $pinned == no ]] || ((${#cores[@]} < 2)); then
        pinned=no
        return
    fi
    on_server_core=(taskset -c "${cores[0]}")
    on_load_core=(taskset -c "${cores[1]}")
}

# --- the servers ----------------------------------------------------------------------------------

start_postgres() {
    local bin data=$work/pg/data as=()
    bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [[ -x $bin/initdb ]] || die "initdb not found in $bin"
    mkdir "$work/pg"
    if ((EUID == 0)); then # as whom PostgreSQL refuses to run
        chown postgres "$work/pg"
        as=(setpriv --reuid=postgres --regid=postgres --clear-groups --pdeathsig QUIT --)
    fi
    "${as[@]}" "$bin/initdb" -D "$data" -U postgres --no-sync --no-locale -E UTF8 >"$work/initdb.log" 2>&1 ||
        { cat "$work/initdb.log" >&2; die "initdb failed"; }
    chmod 700 "$work/pg" # the superuser's door is the socket in there; over TCP there is only the sidecar's user
    printf '%s\n' 'local all all trust' 'host bench next_id 127.0.0.1/32 trust' >"$data/pg_hba.conf"
    start postgres "${as[@]}" "$bin/postgres" -D "$data" -c listen_addresses=127.0.0.1 -c port="$pg_port" \
        -c unix_socket_directories="$work/pg" -c fsync=off
    sql=("$bin/psql" -h "$work/pg" -p "$pg_port" -U postgres -X -q -v ON_ERROR_STOP=1)
    wait_for postgres "${sql[@]}" -d postgres -c 'SELECT 1'
    "${sql[@]}" -d postgres -c 'CREATE ROLE next_id LOGIN' -c 'CREATE DATABASE bench'
    "${sql[@]}" -d bench -c "CREATE SEQUENCE global_id_seq INCREMENT BY $block START WITH $((first_id + block))" \
        -c 'GRANT USAGE ON SEQUENCE global_id_seq TO next_id'
}

start_next_id() {
    start next-id env PG_HOST=127.0.0.1 PG_PORT="$pg_port" PG_DATABASE=bench PG_USER=next_id PG_PASSWORD= \
        PG_SEQUENCE=global_id_seq "${on_server_core[@]}" "$program" serve --http "127.0.0.1:$next_id_port" \
        --socket "$work/next-id.sock" --admin none --state-dir "$state_dir" --increment block \
        --window-min "$window_min" --window-max "$window_max"
    wait_for next-id answers "http://127.0.0.1:$next_id_port/next-id"
    wait_for next-id answers --unix-socket "$work/next-id.sock" http://localhost/next-id
}

start_bare() {
    start bare "${on_server_core[@]}" "$build/tests/bench/bench_bare_epoll" --first-id "$first_id" \
        "127.0.0.1:$bare_port" "$work/bare.sock"
    wait_for bare answers "http://127.0.0.1:$bare_port/next-id"
}

start_nginx() {
    mkdir "$work/nginx"
    sed -e "s|@MODULES@|/usr/lib/nginx/modules|; s|@PORT@|$nginx_port|; s|@SOCKET@|$work/nginx.sock|" \
        -e "s|@FIRST_ID@|$first_id|" "$here/nginx.conf.in" >"$work/nginx/nginx.conf"
    start nginx "${on_server_core[@]}" nginx -e stderr -p "$work/nginx" -c "$work/nginx/nginx.conf"
    wait_for nginx answers "http://127.0.0.1:$nginx_port/next-id"
}

# --- measuring ------------------------------------------------------------------------------------

# CPU time so far, in clock ticks, of a process with all its threads and of its children: nginx works in those.
cpu_ticks() {
    { cat /proc/[0-9]*/stat 2>/dev/null || true; } | awk -v pid="$1" '
        { self = $1; sub(/^.*\) /, "") } # the name may hold anything; after it: state, parent, ..., utime, stime
        self == pid || $2 == pid { ticks += $12 + $13 }
        END { print ticks + 0 }'
}

# measure ROUND ROW SERVER: one run, appended to runs as a line of key=value
measure() {
    local round=$1 row=$2 server=$3 process=${3%%-lua} target=/next-id address before after line
    process=${process%%-static}
    [[ $server != nginx-static ]] || target=/static
    case $row in
        tcp-*) address=127.0.0.1:${port_of[$process]} ;;
        unix-*) address=$work/$process.sock ;;
    esac
    before=$(cpu_ticks "${pid_of[$process]}")
    line=$("${on_load_core[@]}" "$build/tests/bench/bench_load" "$address" --target "$target" \
        --connections "$connections" --depth "${row#*-}" --seconds "$seconds") ||
        die "the load generator failed on $server ($row)"
    kill -0 "${pid_of[$process]}" 2>/dev/null || die "$server has ended: $(tail -n 5 "$work/$process.log")"
    after=$(cpu_ticks "${pid_of[$process]}")
    awk -v head="round=$round row=$row server=$server" -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" \
        '{ printf "%s %s server_cpu_s=%.2f\n", head, $0, ticks / hz }' <<<"$line" >>"$work/runs"
}

# Every round gives each server the same work within seconds, and begins with another server.
measure_all() {
    local round row turn
    for ((round = 1; round <= rounds; round++)); do
        echo "round $round of $rounds ..."
        for row in "${rows[@]}"; do
            for ((turn = 0; turn < ${#servers[@]}; turn++)); do
                measure "$round" "$row" "${servers[(round - 1 + turn) % ${#servers[@]}]}"
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
    printf '\nmedians of %s rounds of %s s, %s connections, %s cores (%s), pinned: %s, commit %s\n\n' \
        "$rounds" "$seconds" "$connections" "$(nproc)" "$cpu" "$pinned" "$commit"
    awk -f "$here/table.awk" -v summary="$results" "$work/runs"
    printf '\nevery run: %s\n' "$results"
}

# --------------------------------------------------------------------------------------------------

work=$(mktemp -d /tmp/next-id-bench.XXXXXX) # short: a Unix socket's path has 107 bytes
state_dir=''
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 711 "$work" # PostgreSQL's user passes through
state_dir=$(mktemp -d /dev/shm/next-id-bench.XXXXXX 2>/dev/null || mktemp -d "$work/state.XXXXXX") # memory, as /run
cd "$work"

on_server_core=() on_load_core=()
choose_cores
# shellcheck source-path=SCRIPTDIR source=../../.ci/packages.sh
source "$root/.ci/packages.sh"
need "${packages_to_build[@]}" "${packages_to_bench[@]}"
build_programs
program=${NEXT_ID_PROGRAM:-$build/next-id}
[[ $program == /* ]] || program=$OLDPWD/$program

ports=() pg_port='' next_id_port='' bare_port='' nginx_port=''
for port in pg_port next_id_port bare_port nginx_port; do free_port "$port"; done
declare -A port_of=([next-id]=$next_id_port [bare]=$bare_port [nginx]=$nginx_port)
start_postgres
start_bare
start_nginx
start_next_id
measure_all
write_results
! grep -qE ' done=0 | non_200=[1-9]| reconnects=[1-9]' "$work/runs" || die "some requests were not answered"
