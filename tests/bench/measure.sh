# shellcheck shell=bash
# The ways to measure. `measure_KIND ROUND ROW SERVER OPTION...` measures once and says so with `record`. Sourced by run.sh
# and plot.sh, behind servers.sh; they set $seconds and $connections.
# shellcheck disable=SC2154 # what those have set

# record ROUND ROW SERVER KEY=VALUE...: a line in $work/runs
record() {
    printf 'round=%s row=%s server=%s %s\n' "$1" "$2" "$3" "${*:4}" >>"$work/runs"
}

# value KEY: from $line
value() {
    local word
    for word in $line; do [[ $word != "$1="* ]] || { echo "${word#*=}"; return; }; done
}

calculate() { awk "BEGIN { printf \"%.${2:-3}f\", $1 }"; }

# CPU time so far, in clock ticks, of a process with all its threads, of its children (nginx and PostgreSQL work in those)
# and of those that have ended.
cpu_ticks() {
    { cat /proc/[0-9]*/stat 2>/dev/null || true; } | awk -v pid="$1" '
        { self = $1; sub(/^.*\) /, "") } # the name may hold anything; after it: state, parent, ..., utime, stime, of dead children
        self == pid || $2 == pid { ticks += $12 + $13 }
        self == pid { ticks += $14 + $15 }
        END { print ticks + 0 }'
}

# memory KEY SERVER: in bytes, VmRSS or RssAnon
memory() { awk -v key="$1:" '$1 == key { print $2 * 1024 }' "/proc/${pid_of[$2]}/status"; }

# load SERVER TRANSPORT OPTION...: a run of the load generator, and what the server's CPU and memory were, to $line. The
# connections are there before the CPU time is looked at.
load() {
    local server=$1 address target=() before output input
    case $2 in
        tcp) address=${tcp_of[$1]} ;;
        unix) address=${unix_of[$1]} ;;
        resp) address=${resp_of[$1]} ;;
    esac
    [[ $server != nginx-static ]] || target=(--target /static)
    coproc GENERATOR {
        "${on_load_core[@]}" "$programs/bench_load" "$address" --connections "$connections" --seconds "$seconds" \
            --on-word "${target[@]}" "${@:3}"
    }
    exec {output}<&"${GENERATOR[0]}" {input}>&"${GENERATOR[1]}"
    local generator=$GENERATOR_PID
    read -r -u "$output" line || die "the load generator failed on $server: ${*:3}"
    before=$(cpu_ticks "${pid_of[$server]}")
    echo go >&"$input"
    read -r -u "$output" line || die "the load generator failed on $server: ${*:3}"
    with_cpu "$(($(cpu_ticks "${pid_of[$server]}") - before))"
    exec {output}<&- {input}>&-
    wait "$generator" 2>/dev/null || true # it has said all; or bash has waited for it already
    ! has_ended "$server" || die "$server has ended: $(tail -n 5 "$work/$server.log")"
    line+=" rss_mib=$(calculate "$(memory VmRSS "$server") / 1048576" 1)"
}

# with_cpu TICKS: adds to $line what those mean for its answers
with_cpu() {
    local cpu_s
    cpu_s=$(calculate "$1 / $(getconf CLK_TCK)" 2)
    line+=" server_cpu_s=$cpu_s cpu_s_per_million=$(calculate "$cpu_s * 1e6 / ($(value 'done') + 1e-9)")"
}

# measure_http ROUND ROW SERVER TRANSPORT OPTION...
measure_http() {
    use "$3"
    case $3 in
        redis) measure_resp "$@" ;;
        *) load "${@:3}" && record "$1" "$2" "$3" "$line" ;;
    esac
}

# measure_incr ROUND ROW SERVER unix|resp OPTION...: INCR under our load generator, which costs less than redis-benchmark
measure_incr() {
    use "$3"
    load "${@:3:2}" --incr "$(key_of "$3")" "${@:5}" && record "$1" "$2" "$3" "$line"
}

# What INCR counts.
key_of() { [[ $1 == redis ]] && echo id || sequence_of "$1"; }

# measure_resp ROUND ROW SERVER TRANSPORT [--depth N]: INCR under redis-benchmark, on the same core as our load generator
measure_resp() {
    local at requests=100000 depth=1 before after
    use "$3"
    [[ $4 == tcp ]] && at=(-h 127.0.0.1 -p "${resp_of[$3]##*:}") || at=(-s "${unix_of[$3]}")
    [[ ${5:-} != --depth ]] || depth=$6 requests=1000000
    requests=$(calculate "$requests * $seconds" 0)
    before=$(cpu_ticks "${pid_of[$3]}")
    line=$("${on_load_core[@]}" redis-benchmark "${at[@]}" -c "$connections" -P "$depth" -n "$requests" --csv INCR "$(key_of "$3")" \
        2>"$work/redis-benchmark.log" | tail -n 1)
    after=$(cpu_ticks "${pid_of[$3]}")
    line=$(awk -F '","' -v n="$requests" '{ printf "rps=%s done=%d non_200=0 reconnects=0 seconds=%.3f p50_us=%.1f p99_us=%.1f",
        $2, n, n / $2, $5 * 1000, $7 * 1000 }' <<<"$line")
    with_cpu "$((after - before))"
    record "$1" "$2" "$3" "$line"
}

# measure_idle ROUND ROW SERVER TRANSPORT COUNT: the work of measure_http beside COUNT connections that have been used once
measure_idle() {
    local before bytes
    use "$3"
    before=$(memory VmRSS "$3")
    start idle "$programs/bench_load" "${tcp_of[$3]}" --connections "$5" --requests "$5" --hold \
        --await --seconds "$ready_within_s"
    wait_for idle grep -q "done=$5 " "$work/idle.log"
    bytes=$((($(memory VmRSS "$3") - before) / $5))
    load "$3" "$4"
    record "$1" "$2" "$3" "$line" "bytes_per_idle_connection=$((bytes > 0 ? bytes : 0))"
    stop idle
}

# measure_paced ROUND ROW SERVER TRANSPORT: at half of what next-id can do; a second of it first, for the policy to see it
measure_paced() {
    use "$3"
    if [[ -z ${half_of_full_load:-} ]]; then
        use next-id
        load next-id "$4"
        half_of_full_load=$(calculate "$(value rps) / 2" 0)
    fi
    seconds=$(calculate "$seconds < 1 ? $seconds : 2") load "$3" "$4" --rate "$half_of_full_load"
    load "$3" "$4" --rate "$half_of_full_load"
    record "$1" "$2" "$3" "$line"
}

# measure_batch ROUND ROW SERVER TRANSPORT COUNT FORMAT
measure_batch() {
    use "$3"
    load "$3" "$4" --target "/next-id?count=$5&format=$6"
    record "$1" "$2" "$3" "$line" "ids_per_second=$(calculate "$(value rps) * $5" 0)"
}

# measure_postgres ROUND ROW SERVER COUNT: what PostgreSQL spends on the IDs that a sidecar reserves, as fast as it can
measure_postgres() {
    local sequence before first after last
    use "$3"
    sequence=$(sequence_of "$3")
    first=$("${sql[@]}" -d bench -c "SELECT last_value FROM $sequence")
    before=$(cpu_ticks "${pid_of[postgres]}")
    connections=16 seconds=$(calculate "$seconds < 1 ? 1 : $seconds") load "$3" unix --target "/next-id?count=$4&format=ranges"
    after=$(cpu_ticks "${pid_of[postgres]}")
    last=$("${sql[@]}" -d bench -c "SELECT last_value FROM $sequence")
    record_postgres "$1" "$2" "$3" "$((last - first))" "$((after - before))" \
        "non_200=$(value non_200) done=$(value 'done')"
}

# measure_nextval ROUND ROW SERVER: one query for each ID
measure_nextval() {
    local before after count=$((16 * $(calculate "3000 * $seconds" 0)))
    use postgres
    echo "SELECT nextval('nextval_seq')" >"$work/nextval.sql"
    before=$(cpu_ticks "${pid_of[postgres]}")
    "${pgbench[@]}" -f "$work/nextval.sql" -c 16 -t "$((count / 16))" bench >"$work/pgbench.log" 2>&1 ||
        die "pgbench failed: $(tail -n 5 "$work/pgbench.log")"
    after=$(cpu_ticks "${pid_of[postgres]}")
    record_postgres "$1" "$2" "$3" "$count" "$((after - before))" "$(awk '/^tps/ { print "ids_per_second=" $3 }' "$work/pgbench.log")"
}

# record_postgres ROUND ROW SERVER IDS TICKS WORD...
record_postgres() {
    record "${@:1:3}" "ids=$4" "${@:6}" \
        "pg_cpu_s_per_million=$(calculate "($5 + 0.0) / $(getconf CLK_TCK) * 1e6 / ($4 + 1e-9)" 6)"
}

# measure_start ROUND ROW SERVER: from exec to the first ID, with PostgreSQL up and nothing to adopt; the memory of a sidecar
# as it is by default, and the size of the program. Of psql: from exec to the value of one nextval.
measure_start() {
    local environment begin end
    use postgres
    [[ -n ${start_sequence:-} ]] || { start_sequence=start_seq && make_sequence start_seq 1; }
    if [[ $3 == psql ]]; then
        begin=$(date +%s%N)
        "${sql[@]}" -d bench -c "SELECT nextval('$start_sequence')" >"$work/first-id.log"
        end=$(date +%s%N)
        record "$1" "$2" "$3" "first_id_ms=$(calculate "($end - $begin) / 1e6" 1)"
        return
    fi
    mapfile -t environment < <(next_id_environment "$start_sequence")
    begin=$(date +%s%N)
    start starting env "${environment[@]}" "$program" serve --http none --socket "$work/starting.sock" --admin none \
        --state-dir "$state_dir/starting-$1"
    "$programs/bench_load" "$work/starting.sock" --connections 1 --requests 1 --await >"$work/first-id.log" ||
        die "no first ID: $(tail -n 5 "$work/starting.log")"
    end=$(date +%s%N)
    strip -o "$work/stripped" "$program"
    record "$1" "$2" "$3" "first_id_ms=$(calculate "($end - $begin) / 1e6" 1)" \
        "rss_anon_mib=$(calculate "$(memory RssAnon starting) / 1048576" 2)" \
        "stripped_mib=$(calculate "$(stat -c %s "$work/stripped") / 1048576" 2)"
    stop starting
}

# measure_micro ROUND ROW SERVER: all of bench_micro; it names its rows itself
measure_micro() {
    local min_time
    min_time=$(calculate "$seconds / 20")
    "${on_all_cores[@]}" "$programs/bench_micro" --benchmark_min_time="$min_time" --benchmark_format=csv \
        2>"$work/micro.log" >"$work/micro.csv" || die "bench_micro failed: $(tail -n 5 "$work/micro.log")"
    awk -F , -v round="$1" '
        header && $7 > 0 { gsub(/"/, "", $1); split($1, name, "/"); printf "round=%s row=%s server=%s ns=%.3f\n", round, name[1], name[2], 1e9 / $7 }
        $1 == "name" { header = 1 }' "$work/micro.csv" >>"$work/runs"
}
