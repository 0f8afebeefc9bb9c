# Reads the targets, then one line of key=value for each run, and prints the tables of medians, the targets, and the
# warnings. Ratios are taken within a round, between runs that lie seconds apart, and only then is their median taken: so
# the machine's moods cancel out.
# With -v summary=FILE each line of the tables is also appended there as JSON.

BEGIN { noisy = 0.15; at_its_limit = 0.9; disturbed_below = 0.85 }

FNR == 1 { ++files }
files == 1 { if (NF > 0 && $1 !~ /^#/) target[++targets] = $0; next }

{
    delete run
    for (i = 1; i <= NF; i++) { split($i, pair, "="); run[pair[1]] = pair[2] }
    name = run["row"] SUBSEP run["server"]
    if (!(run["row"] in row_seen)) { row_seen[run["row"]] = 1; row_name[++rows] = run["row"] }
    if (!(name in line_seen)) { line_seen[name] = 1; line_name[++lines] = name }
    if (run["round"] > rounds) rounds = run["round"]
    if ("load_cpu_s" in run) {
        run["busy"] = run["server_cpu_s"] / run["seconds"]
        run["load_busy"] = run["load_cpu_s"] / run["seconds"]
        if (run["busy"] < disturbed_below && run["load_busy"] < disturbed_below) disturbed[run["row"]]++
    }
    for (figure in run) {
        value[name, figure, run["round"]] = run[figure]
        has[name, figure] = 1
    }
    if (("done" in run && run["done"] == 0) || run["non_200"] > 0 || run["reconnects"] > 0)
        warn(run["server"] ", " run["row"] ", round " run["round"] ": " run["done"] " answers, " run["non_200"] + 0 \
             " refused, " run["reconnects"] + 0 " reconnects; its figures are worth nothing")
}

END {
    print_requests()
    print_figures()
    print_targets()
    for (r = 1; r <= rows; r++) {
        judge(row_name[r])
        if (disturbed[row_name[r]] > 0) alone = alone " " row_name[r] " (" disturbed[row_name[r]] ")"
    }
    if (alone != "")
        warn("something else runs on this machine: neither the server nor the load generator had a core to itself in so" \
             " many runs of" alone)
    if (rounds < 2) warn("one round says nothing about noise")
    for (w = 1; w <= warnings; w++) print (w == 1 ? "\n" : "") "warning: " warning[w]
}

function warn(text) { warning[++warnings] = text }

function print_requests(    n, name, part, printed) {
    for (n = 1; n <= lines; n++) {
        name = line_name[n]
        if (!((name, "rps") in has)) continue
        if (!printed++)
            printf "%-12s %-17s %9s %7s %7s %8s %8s %7s | %8s %8s | %s\n", "work", "server", "req/s", "p50 us", "p99 us",
                "p99.9 us", "CPU s/M", "MiB", "of bare", "CPU/M", "limit"
        split(name, part, SUBSEP)
        printf "%-12s %-17s %9.0f %7.0f %7.0f %8s %8.2f %7s | %8s %8s | %s\n", part[1], part[2], median(name, "rps"),
            median(name, "p50_us"), median(name, "p99_us"), shown(name, "p999_us", "%.0f"), median(name, "cpu_s_per_million"),
            shown(name, "rss_mib", "%.1f"), of_bare(name, part[1], "rps"), of_bare(name, part[1], "cpu_s_per_million"),
            limit_of(name)
        summarize(name, part[1], part[2])
    }
}

# All that is no figure of requests, one a line.
function print_figures(    n, name, part, printed, i, list, count) {
    count = split("ns ids_per_second pg_cpu_s_per_million bytes_per_idle_connection first_id_ms rss_anon_mib stripped_mib", list, " ")
    for (n = 1; n <= lines; n++) {
        name = line_name[n]
        split(name, part, SUBSEP)
        for (i = 1; i <= count; i++) {
            if (!((name, list[i]) in has)) continue
            if (!printed++) printf "\n%-17s %-21s %-26s %14s\n", "work", "server", "figure", "median"
            printf "%-17s %-21s %-26s %14.6g\n", part[1], part[2], list[i], median(name, list[i])
        }
        if (!((name, "rps") in has)) summarize(name, part[1], part[2])
    }
}

function print_targets(    t, part, count, own, other, reached, met, printed) {
    for (t = 1; t <= targets; t++) {
        count = split(target[t], part, " ")
        own = part[1] SUBSEP part[2]
        other = part[6] SUBSEP part[7]
        if (!((own, part[3]) in has) || (count == 7 && !((other, part[3]) in has))) continue
        reached = count == 7 ? ratio(own, other, part[3]) : median(own, part[3])
        met = part[4] == ">=" ? reached >= part[5] + 0 : reached <= part[5] + 0
        if (!printed++) printf "\n%-17s %-21s %-26s %-26s %10s %13s\n", "work", "server", "figure", "divided by that of", "reached", "target"
        printf "%-17s %-21s %-26s %-26s %10.4g %2s %10s %s\n", part[1], part[2], part[3],
            part[1] == part[6] ? part[7] : part[6] " " part[7], reached, part[4], part[5], met ? "" : "MISSED"
        if (summary != "")
            printf "{\"kind\":\"target\",\"row\":\"%s\",\"server\":\"%s\",\"figure\":\"%s\",\"over\":\"%s %s\"," \
                "\"reached\":%.6g,\"bound\":\"%s %s\",\"met\":%s}\n", part[1], part[2], part[3], part[6], part[7], reached,
                part[4], part[5], met ? "true" : "false" >> summary
    }
}

function summarize(name, row, server,    figure, key, part) {
    if (summary == "") return
    printf "{\"kind\":\"median\",\"row\":\"%s\",\"server\":\"%s\"", row, server >> summary
    for (key in has) {
        split(key, part, SUBSEP)
        if (part[1] == row && part[2] == server && part[3] !~ /^(round|row|server)$/)
            printf ",\"%s\":%.6g", part[3], median(name, part[3]) >> summary
    }
    print "}" >> summary
}

function shown(name, figure, format) { return (name, figure) in has ? sprintf(format, median(name, figure)) : "" }

function of_bare(name, row, figure) {
    return ((row, "bare", figure) in has) ? sprintf("%.2f", ratio(name, row SUBSEP "bare", figure)) : ""
}

# What the speed was limited by: the server, the load generator (then the requests per second of two servers say little, and
# the CPU time says more), or neither, because somebody else had the cores.
function limit_of(name) {
    if (!((name, "busy") in has)) return ""
    return median(name, "busy") >= at_its_limit ? "server" : median(name, "load_busy") >= at_its_limit ? "load" : "neither"
}

# The bare server does the same in every round: what its figures spread over is the machine's doing.
function judge(row,    round, rps, least, most, spread) {
    if (rounds < 2 || !((row, "bare", "rps") in has)) return
    for (round = 1; round <= rounds; round++) {
        rps = value[row, "bare", "rps", round]
        if (round == 1 || rps < least) least = rps
        if (round == 1 || rps > most) most = rps
    }
    spread = (most - least) / median(row SUBSEP "bare", "rps")
    if (spread > noisy)
        warn(row ": TOO NOISY to trust: the bare server's req/s spread over " int(spread * 100) " % of their median" \
             " (more than " noisy * 100 " %)")
}

function ratio(own, other, figure,    round, count, list) {
    for (round = 1; round <= rounds; round++)
        if ((own, figure, round) in value && (other, figure, round) in value && value[other, figure, round] > 0)
            list[++count] = value[own, figure, round] / value[other, figure, round]
    return middle(list, count)
}

function median(name, figure,    round, count, list) {
    for (round = 1; round <= rounds; round++)
        if ((name, figure, round) in value) list[++count] = value[name, figure, round]
    return middle(list, count)
}

function middle(list, count,    i, j, value) {
    if (count == 0) return 0
    for (i = 2; i <= count; i++) {
        value = list[i]
        for (j = i - 1; j >= 1 && list[j] + 0 > value + 0; j--) list[j + 1] = list[j]
        list[j + 1] = value
    }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}
