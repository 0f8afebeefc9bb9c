# shellcheck shell=bash
# Starts the servers that are measured, each when it is first used, on free loopback ports and in $work, and takes all of
# them down. Sourced by run.sh and plot.sh, which say `set_the_stage`, then `use SERVER`; after that ${pid_of[SERVER]},
# ${tcp_of[SERVER]} and ${unix_of[SERVER]} are there, and ${resp_of[SERVER]} if it speaks RESP over TCP.

# shellcheck disable=SC2034 # some of these are read by those who source this
{
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    root=$(cd "$here/../.." && pwd)
    build=$root/build/release
    programs=$build/tests/bench
    program=$(realpath -m "${NEXT_ID_PROGRAM:-$build/next-id}")
    PATH=$PATH:/usr/sbin:/sbin # Debian has nginx there
}
first_id=1000000000000 # 13 digits from every server, so that all answers are equally long
endless_block=10000000 # IDs in a value of the sequence, and a window that needs no refill to speak of
endless_window=(--window-min 1000000000 --window-max 1000000000)
ready_within_s=30

declare -A pid_of=() tcp_of=() unix_of=() resp_of=()
started=()
on_server_core=() on_load_core=() on_all_cores=()

die() {
    printf 'bench: %s\n' "$*" >&2
    exit 1
}

# A directory for everything, and the promise to remove it.
set_the_stage() {
    work=$(mktemp -d /tmp/next-id-bench.XXXXXX) # short: a Unix socket's path has 107 bytes
    state_dir=''
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    chmod 711 "$work" # PostgreSQL's user passes through
    state_dir=$(mktemp -d /dev/shm/next-id-bench.XXXXXX 2>/dev/null || mktemp -d "$work/state.XXXXXX") # memory, as /run
    cd "$work" || exit
    ulimit -n 20000 2>/dev/null || true # for ten thousand connections; without, that row says that it cannot
    # shellcheck source-path=SCRIPTDIR source=../../.ci/packages.sh
    source "$root/.ci/packages.sh"
    need "${packages_to_build[@]}" "${packages_to_bench[@]}"
    build_programs
}

build_programs() {
    local targets=(bench_load bench_bare_epoll bench_micro)
    [[ -n ${NEXT_ID_PROGRAM:-} ]] || targets+=(next-id)
    echo "building ${targets[*]} ..."
    { cmake -S "$root" --preset release -DNEXT_ID_TESTS=ON && cmake --build "$build" --target "${targets[@]}"; } >"$work/build.log" 2>&1 ||
        { tail -n 40 "$work/build.log" >&2; die "the build failed"; }
}

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
    ((${#cores[@]} >= 2)) || return 1
    on_server_core=(taskset -c "${cores[0]}")
    on_load_core=(taskset -c "${cores[1]}")
    on_all_cores=(taskset -c "${cores[0]},${cores[1]}")
}

# --- starting and stopping ------------------------------------------------------------------------

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
    local pid=${pid_of[$1]:-} deadline=$((SECONDS + 10)) signal=TERM
    [[ -n $pid ]] || return 0
    unset "pid_of[$1]" # the number may soon be another process's
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

# A port of 127.0.0.1 that nobody listens on, to $free_port.
find_free_port() {
    local try
    for try in {1..100}; do
        free_port=$((20000 + RANDOM % 12000)) # below those that the kernel gives to clients
        [[ " ${tcp_of[*]} ${resp_of[*]} " != *":$free_port "* ]] || continue
        (exec 3<>"/dev/tcp/127.0.0.1/$free_port") 2>/dev/null || return 0
    done
    die "no free port found"
}

has_ended() { ! kill -0 "${pid_of[$1]}" 2>/dev/null; }

answers() { curl --silent --fail --noproxy '*' --max-time 2 "$@"; }

# --- the servers ----------------------------------------------------------------------------------

# use SERVER: starts it, unless it runs already. nginx-lua and nginx-static are two faces of one nginx.
use() {
    local name=$1
    [[ -z ${tcp_of[$name]:-} ]] || return 0
    if [[ $name == nginx-* ]]; then
        use nginx
        pid_of[$name]=${pid_of[nginx]} tcp_of[$name]=${tcp_of[nginx]} unix_of[$name]=${unix_of[nginx]}
        return
    fi
    [[ $name != next-id* ]] || use postgres
    find_free_port
    tcp_of[$name]=127.0.0.1:$free_port unix_of[$name]=$work/$name.sock
    case $name in
        next-id)
            find_free_port
            resp_of[$name]=127.0.0.1:$free_port
            start_next_id "$name" "$endless_block" "${endless_window[@]}" --resp "${resp_of[$name]}"
            ;;
        next-id-2-threads)
            local on_server_core=("${on_all_cores[@]}")
            start_next_id "$name" "$endless_block" "${endless_window[@]}" --threads 2
            ;;
        next-id-refilling) start_next_id "$name" 10000 --reserve 1s ;; # about once a second
        next-id-step) start_next_id "$name" 1 ;;
        next-id-block-*) start_next_id "$name" "${name##*-}" ;;
        *) "start_$name" ;;
    esac
}

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
    pg_port=${tcp_of[postgres]##*:}
    start postgres "${as[@]}" "$bin/postgres" -D "$data" -c listen_addresses=127.0.0.1 -c port="$pg_port" \
        -c unix_socket_directories="$work/pg" -c fsync=off
    sql=("$bin/psql" -h "$work/pg" -p "$pg_port" -U postgres -X -q -A -t -v ON_ERROR_STOP=1)
    pgbench=("$bin/pgbench" -h "$work/pg" -p "$pg_port" -U postgres -n -M prepared)
    wait_for postgres "${sql[@]}" -d postgres -c 'SELECT 1'
    "${sql[@]}" -d postgres -c 'CREATE ROLE next_id LOGIN' -c 'CREATE DATABASE bench'
    "${sql[@]}" -d bench -c 'CREATE SEQUENCE nextval_seq'
}

# The name of a server's sequence.
sequence_of() { echo "${1//-/_}_seq"; }

# make_sequence NAME INCREMENT
make_sequence() {
    "${sql[@]}" -d bench -c "CREATE SEQUENCE $1 INCREMENT BY $2 START WITH $((first_id + $2))" \
        -c "GRANT USAGE ON SEQUENCE $1 TO next_id"
}

# next_id_environment SEQUENCES: what it finds its database by, as words for env
next_id_environment() {
    printf '%s\n' PG_HOST=127.0.0.1 PG_PORT="$pg_port" PG_DATABASE=bench PG_USER=next_id PG_PASSWORD= PG_SEQUENCE="$1" \
        NEXT_ID_CONNECTIONS_MAX=20000
}

# start_next_id NAME INCREMENT OPTION...: with a sequence of its own
start_next_id() {
    local name=$1 increment=$2 sequence
    sequence=$(sequence_of "$name")
    make_sequence "$sequence" "$increment"
    run_next_id "$name" "$sequence" --increment "$( ((increment == 1)) && echo step || echo block)" "${@:3}"
}

# run_next_id NAME SEQUENCES OPTION...
run_next_id() {
    local name=$1 environment
    mapfile -t environment < <(next_id_environment "$2")
    start "$name" env "${environment[@]}" "${on_server_core[@]}" "$program" serve \
        --http "${tcp_of[$name]}" --socket "${unix_of[$name]}" --admin none --state-dir "$state_dir/$name" "${@:3}"
    wait_for "$name" answers "http://${tcp_of[$name]}/next-id"
    wait_for "$name" answers --unix-socket "${unix_of[$name]}" http://localhost/next-id
}

start_bare() {
    start bare "${on_server_core[@]}" "$programs/bench_bare_epoll" --first-id "$first_id" "${tcp_of[bare]}" "${unix_of[bare]}"
    wait_for bare answers "http://${tcp_of[bare]}/next-id"
}

start_nginx() {
    mkdir "$work/nginx"
    sed -e "s|@MODULES@|/usr/lib/nginx/modules|; s|@PORT@|${tcp_of[nginx]##*:}|; s|@SOCKET@|${unix_of[nginx]}|" \
        -e "s|@FIRST_ID@|$first_id|" "$here/nginx.conf.in" >"$work/nginx/nginx.conf"
    start nginx "${on_server_core[@]}" nginx -e stderr -p "$work/nginx" -c "$work/nginx/nginx.conf"
    wait_for nginx answers "http://${tcp_of[nginx]}/next-id"
}

# In memory only: nothing that is written survives it.
start_redis() {
    resp_of[redis]=${tcp_of[redis]}
    start redis "${on_server_core[@]}" redis-server --bind 127.0.0.1 --port "${tcp_of[redis]##*:}" --save '' --appendonly no \
        --unixsocket "${unix_of[redis]}" --dir "$work"
    wait_for redis redis-cli -s "${unix_of[redis]}" SET id "$first_id"
}
