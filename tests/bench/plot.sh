#!/usr/bin/env bash
# Draws growth.svg: how throughput and CPU per answer grow with connections, with the size of a batch and with the number
# of sequences. Takes about four minutes, with the machine to itself. Needs gnuplot (Debian: gnuplot-nox).
set -euo pipefail

usage() {
    echo "usage: tests/bench/plot.sh [SVG [ROUNDS [SECONDS]]]    (tests/bench/growth.svg, 3 rounds, 1 s for each point)"
}
[[ ${1:-} != -* ]] || { usage; exit 64; }
svg=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/growth.svg}") rounds=${2:-3} seconds=${3:-1} connections=64

# shellcheck source-path=SCRIPTDIR source=servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source-path=SCRIPTDIR source=measure.sh
source "$here/measure.sh"
command -v gnuplot >/dev/null || die "gnuplot is missing: apt-get install gnuplot-nox"

measure_connections() {
    local count server
    for count in 1 4 16 64 256 1024 4096 10000; do
        for server in next-id bare; do
            connections=$count load "$server" tcp
            record "$1" "connections-$count" "$server" "$line"
        done
    done
}

measure_batches() {
    local count
    for count in 1 10 100 1000 10000 100000 1000000; do
        measure_batch "$1" "ranges-$count" next-id tcp "$count" ranges
        ((count > 10000)) || measure_batch "$1" "ids-$count" next-id tcp "$count" json
    done
}

# A sidecar of 64 sequences, the most it takes, of which a client uses the first few. No request is like the one before it, whatever
# their number: so that all of them are parsed.
measure_sequences() {
    local count options
    for count in 1 2 4 8 16 32 64; do
        mapfile -t options < <(printf -- '--target\n/next-id/%s\n' "${sequences[@]:0:count}")
        load next-id-sequences tcp --traced "${options[@]}"
        record "$1" "sequences-$count" next-id-sequences "$line"
    done
}

start_sequences() {
    local name
    use postgres
    find_free_port
    tcp_of[next-id-sequences]=127.0.0.1:$free_port unix_of[next-id-sequences]=$work/sequences.sock
    mapfile -t sequences < <(printf 'seq_%03d\n' {0..63})
    for name in "${sequences[@]}"; do make_sequence "$name" "$endless_block"; done
    run_next_id next-id-sequences "$(IFS=, && echo "${sequences[*]}")" --increment block --window-min "$endless_block"
    for name in "${sequences[@]}"; do
        wait_for next-id-sequences answers "http://${tcp_of[next-id-sequences]}/next-id/$name"
    done
}

# points PLOT SERVER FIGURE: the medians, x and y, to the file of this name
points() {
    sed -nE "s/^.* row=$1-([0-9]+) server=$2 (.* )?$3=([0-9.]+).*$/\1 \3/p" "$work/runs" | sort -k1,1n -k2,2g |
        awk -v rounds="$rounds" '(NR - 1) % rounds == int(rounds / 2)' >"$work/$1.$2.$3"
}

choose_cores || true
set_the_stage
use next-id
use bare
start_sequences
for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds ..."
    measure_connections "$round"
    measure_batches "$round"
    measure_sequences "$round"
done
for figure in rps cpu_s_per_million; do
    points connections next-id "$figure"
    points connections bare "$figure"
    points sequences next-id-sequences "$figure"
    for plot in ids ranges; do points "$plot" next-id "$figure"; done
done
for plot in ids ranges; do points "$plot" next-id ids_per_second; done

machine="$(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores, $(date -u +%F), $(git -C "$root" describe --always --dirty)"
cd "$work"
gnuplot <<END
set terminal svg size 1320,760 font 'sans-serif,13' background rgb 'white'
set output '$svg'
# The colours of Okabe and Ito: told apart by the colour-blind too; the dashes tell them in print.
set style line 1 lc rgb '#0072b2' lw 2.5 pt 7 ps 0.7
set style line 2 lc rgb '#009e73' lw 2.5 pt 5 ps 0.7 dt 2
set style line 4 lc rgb '#d55e00' lw 2.5 pt 11 ps 0.8 dt 4
set style line 9 lc rgb '#dddddd' lw 1
set grid ls 9
set border 3
set tics nomirror
set label 1 '$machine; medians of $rounds rounds of $seconds s' at screen 0.985,0.015 right tc rgb '#666666'
set multiplot layout 2,3 margins 0.065,0.985,0.11,0.94 spacing 0.085,0.17
set logscale x
set key bottom right samplen 3
set format y '%.0s%c'
set yrange [0:*]

set title 'Connections, one request in flight each'
set ylabel 'answers per second'
set xlabel 'connections'
set xtics ('1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000)
plot 'connections.next-id.rps' with linespoints ls 1 title 'next-id', \
     'connections.bare.rps' with linespoints ls 4 title 'a bare epoll loop'
unset label 1

set title 'IDs in an answer'
set ylabel 'IDs per second'
set xlabel 'count'
set logscale y
set yrange [*:*]
set xtics ('1' 1, '100' 100, '10,000' 10000, '1,000,000' 1000000)
plot 'ids.next-id.ids_per_second' with linespoints ls 1 title 'as numbers', \
     'ranges.next-id.ids_per_second' with linespoints ls 2 title 'as ranges'
unset logscale y
set yrange [0:*]

set title 'Sequences, used in turn'
set ylabel 'answers per second'
set xlabel 'sequences'
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64)
unset key
plot 'sequences.next-id-sequences.rps' with linespoints ls 1

set format y '%g'
unset title
set ylabel 'CPU time of an answer, microseconds'
set xlabel 'connections'
set xtics ('1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000)
plot 'connections.next-id.cpu_s_per_million' with linespoints ls 1, 'connections.bare.cpu_s_per_million' with linespoints ls 4

set xlabel 'count'
set logscale y
set yrange [*:*]
set xtics ('1' 1, '100' 100, '10,000' 10000, '1,000,000' 1000000)
plot 'ids.next-id.cpu_s_per_million' with linespoints ls 1, 'ranges.next-id.cpu_s_per_million' with linespoints ls 2
unset logscale y
set yrange [0:*]

set xlabel 'sequences'
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64)
plot 'sequences.next-id-sequences.cpu_s_per_million' with linespoints ls 1
END
echo "drawn: $svg"
