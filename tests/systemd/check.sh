#!/usr/bin/env bash
# The unit in examples/systemd: systemd knows every line of it, and it gives the service few rights.
set -euo pipefail

unit=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/examples/systemd/next-id.service
exposure_max=20 # tenths; `systemd-analyze security` calls up to 20 "ok", and an ordinary service has about 95
command -v systemd-analyze >/dev/null || { echo "systemd-analyze is missing, which checks the unit: apt-get install systemd"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed "s,/usr/local/bin/next-id,$(command -v true)," "$unit" >"$work/next-id.service"

said=$(systemd-analyze verify --man=no "$work/next-id.service" 2>&1) || true
[[ -z $said ]] || { printf '%s\n' "$said" "systemd does not understand this unit."; exit 1; }

if grep -q '^ProcSubset=pid' "$unit"; then
    echo "ProcSubset=pid hides the boot's ID (/proc/sys/kernel/random/boot_id), without which no window is adopted."
    exit 1
fi

if grep -q '^DynamicUser=yes' "$unit"; then
    echo "DynamicUser= puts /run/next-id, and the socket in it, behind /run/private, which only root may enter."
    exit 1
fi

systemd-analyze security --offline=true --no-pager --threshold="$exposure_max" "$work/next-id.service" >"$work/rights" || {
    grep -E '^✗|exposure level' "$work/rights"
    echo "It has more rights than it needs."
    exit 1
}
tail -n 1 "$work/rights"
