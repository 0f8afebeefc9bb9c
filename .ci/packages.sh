# shellcheck shell=bash
# What next-id needs of Debian 12, by purpose, and how it is installed. Sourced by the scripts that need something.

# shellcheck disable=SC2034 # read by those scripts
{
    packages_to_build=(g++ cmake ninja-build pkg-config libuv1-dev libpq-dev libssl-dev node-llhttp rapidjson-dev libcli11-dev libspdlog-dev prometheus-cpp-dev)
    packages_to_test=(libboost-test-dev libbenchmark-dev valgrind postgresql pgbouncer curl openssl spin relacy-dev systemd nginx-light prometheus chromium fonts-dejavu-core
        redis-tools libhiredis-dev python3 python3-redis nodejs dpkg-dev file)
    command -v npm >/dev/null || packages_to_test+=(npm) # Debian has it apart, others within nodejs
    packages_to_test_long=(debootstrap systemd-container)
    packages_for_pods=(podman runc catatonit busybox-static iproute2 ca-certificates python3-yaml)
    packages_for_examples=(gcc ruby php-cli php-curl golang-go python3-sqlalchemy python3-psycopg2 python3-django python3-jsonschema)
    command -v rustc >/dev/null || packages_for_examples+=(rustc)
    packages_for_examples_long=(openjdk-17-jdk-headless) # 120 MB
    packages_to_bench=(libboost-test-dev libbenchmark-dev postgresql curl nginx-light libnginx-mod-http-lua redis-server redis-tools)
    packages_to_fuzz=(libboost-test-dev clang-16 libclang-rt-16-dev) # clang 14 does not know std::source_location
}

# need PACKAGE... installs those that are missing, as root or with sudo. No server of theirs is started, and PostgreSQL's
# packages make no cluster, now or at the next boot: whoever needs a server starts one of its own.
need() (
    say() { printf '%s\n' "$*" >&2; }
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "This is not Debian: taking it that what these packages have is there: $*"
        exit 0
    fi
    missing=()
    for package; do
        [[ " ${missing[*]} " != *" $package "* ]] || continue
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] || missing+=("$package")
    done
    ((${#missing[@]})) || exit 0

    as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || { say "Missing, and only root can install them: apt-get install ${missing[*]}"; exit 1; }
        as_root=(sudo)
    fi
    log=$(mktemp)
    guards=()
    # shellcheck disable=SC2317 # called by the trap
    clean_up() {
        ((${#guards[@]} == 0)) || "${as_root[@]}" rm -f "${guards[@]}"
        rm -f "$log"
    }
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    guard() { # guard FILE MODE TEXT: a file that is there while packages are installed
        [[ ! -e $1 ]] || return 0
        guards+=("$1")
        "${as_root[@]}" mkdir -p "${1%/*}"
        printf '%b\n' "$3" | "${as_root[@]}" tee "$1" >/dev/null
        "${as_root[@]}" chmod "$2" "$1"
    }
    guard /usr/sbin/policy-rc.d 755 '#!/bin/sh\nexit 101'
    guard /etc/postgresql-common/createcluster.d/next-id.conf 644 'create_main_cluster = false'

    say "Installing ${missing[*]} ..."
    if ! {
        "${as_root[@]}" apt-get -q update
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qy -o DPkg::Lock::Timeout=300 install --no-install-recommends "${missing[@]}"
    } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        say "apt-get failed (above). Is the network there? By hand: apt-get install ${missing[*]}"
        exit 1
    fi
)
