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

id_of() { sed 's/[^A-Za-z0-9.-]/-/g' <<<"$1"; }

json_package() { # json_package NAME VERSION SPDX-ID LICENCE PURPOSE [PURL]
    local reference=''
    [[ -z ${6:-} ]] || reference=', "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "'$6'"}]'
    printf '    {"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", "filesAnalyzed": false, ' "$3" "$1" "$2"
    printf '"licenseConcluded": "NOASSERTION", "licenseDeclared": "%s", "copyrightText": "NOASSERTION", "primaryPackagePurpose": "%s"%s}' "$4" "$5" "$reference"
}

bill_of_materials() {
    local version revision created package relation file
    version=$("$program" --version) && version=${version##* }
    # Nothing of the moment it was made in: the same files give the same bill.
    created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -L -c %Y "$program")}" +%Y-%m-%dT%H:%M:%SZ)
    revision=$(sha256sum "$program" | cut -c 1-32)
    printf '{\n  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "next-id-%s",\n' "$version"
    printf '  "documentNamespace": "https://spdx.org/spdxdocs/next-id-%s-%s",\n' "$version" "$revision"
    printf '  "creationInfo": {"created": "%s", "creators": ["Tool: next-id-rootfs.sh"]},\n  "packages": [\n' "$created"
    json_package next-id "$version" next-id MIT APPLICATION
    relations=('{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-next-id"}') files=()
    for package in $(printf '%s\n' "${!files_of[@]}" "${!compiled_in[@]}" ca-certificates | sort); do
        local id purl
        id=$(id_of "$package")
        version=$(dpkg-query -W -f '${Version}' "$package")
        purl="pkg:deb/debian/$(sed 's/+/%2B/g' <<<"$package")@$(sed 's/+/%2B/g; s/:/%3A/g' <<<"$version")?arch=$(dpkg-query -W -f '${Architecture}' "$package")"
        printf ',\n'
        json_package "$package" "$version" "$id" NOASSERTION LIBRARY "$purl"
        relation=DEPENDS_ON
        [[ -z ${files_of[$package]:-} ]] || relation=DYNAMIC_LINK
        [[ -z ${compiled_in[$package]:-} ]] || relation=STATIC_LINK
        relations+=('{"spdxElementId": "SPDXRef-next-id", "relationshipType": "'$relation'", "relatedSpdxElement": "SPDXRef-'$id'"}')
        for file in ${files_of[$package]:-}; do
            files+=('{"SPDXID": "SPDXRef-File-'"$(id_of "${file##*/}")"'", "fileName": ".'"$file"'", "checksums": [{"algorithm": "SHA1", "checksumValue": "'"$(sha1sum <"$rootfs$file" | cut -c 1-40)"'"}, {"algorithm": "SHA256", "checksumValue": "'"$(sha256sum <"$rootfs$file" | cut -c 1-64)"'"}]}')
            relations+=('{"spdxElementId": "SPDXRef-'$id'", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-File-'"$(id_of "${file##*/}")"'"}')
        done
    done
    local IFS=$'\n'
    printf '\n  ],\n  "files": [\n%s\n  ],\n  "relationships": [\n%s\n  ]\n}\n' \
        "$(sed 's/^/    /; $!s/$/,/' <<<"${files[*]}")" "$(sed 's/^/    /; $!s/$/,/' <<<"${relations[*]}")"
}

bill_of_materials >"$docs/next-id/sbom.spdx.json"
