# Reads one line of key=value for each run and prints the table of medians, then the warnings. Ratios are taken within a
# round, between runs that lie seconds apart, and only then is their median taken: so the machine's moods cancel out.
# The last column says what the speed was limited by: the server, the load generator (then requests/s of two servers say
# little, and CPU/M says more), or neither, because somebody else had the cores.
# With -v summary=FILE each line of the table is also appended there as JSON.

BEGIN { noisy = 0.15; at_its_limit = 0.9; disturbed_below = 0.85 }

{
    delete run
    for (i = 1; i <= NF; i++) { split($i, pair, "="); run[pair[1]] = pair[2] }
    if (!(run["row"] in row_seen)) { row_seen[run["row"]] = 1; row_name[++rows] = run["row"] }
    if (!(run["server"] in server_seen)) { server_seen[run["server"]] = 1; server_name[++servers] = run["server"] }
    if (run["round"] > rounds) rounds = run["round"]
    key = run["row"] SUBSEP run["server"] SUBSEP run["round"]
    rps[key] = run["rps"]
    p50[key] = run["p50_us"]
    p99[key] = run["p99_us"]
    busy[key] = run["server_cpu_s"] / run["seconds"]
    load_busy[key] = run["load_cpu_s"] / run["seconds"]
    if (busy[key] < disturbed_below && load_busy[key] < disturbed_below) disturbed[run["row"]]++
    if (run["done"] > 0) cpu[key] = run["server_cpu_s"] / run["done"] * 1e6
    if (run["done"] == 0 || run["non_200"] > 0 || run["reconnects"] > 0)
        warn(run["server"] ", " run["row"] ", round " run["round"] ": " run["done"] " answers, " run["non_200"] \
             " refused, " run["reconnects"] " reconnects; its figures are worth nothing")
}

END {
    format = "%-8s %-13s %10s %8s %8s %8s | %8s %8s | %9s %9s | %s\n"
    printf format, "", "", "", "", "", "", "req/s to", "CPU/M to", "req/s to", "CPU/M to", ""
    printf format, "work", "server", "req/s", "p50 us", "p99 us", "CPU s/M", "bare", "bare", "nginx-lua", "nginx-lua",
        "limit"
    for (r = 1; r <= rows; r++) {
        for (s = 1; s <= servers; s++) line(row_name[r], server_name[s])
        judge(row_name[r])
    }
    for (w = 1; w <= warnings; w++) print (w == 1 ? "\n" : "") "warning: " warning[w]
}

function warn(text) { warning[++warnings] = text }

function line(row, server,    speed, cost, half, slow, speed_bare, cost_bare, speed_lua, cost_lua, limit) {
    speed = median(rps, row, server); cost = median(cpu, row, server)
    half = median(p50, row, server); slow = median(p99, row, server)
    speed_bare = ratio(rps, row, server, "bare"); cost_bare = ratio(cpu, row, server, "bare")
    speed_lua = ratio(rps, row, server, "nginx-lua"); cost_lua = ratio(cpu, row, server, "nginx-lua")
    limit = median(busy, row, server) >= at_its_limit ? "server" : \
        median(load_busy, row, server) >= at_its_limit ? "load" : "neither"
    printf "%-8s %-13s %10.0f %8.0f %8.0f %8.2f | %8.2f %8.2f | %9.2f %9.2f | %s\n", row, server, speed, half, slow,
        cost, speed_bare, cost_bare, speed_lua, cost_lua, limit
    if (summary != "")
        printf "{\"kind\":\"median\",\"row\":\"%s\",\"server\":\"%s\",\"rps\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f," \
            "\"cpu_s_per_million\":%.3f,\"rps_to_bare\":%.3f,\"cpu_to_bare\":%.3f,\"rps_to_nginx_lua\":%.3f," \
            "\"cpu_to_nginx_lua\":%.3f,\"limit\":\"%s\"}\n", row, server, speed, half, slow, cost,
            speed_bare, cost_bare, speed_lua, cost_lua, limit >> summary
}

# The bare server does the same in every round: what its figures spread over is the machine's doing.
function judge(row,    round, value, least, most, spread) {
    for (round = 1; round <= rounds; round++) {
        value = rps[row, "bare", round]
        if (round == 1 || value < least) least = value
        if (round == 1 || value > most) most = value
    }
    if (disturbed[row] > 0)
        warn(row ": in " disturbed[row] " of " rounds * servers " runs neither the server nor the load generator had a" \
             " core to itself: something else runs on this machine")
    if (rounds < 2) { warn(row ": one round says nothing about noise"); return }
    spread = (most - least) / median(rps, row, "bare")
    if (spread > noisy)
        warn(row ": TOO NOISY to trust: the bare server's req/s spread over " int(spread * 100) " % of their median" \
             " (more than " noisy * 100 " %)")
}

function ratio(values, row, server, other,    round, count, list) {
    for (round = 1; round <= rounds; round++)
        if (values[row, other, round] > 0) list[++count] = values[row, server, round] / values[row, other, round]
    return middle(list, count)
}

function median(values, row, server,    round, count, list) {
    for (round = 1; round <= rounds; round++)
        if ((row, server, round) in values) list[++count] = values[row, server, round]
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
