#!/usr/bin/env bash
# Installs the Debian packages in a clean Debian 12 (debootstrap), boots it as a container (systemd-nspawn), and has its systemd
# start the service, which takes IDs from a PostgreSQL outside. The folder of the packages is the argument. As root.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=$(cd "${1:?tests/package/clean_root.sh PACKAGES}" && pwd)
((EUID == 0)) || { echo "Only root can make and boot a clean Debian."; exit 1; }
for program in debootstrap systemd-nspawn; do
    command -v "$program" >/dev/null || { echo "$program is missing: apt-get install debootstrap systemd-container"; exit 1; }
done
work=$(mktemp -d) postgres=
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    [[ -z $postgres ]] || kill -INT "$postgres" 2>/dev/null || true
    [[ -z $postgres ]] || wait "$postgres" || true
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT
root=$work/root

echo "-- a clean Debian"
debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$root" >"$work/debootstrap.log" 2>&1 ||
    { tail -n 20 "$work/debootstrap.log"; echo "debootstrap failed. Is the network there?"; exit 1; }

echo "-- installing"
cp "$packages"/*.deb "$root/srv/"
chroot "$root" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends /srv/*.deb' >"$work/install.log" 2>&1 ||
    { tail -n 20 "$work/install.log"; exit 1; }
gcc -std=c99 "$here/consumer/program.c" -I"$root/usr/include" "$(echo "$root"/usr/lib/*/libnext_id.so)" -o "$root/usr/local/bin/consumer"

echo "-- PostgreSQL"
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
chmod 755 "$work" && install -d -o postgres "$work/data" "$work/pg"
as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
"${as_postgres[@]}" "$bin/initdb" -D "$work/data" -A trust --no-locale >"$work/initdb.log"
"${as_postgres[@]}" "$bin/postgres" -D "$work/data" -c listen_addresses= -c unix_socket_directories="$work/pg" >"$work/postgres.log" 2>&1 &
postgres=$!
sql() { psql -h "$work/pg" -U postgres -X -q -v ON_ERROR_STOP=1 -d postgres "$@"; }
until sql -c '' 2>/dev/null; do
    kill -0 "$postgres" 2>/dev/null || { cat "$work/postgres.log"; exit 1; }
    sleep 0.1
done
# The scripts that came with the package.
sql -f "$root/usr/share/next-id/sql/sequence.sql" -f "$root/usr/share/next-id/sql/role.sql" >/dev/null

echo "-- booting"
install -m 600 /dev/stdin "$root/etc/next-id/password" <<<none
openssl rand -hex 32 >"$root/etc/next-id/tokens"
printf '%s\n' PG_HOST=/pg PG_USER=next_id PG_DATABASE=postgres NEXT_ID_HTTP=none NEXT_ID_ADMIN=none >>"$root/etc/next-id/environment"
cat >"$root/check" <<'END'
#!/bin/bash
# In the container: the story of a service, from its start to its end.
set -eux
[[ $(systemctl is-enabled next-id) == disabled ]]  # nothing runs before it was configured
systemctl enable --now next-id
[[ $(next-id get -n 3 | tr '\n' ' ') == '1 2 3 ' ]]
somebody() { setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"; }
[[ $(somebody consumer /run/next-id/next-id.sock) == 4 ]]
main() { systemctl show -P MainPID next-id; }
[[ $(stat -c %U /proc/$(main)) == next-id ]]
[[ $(stat -c '%U %a' /run/next-id/state) == 'next-id 700' ]]
setpriv --reuid=next-id --regid=next-id --clear-groups cat /etc/next-id/tokens
if somebody ls /etc/next-id; then exit 1; fi

before=$(main)
kill -KILL "$before"
while [[ $(systemctl is-active next-id) != active || $(main) == "$before" ]]; do sleep 0.1; done
[[ $(somebody next-id get) == 5 ]]

before=$(main)
chmod 0755 /etc/next-id
dpkg -i /srv/next-id_*.deb                          # an upgrade, to the same
[[ $(main) != "$before" ]]
[[ $(next-id get) == 6 ]]
grep -x PG_HOST=/pg /etc/next-id/environment        # the operator's
[[ $(stat -c %a /etc/next-id) == 755 ]]             # the same
rm /etc/next-id/tokens

dpkg --remove next-id
[[ $(systemctl is-active next-id) != active && ! -e /usr/bin/next-id && -e /etc/next-id/environment ]]
dpkg --purge next-id
[[ ! -e /etc/next-id ]]
dpkg --purge libnext-id-dev libnext-id0
[[ -z $(find / -xdev -path /proc -prune -o -name '*next[_-]id*' ! -path '/srv/*' ! -path '/var/log/*' -print) ]]
END
chmod +x "$root/check"
cat >"$root/etc/systemd/system/check.service" <<'END'
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'if /check >/said 2>&1; then echo passed >/outcome; fi; journalctl -u next-id >/journal 2>&1; systemctl poweroff --force'
[Install]
WantedBy=multi-user.target
END
chroot "$root" systemctl enable check >"$work/enable.log" 2>&1
timeout 180 systemd-nspawn --quiet --directory="$root" --machine="next-id-$$" --register=no --keep-unit --bind="$work/pg:/pg" --console=pipe --boot \
    >"$work/boot.log" 2>&1 </dev/null || true
[[ -e $root/outcome ]] && { echo "-- passed"; exit 0; }
tail -n 30 "$work/boot.log"
cat "$root/said" "$root/journal" 2>/dev/null
echo "The story above broke off."
exit 1
