#!/usr/bin/env bash
# Lays out the image's files in a folder: the stripped program of a build, the shared libraries that it loads, public
# certificate authorities, the licences of all of it, and a bill of materials (SPDX). On Debian, where dpkg knows what each
# file belongs to.
set -euo pipefail

(($# == 2)) || { echo "Usage: k8s/rootfs.sh BUILD_DIR ROOTFS" >&2; exit 64; }
build=$1 rootfs=$2
program=$build/next-id
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
docs=$rootfs/usr/share/doc
[[ -x $program ]] || { echo "rootfs.sh: there is no $program: build it first (cmake --build --preset release --target next-id)" >&2; exit 1; }
[[ ! -e $rootfs ]] || { echo "rootfs.sh: $rootfs is there already; remove it, or name another folder" >&2; exit 1; }

# One call for all, since each reads all of dpkg's lists.
declare -A package_of=()
learn_packages() { # learn_packages FILE...
    local line
    while read -r line; do
        package_of[${line##*: }]=${line%%[,:]*}
    done < <(dpkg-query -S "$@" 2>/dev/null || true) # it does not know them all: see below
}

require_package() { # require_package FILE: the package that it belongs to. Debian merged /lib into /usr/lib, dpkg's lists did not.
    local file
    for file in "$1" "/usr$1" "${1#/usr}" "$(readlink -f "$1")"; do
        [[ -z ${package_of[$file]:-} ]] || { echo "${package_of[$file]}"; return; }
    done
    echo "rootfs.sh: no package has $1, so the bill of materials would not be whole" >&2
    return 1
}

# --- files ------------------------------------------------------------------------------------------------------------

umask 022
mkdir -p "$rootfs"
install -D -m 755 -s "$program" "$rootfs/usr/bin/next-id"
install -D -m 644 "$source_dir/LICENSE" "$docs/next-id/copyright"
mapfile -t libraries < <(ldd "$program" | grep -oE '/[^ ]+' | sort -u)
((${#libraries[@]})) || { echo "rootfs.sh: $program loads no shared library, which this script does not expect" >&2; exit 1; }
for library in "${libraries[@]}"; do install -D -m 755 "$library" "$rootfs$library"; done
# For PGSSLROOTCERT, where the database's certificate comes from a public authority.
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$rootfs/etc/ssl/certs/ca-certificates.crt"
# Where no volume is mounted there (docker run), whoever it runs as can make its files.
install -d -m 1777 "$rootfs/run/next-id"

# --- what is in it ----------------------------------------------------------------------------------------------------

source_package() { dpkg-query -W -f '${source:Package}\n' "$1" | head -n 1; }

# What the compiler read. (No file of tests, which are other programs.)
mapfile -t compiled < <(ninja -C "$build" -t deps |
    awk '/^[^ ]/ { ours = $1 !~ /^tests\// } ours && /^    \/usr\/(include|share)\// { print $1 }' | sort -u)
((${#compiled[@]})) || { echo "rootfs.sh: ninja does not say what $build was compiled from: build it with Ninja (cmake --preset release)" >&2; exit 1; }
learn_packages "${libraries[@]}" "${libraries[@]/#/\/usr}" "${compiled[@]}"

declare -A files_of=() compiled_in=() has_library=()
for library in "${libraries[@]}"; do
    package=$(require_package "$library")
    files_of[$package]+="$library "
    has_library[$(source_package "$package")]=yes
done
# Of libraries that are headers or sources only, a part is in the program itself: of those that the compiler read, the ones
# that have no shared library above.
compiled_packages=$(for file in "${compiled[@]}"; do require_package "$file"; done | sort -u)
for package in $compiled_packages; do
    [[ -n ${has_library[$(source_package "$package")]:-} ]] || compiled_in[$package]=yes
done

for package in "${!files_of[@]}" "${!compiled_in[@]}" ca-certificates; do
    install -D -m 644 "/usr/share/doc/$package/copyright" "$docs/$package/copyright"
done
cp -rL /usr/share/common-licenses "$rootfs/usr/share/" # which those texts refer to

# --- bill of materials, SPDX 2.3 --------------------------------------------------------------------------------------

id_of() { echo "SPDXRef-${1//[^A-Za-z0-9.-]/-}"; }

json_package() { # json_package ID NAME VERSION LICENCE PURPOSE [PURL]
    printf '{"SPDXID": "%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", "filesAnalyzed": false, ' "$1" "$2" "$3"
    printf '"licenseConcluded": "NOASSERTION", "licenseDeclared": "%s", "copyrightText": "NOASSERTION", "primaryPackagePurpose": "%s"' "$4" "$5"
    [[ -z ${6:-} ]] || printf ', "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "%s"}]' "$6"
    printf '}'
}

json_debian_package() { # json_debian_package ID PACKAGE
    local version architecture purl
    version=$(dpkg-query -W -f '${Version}' "$2")
    architecture=$(dpkg-query -W -f '${Architecture}' "$2")
    purl=pkg:deb/debian/$2@$version
    purl=${purl//+/%2B}
    json_package "$1" "$2" "$version" NOASSERTION LIBRARY "${purl/@*:/@${version%%:*}%3A}?arch=$architecture"
}

json_file() { # json_file ID PATH
    printf '{"SPDXID": "%s", "fileName": ".%s", "checksums": [{"algorithm": "SHA1", "checksumValue": "%s"}, ' "$1" "$2" "$(sha1sum <"$rootfs$2" | cut -d ' ' -f 1)"
    printf '{"algorithm": "SHA256", "checksumValue": "%s"}]}' "$(sha256sum <"$rootfs$2" | cut -d ' ' -f 1)"
}

json_relation() { printf '{"spdxElementId": "%s", "relationshipType": "%s", "relatedSpdxElement": "%s"}' "$@"; }

json_list() { # json_list NAME ELEMENT...
    printf '  "%s": [\n' "$1"
    printf '    %s,\n' "${@:2}" | sed '$s/,$//'
    printf '  ]'
}

bill_of_materials() {
    local version created package relation file packages=() files=() relations=()
    version=$("$program" --version) && version=${version##* }
    packages=("$(json_package SPDXRef-next-id next-id "$version" MIT APPLICATION)")
    relations=("$(json_relation SPDXRef-DOCUMENT DESCRIBES SPDXRef-next-id)")
    for package in $(printf '%s\n' "${!files_of[@]}" "${!compiled_in[@]}" ca-certificates | sort); do
        packages+=("$(json_debian_package "$(id_of "$package")" "$package")")
        relation=DEPENDS_ON
        [[ -z ${files_of[$package]:-} ]] || relation=DYNAMIC_LINK
        [[ -z ${compiled_in[$package]:-} ]] || relation=STATIC_LINK
        relations+=("$(json_relation SPDXRef-next-id $relation "$(id_of "$package")")")
        for file in ${files_of[$package]:-}; do
            files+=("$(json_file "$(id_of "File-${file##*/}")" "$file")")
            relations+=("$(json_relation "$(id_of "$package")" CONTAINS "$(id_of "File-${file##*/}")")")
        done
    done
    # The program's own time and digest, so that the same files give the same bill.
    created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -L -c %Y "$program")}" +%Y-%m-%dT%H:%M:%SZ)
    printf '{\n  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "next-id-%s",\n' "$version"
    printf '  "documentNamespace": "https://spdx.org/spdxdocs/next-id-%s-%s",\n' "$version" "$(sha256sum <"$program" | cut -c 1-32)"
    printf '  "creationInfo": {"created": "%s", "creators": ["Tool: next-id-rootfs.sh"]},\n' "$created"
    json_list packages "${packages[@]}" && printf ',\n'
    json_list files "${files[@]}" && printf ',\n'
    json_list relationships "${relations[@]}" && printf '\n}\n'
}

bill_of_materials >"$docs/next-id/sbom.spdx.json"
