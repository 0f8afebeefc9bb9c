#!/usr/bin/env bash
# From a fresh Debian 12 to the first ID: installs what is missing, builds next-id, starts a PostgreSQL of its own and the
# sidecar, and stops both at Ctrl-C. See --help.
# shellcheck disable=SC2317 # what only a trap calls is not unreachable
set -euo pipefail

usage() {
    cat <<END
Usage: examples/quickstart.sh [--once] [--dir DIR]
  --once     take an ID over each transport, print the answers, stop
  --dir DIR  where PostgreSQL's data and the logs are kept between runs (build/quickstart)

To use a PostgreSQL that is there already, set PG_HOST, and PG_PORT (5432), PG_DATABASE (test_db), PG_USER (postgres) and
PG_PASSWORD or PG_PASSWORD_FILE: a role that may create the sequence PG_SEQUENCE (global_id_seq) and a role for the sidecar,
next_id_quickstart.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$root/build/quickstart once=no
while (($#)); do
    case $1 in
        --once) once=yes && shift ;;
        --dir) dir=${2:?--dir takes a directory} && shift 2 ;;
        --help | -h) usage && exit ;;
        *) usage >&2; exit 64 ;;
    esac
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
ready_within_s=30

say() { printf '%s\n' "$*" >&2; }

die() {
    printf 'quickstart: %s\n' "$*" >&2
    exit 1
}

# --- processes: nothing outlives this script, whatever ends it ------------------------------------

declare -A pid_of=()

# start NAME SIGNAL COMMAND...: in the background and out of reach of the terminal's Ctrl-C. SIGNAL ends it.
start() {
    local name=$1 signal=$2
    shift 2
    setsid setpriv --pdeathsig "$signal" "$@" >"$dir/$name.log" 2>&1 </dev/null 9>&- &
    pid_of[$name]=$!
}

is_running() { kill -0 "${pid_of[$1]}" 2>/dev/null; }

# stop NAME SIGNAL
stop() {
    local deadline=$((SECONDS + 15))
    [[ -n ${pid_of[$1]:-} ]] || return 0
    kill -"$2" "${pid_of[$1]}" 2>/dev/null || return 0
    while is_running "$1"; do
        ((SECONDS < deadline)) || kill -KILL "${pid_of[$1]}" 2>/dev/null || true
        sleep 0.05
    done
}

clean_up() {
    trap '' INT TERM HUP # once is enough
    stop next-id TERM
    stop postgres INT # TERM would wait for its clients
    [[ -z ${run_dir:-} || $run_dir == "$keeps"/* ]] || rm -rf "$run_dir"
}

# failed NAME SENTENCE: with the end of its log
failed() {
    tail -n 20 "$dir/$1.log" >&2
    die "$2 (log: $dir/$1.log)"
}

# --- what must be there ---------------------------------------------------------------------------

install_packages() {
    # shellcheck source-path=SCRIPTDIR source=../.ci/packages.sh
    source "$root/.ci/packages.sh"
    local postgresql=(postgresql)
    if [[ -n ${PG_HOST:-} ]]; then
        postgresql=()
        command -v psql >/dev/null || postgresql=(postgresql-client)
    fi
    need "${packages_to_build[@]}" "${postgresql[@]}" curl
}

build() {
    local build=$root/build/release
    say "Building next-id; the first time takes a minute or two (log: $dir/build.log) ..."
    { cmake -S "$root" --preset release -DNEXT_ID_TESTS=OFF && cmake --build "$build" --target next-id; } >"$dir/build.log" 2>&1 ||
        failed build "the build failed"
    program=$build/next-id
}

# A directory for sockets, whose paths must be short, and for the sidecar's window, which survives a restart on a tmpfs.
make_run_dir() {
    local base key
    key=$(cksum <<<"$dir")
    keeps=/tmp # nothing, that is
    for base in /run "${XDG_RUNTIME_DIR:-}" /dev/shm; do
        [[ -n $base && -w $base && $(stat -f -c %T "$base") == tmpfs ]] || continue
        keeps=$base
        break
    done
    run_dir=$keeps/next-id-quickstart-${key%% *}
    [[ $keeps != /tmp ]] || keeps=none
    mkdir -m 755 "$run_dir" 2>/dev/null || [[ -d $run_dir && -O $run_dir && ! -L $run_dir ]] || die "$run_dir belongs to someone else: remove it"
}

# --- PostgreSQL -----------------------------------------------------------------------------------

# Its own: reachable by nobody but its user and root, through a socket in a closed directory.
start_postgres() {
    local as=() owner=() bin
    data=$dir/postgres
    if ((EUID == 0)); then # as whom PostgreSQL refuses to run
        as=(--reuid=postgres --regid=postgres --clear-groups)
        owner=(-o postgres -g postgres)
        setpriv "${as[@]}" test -x "$dir" || # a clone below /root, say
            data=$(getent passwd postgres | cut -d: -f6)/${run_dir##*/}
    fi
    install -d -m 700 "${owner[@]}" "$data" "$run_dir/postgres"
    bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [[ ! -e $data/cluster ]] || bin=/usr/lib/postgresql/$(<"$data/cluster/PG_VERSION")/bin
    [[ -x $bin/postgres ]] || die "there is no $bin/postgres: install that version, or remove $data to begin anew"
    if [[ ! -e $data/cluster ]]; then
        rm -rf "$data/new" "$run_dir/state" # IDs reserved from another cluster
        setpriv "${as[@]}" "$bin/initdb" -D "$data/new" -U postgres -A trust --no-locale -E UTF8 >"$dir/initdb.log" 2>&1 </dev/null ||
            failed initdb "initdb failed"
        mv "$data/new" "$data/cluster"
    fi
    PG_HOST=$run_dir/postgres PG_PORT=5432 PG_DATABASE=test_db PG_USER=postgres PG_PASSWORD='' PG_SEQUENCE=global_id_seq
    start postgres INT "${as[@]}" "$bin/postgres" -D "$data/cluster" -c listen_addresses= -c port="$PG_PORT" \
        -c unix_socket_directories="$PG_HOST"
    local deadline=$((SECONDS + ready_within_s))
    until sql postgres -c 'SELECT' >/dev/null 2>&1; do
        if ! is_running postgres || ((SECONDS >= deadline)); then failed postgres "PostgreSQL does not start"; fi
        sleep 0.1
    done
    [[ $(sql postgres -Atc "SELECT count(*) FROM pg_database WHERE datname = 'test_db'") != 0 ]] || sql postgres -c 'CREATE DATABASE test_db'
    sidecar_user=next_id sidecar_password='' state_dir=$run_dir/state
}

use_postgres() {
    PG_PORT=${PG_PORT:-5432} PG_DATABASE=${PG_DATABASE:-test_db} PG_USER=${PG_USER:-postgres} PG_SEQUENCE=${PG_SEQUENCE:-global_id_seq}
    [[ $PG_SEQUENCE != *,* ]] || die "PG_SEQUENCE is $PG_SEQUENCE, but this script sets up one sequence"
    [[ -z ${PG_PASSWORD_FILE:-} ]] || PG_PASSWORD=$(<"$PG_PASSWORD_FILE")
    [[ -z ${PG_PASSWORD:-} ]] || export PGPASSWORD=$PG_PASSWORD
    # A role of its own, not the next_id that others may use, since its password is set here.
    sidecar_user=next_id_quickstart
    [[ -s $dir/password ]] || (umask 077 && od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$dir/password")
    sidecar_password=$(<"$dir/password") state_dir=$run_dir/state-$sidecar_user # the other window waits for its own cluster
}

# sql DATABASE ARGUMENT...: as the role that sets things up
sql() {
    psql -h "$PG_HOST" -p "$PG_PORT" -U "$PG_USER" -d "$1" -X -q -w -v ON_ERROR_STOP=1 -c 'SET client_min_messages = warning' "${@:2}"
}

set_up_database() {
    {
        sql "$PG_DATABASE" -v sequence="$PG_SEQUENCE" -v role="$sidecar_user" -f "$root/sql/sequence.sql" -f "$root/sql/role.sql" &&
            { [[ -z $sidecar_password ]] || sql "$PG_DATABASE" -f - <<<"ALTER ROLE $sidecar_user PASSWORD '$sidecar_password'"; }
    } >"$dir/sql.log" 2>&1 ||
        failed sql "setting up $PG_SEQUENCE as $PG_USER in database $PG_DATABASE on $PG_HOST:$PG_PORT failed; PG_HOST, PG_PORT, PG_DATABASE, PG_USER and PG_PASSWORD say where and as whom"
}

# --- the sidecar ----------------------------------------------------------------------------------

# An address as wished if nobody listens there, else on any free port.
free_or_any() {
    if (exec 3<>"/dev/tcp/${1%:*}/${1#*:}") 2>/dev/null; then echo "${1%:*}:0"; else echo "$1"; fi
}

# bound NAME: the address that the log says it listens on
bound() { sed -n "s/.*listening.*$1=\"\{0,1\}\([^ \"]*\).*/\1/p" "$dir/next-id.log" | head -n 1; }

start_sidecar() {
    local variable
    socket=$run_dir/next-id.sock
    # Nothing that happens to be in the environment shall decide where it connects to.
    for variable in "${!NEXT_ID_@}" PG_CONNINFO PG_PASSWORD_FILE; do unset "$variable"; done
    start next-id TERM env PG_HOST="$PG_HOST" PG_PORT="$PG_PORT" PG_DATABASE="$PG_DATABASE" PG_USER="$sidecar_user" \
        PG_PASSWORD="$sidecar_password" PG_SEQUENCE="$PG_SEQUENCE" "$program" serve --log-format text --socket "$socket" \
        --http "$(free_or_any 127.0.0.1:8080)" --admin "$(free_or_any 127.0.0.1:9911)" --state-dir "$state_dir"
    local deadline=$((SECONDS + ready_within_s))
    until [[ -n $(bound admin) ]]; do
        if ! is_running next-id || ((SECONDS >= deadline)); then failed next-id "next-id does not start"; fi
        sleep 0.05
    done
    http=$(bound http) admin=$(bound admin)
    "$program" check --admin "$admin" --wait "${ready_within_s}s" >"$dir/check.log" 2>&1 || failed check "next-id has no IDs to give out"
}

ask() { curl --silent --show-error --fail-with-body --noproxy '*' --max-time 10 "$@"; }

take_one_each() {
    printf 'TCP          %s\n' "$(ask "http://$http/next-id")"
    printf 'Unix socket  %s\n' "$(ask --unix-socket "$socket" http://localhost/next-id)"
    printf 'next-id get  %s\n' "$("$program" get --socket "$socket")"
}

show() {
    cat <<END
next-id is ready. In another terminal, try

    curl http://$http/next-id
    curl 'http://$http/next-id?count=3'
    curl --unix-socket $socket http://localhost/next-id
    $(printf %q "$program") get --socket $socket -n 5
    curl http://$admin/status

and open http://$admin/ in a browser, to see how it is doing.

The log is $dir/next-id.log${data:+, the data of PostgreSQL are in $data}.
Ctrl-C stops what this script has started.
END
}

# --------------------------------------------------------------------------------------------------

exec 9>"$dir/lock"
flock -n 9 || die "already running: only one at a time works in $dir (--dir DIR is for a second one)"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

install_packages
build
make_run_dir
if [[ -n ${PG_HOST:-} ]]; then
    use_postgres
else
    for variable in "${!PG@}"; do unset "$variable"; done # libpq's own too
    start_postgres
fi
set_up_database
start_sidecar
if [[ $once == yes ]]; then
    take_one_each
    exit
fi
show
trap 'echo; say "Stopping ..."; exit 0' INT TERM HUP
wait -n "${pid_of[@]}" || true
is_running next-id || failed next-id "next-id has ended"
failed postgres "PostgreSQL has ended"
