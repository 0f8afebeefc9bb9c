#!/usr/bin/env bash
# What is installed, and what others make of it: the files of `cmake --install`, programs that find the client library by CMake and
# by pkg-config, and the Debian packages. The build to be installed is the argument. With NEXT_ID_LONG=1 the packages are
# installed, used and removed in a clean Debian made by debootstrap (as root, with the network).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:?tests/package/check.sh BUILD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -nE 's/^project\(next-id VERSION ([0-9.]+).*/\1/p' "$root/CMakeLists.txt")
libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")
failures=0

ok() { printf 'ok    %s\n' "$1"; }
not_ok() { printf 'FAIL  %s\n' "$1" && ((++failures)); }
# check WHAT COMMAND...: passes if the command does, and shows what it said if not
check() {
    if "${@:2}" >"$work/said" 2>&1; then
        ok "$1"
    else
        not_ok "$1"
        cat "$work/said"
    fi
}
# expect WHAT IS WANTED
expect() {
    if [[ $2 == "$3" ]]; then
        ok "$1"
    else
        not_ok "$1"
        diff <(printf '%s\n' "$3") <(printf '%s\n' "$2") || true
    fi
}

prefix=$work/prefix
check "it installs" cmake --install "$build" --prefix "$prefix"
expect "its files" "$(cd "$prefix" && find . ! -type d | sort)" "$(sort <<END
./bin/next-id
./include/next_id/client.h
./include/next_id/id_pool.h
./include/next_id/next_id.h
./lib/systemd/system/next-id.service
./$libdir/cmake/next_id/next_id-config-version.cmake
./$libdir/cmake/next_id/next_id-config.cmake
./$libdir/cmake/next_id/next_id-targets-release.cmake
./$libdir/cmake/next_id/next_id-targets.cmake
./$libdir/libnext_id.a
./$libdir/libnext_id.so
./$libdir/libnext_id.so.${version%%.*}
./$libdir/libnext_id.so.$version
./$libdir/pkgconfig/next_id.pc
./share/doc/libnext-id-dev/README.md
./share/doc/libnext-id-dev/copyright
./share/doc/libnext-id${version%%.*}/copyright
./share/doc/next-id/README.md
./share/doc/next-id/SECURITY.md
./share/doc/next-id/copyright
./share/doc/next-id/protocol/README.md
./share/doc/next-id/protocol/openapi.yaml
./share/doc/next-id/sql/README.md
$(cd "$root" && printf './share/next-id/%s\n' sql/*.sql)
END
)"
expect "the service runs the program that was installed" "$(sed -n 's/^ExecStart=//p' "$prefix/lib/systemd/system/next-id.service")" "$prefix/bin/next-id serve"

library=$prefix/$libdir/libnext_id.so
expect "the library's name" "$(objdump -p "$library" | sed -n 's/ *SONAME *//p')" "libnext_id.so.${version%%.*}"
expect "it shows its interface and nothing else" "$(nm -DC --defined-only "$library" | sed -E 's/^[0-9a-f]+ . //; s/@@NEXT_ID_0$//' |
    grep -vE '^(next_id_[a-z_]+|NEXT_ID_0|((typeinfo|typeinfo name|vtable) for )?next_id::v1::(Error|Client|IdPool)\b.*)$')" ""
expect "it needs the standard libraries only" "$(objdump -p "$library" | sed -n 's/ *NEEDED *//p' | grep -vE '^(libstdc\+\+|libc|libm|libgcc_s)\.so|^ld-linux')" ""

# runs PROGRAM: it says whom it did not find
runs() {
    expect "${1##*/} runs" "$(LD_LIBRARY_PATH=$prefix/$libdir "$1" /nonexistent/s || echo "exit code $?")" \
        "there is no socket /nonexistent/s: next-id serve must be running, with the same --socket
exit code 3"
}
consumer=$root/tests/package/consumer
check "a project finds it by find_package" cmake -S "$consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix"
check "and builds, in C++17 and C" cmake --build "$work/consumer"
for program in cpp_client cpp_client_static c_client c_client_static; do runs "$work/consumer/$program"; done
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
expect "pkg-config knows its version" "$(pkg-config --modversion next_id)" "$version"
read -ra flags < <(pkg-config --cflags --libs next_id)
read -ra static_flags < <(pkg-config --cflags --static --libs next_id)
check "a C++ program is built with pkg-config" g++ -std=c++17 "$consumer/program.cpp" "${flags[@]}" -o "$work/cpp_pkg_config"
check "a C program too" gcc -std=c99 "$consumer/program.c" "${flags[@]}" -o "$work/c_pkg_config"
check "and one that is linked statically" gcc -std=c99 "$consumer/program.c" -static "${static_flags[@]}" -o "$work/c_pkg_config_static"
for program in cpp_pkg_config c_pkg_config c_pkg_config_static; do runs "$work/$program"; done
check "the client library is built without the sidecar's libraries" \
    cmake -S "$root" -B "$work/client-only" -DNEXT_ID_SIDECAR=OFF -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON

mkdir "$work/packages"
check "the packages are made" cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages"
cd "$work/packages"
deb() { echo "$1_${version}_$(dpkg --print-architecture).deb"; }
server=$(deb next-id) library=$(deb "libnext-id${version%%.*}") development=$(deb libnext-id-dev)
contents() { dpkg-deb --contents "$1" | awk '$1 !~ /^d/ { print $1, $2, $6 }' | sort -k3; }
check "there are three" ls "$server" "$library" "$development"
expect "the program's" "$(contents "$server")" "$(sort -k3 <<END
-rw------- root/root ./etc/next-id/environment
-rwxr-xr-x root/root ./usr/bin/next-id
-rw-r--r-- root/root ./usr/lib/systemd/system/next-id.service
-rw-r--r-- root/root ./usr/share/doc/next-id/README.md
-rw-r--r-- root/root ./usr/share/doc/next-id/SECURITY.md
-rw-r--r-- root/root ./usr/share/doc/next-id/copyright
-rw-r--r-- root/root ./usr/share/doc/next-id/protocol/README.md
-rw-r--r-- root/root ./usr/share/doc/next-id/protocol/openapi.yaml
-rw-r--r-- root/root ./usr/share/doc/next-id/sql/README.md
$(cd "$root" && printf -- '-rw-r--r-- root/root ./usr/share/next-id/%s\n' sql/*.sql)
END
)"
expect "its settings are the operator's" "$(dpkg-deb --ctrl-tarfile "$server" | tar -xO ./conffiles)" /etc/next-id/environment
check "its service runs the program" sh -c "dpkg-deb --fsys-tarfile $server | tar -xO ./usr/lib/systemd/system/next-id.service | grep -x 'ExecStart=/usr/bin/next-id serve'"
check "its libraries are named" sh -c "dpkg-deb --field $server Depends | grep libpq5 | grep libuv1 | grep adduser"
check "headers go with their library" sh -c "dpkg-deb --field $development Depends | grep -F 'libnext-id${version%%.*} (= $version)'"
if [[ -n ${NEXT_ID_LONG:-} ]]; then check "they install, work and go in a clean Debian" "$root/tests/package/clean_root.sh" "$work/packages"; fi

((failures == 0)) || { printf '%d failed\n' "$failures"; exit 1; }
