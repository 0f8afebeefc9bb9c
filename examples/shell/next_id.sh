#!/bin/sh
# IDs for a shell script, with curl. (Where next-id itself is installed, `next-id get -n 3` does the same.)
set -eu

socket=${NEXT_ID_SOCKET:-/run/next-id/next-id.sock}

# next_ids COUNT: prints them, one a line. When there are none it prints the reason instead, the sidecar's or curl's, and fails.
next_ids() {
    curl --silent --show-error --fail-with-body --max-time 5 --unix-socket "$socket" "http://localhost/next-id?format=text&count=$1" 2>&1
}

fail() {
    printf 'no ID from %s: %s\n' "$socket" "$*" >&2
    exit 1
}

id=$(next_ids 1) || fail "$id"
echo "id $id"

ids=$(next_ids 3) || fail "$ids"
# shellcheck disable=SC2086 # in one line
echo ids $ids
