#!/usr/bin/env bash
# Draws sql/capacity.svg from what the fleet simulation says. Takes minutes; what is in DIR already is not run again.
# Needs gnuplot (Debian: gnuplot-nox).
set -euo pipefail
if (($# != 2)); then
    echo "usage: tests/fleet/plot.sh FLEET DIR    FLEET: the built program; DIR: where its CSV goes" >&2
    exit 64
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
fleet=$1 dir=$2
mkdir -p "$dir"

# run NAME ARGUMENT...
run() {
    [[ -s $dir/$1.csv ]] && return
    "$fleet" "${@:2}" >"$dir/$1.part"
    mv "$dir/$1.part" "$dir/$1.csv"
}
run steady steady
run shipped outage
run naive outage --manner naive --connections 12000

# series MODE DEMAND: the lines of that kind of fleet
for kind in step,1000 step,50000 block,1000 block,50000; do
    grep "^$kind," "$dir/steady.csv" >"$dir/$kind.series"
done

cd "$dir"
gnuplot <<END
set terminal svg size 1320,760 font 'sans-serif,13' background rgb 'white'
set output '$root/sql/capacity.svg'
set datafile separator ','
# The colours of Okabe and Ito: told apart by the colour-blind too; the dashes tell them in print.
set style line 1 lc rgb '#0072b2' lw 2.5 pt 7 ps 0.7
set style line 2 lc rgb '#009e73' lw 2.5 pt 5 ps 0.7 dt 2
set style line 3 lc rgb '#e69f00' lw 2.5 pt 9 ps 0.8
set style line 4 lc rgb '#d55e00' lw 2.5 pt 11 ps 0.8 dt 4
set style line 9 lc rgb '#dddddd' lw 1
set grid ls 9
set border 3
set tics nomirror
set multiplot layout 2,3 margins 0.065,0.985,0.075,0.94 spacing 0.085,0.17

set logscale xy
set xrange [0.8:13000]
set xlabel 'sidecars'
set xtics ('1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000)
set key top left samplen 3 reverse Left

set title 'Statements'
set ylabel 'per second'
set yrange [0.01:60000]
set ytics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000)
plot 'step,50000.series' using 3:4 with linespoints ls 4 title 'step, 50,000 IDs/s each', \
     'step,1000.series' using 3:4 with linespoints ls 3 title 'step, 1,000 IDs/s each', \
     'block,1000.series' using 3:4 with linespoints ls 1 title 'block, 1,000 IDs/s each', \
     'block,50000.series' using 3:4 with linespoints ls 2 title 'block, 50,000 IDs/s each'

set title 'CPU of PostgreSQL (4 cores)'
set ylabel 'per cent of the server'
set yrange [0.003:400]
set ytics ('0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10, '100' 100)
unset key
plot 'step,50000.series' using 3:10 with linespoints ls 4, 'step,1000.series' using 3:10 with linespoints ls 3, \
     'block,1000.series' using 3:10 with linespoints ls 1, 'block,50000.series' using 3:10 with linespoints ls 2

set title 'Connections made'
set ylabel 'per second'
set yrange [0.005:300]
plot 'step,50000.series' using 3:6 with linespoints ls 4, 'step,1000.series' using 3:6 with linespoints ls 3, \
     'block,1000.series' using 3:6 with linespoints ls 1, 'block,50000.series' using 3:6 with linespoints ls 2

unset logscale
set xrange [-30:180]
set xtics autofreq 30
set xlabel 'seconds after PostgreSQL went away, for 60 s (grey)'
set object 1 rectangle from 0, graph 0 to 60, graph 1 fc rgb '#eeeeee' fs solid noborder behind
set ytics ('0' 0, '2,000' 2000, '4,000' 4000, '6,000' 6000, '8,000' 8000, '10,000' 10000, '12,000' 12000)
set key top right samplen 3 noreverse Right
set title 'Connections tried and made, 10,000 sidecars'
set ylabel 'per second'
set yrange [0:12500]
plot 'naive.csv' every ::1 using 1:2 with lines ls 4 lw 1.5 dt 1 title 'tried, naive: retries every second', \
     'shipped.csv' every ::1 using 1:2 with lines ls 1 title 'tried, next-id', \
     'shipped.csv' every ::1 using 1:5 with lines ls 2 title 'made, next-id'

set title 'Windows below the reserve, 10,000 sidecars'
set ylabel 'sidecars'
set yrange [0:12500]
plot 'naive.csv' every ::1 using 1:9 with lines ls 4 dt 1 title 'naive', \
     'shipped.csv' every ::1 using 1:9 with lines ls 1 title 'next-id'

set title 'CPU of PostgreSQL (4 cores), 10,000 sidecars'
set ylabel 'per cent of the server'
set yrange [0:125]
set ytics 20
plot 'naive.csv' every ::1 using 1:8 with lines ls 4 dt 1 title 'naive', \
     'shipped.csv' every ::1 using 1:8 with lines ls 1 title 'next-id'
END
