#!/bin/sh
# Serves a published copy with Datasette, and its successors:
#
#   datasette.sh FILE [OPTION...]
#
# Datasette goes on with the file it has open, and a new copy is another file under the same name. So it is started anew then.
set -eu
file=$1
shift

copy() {
    stat -c '%i %Z' "$file" 2>/dev/null
}

server=
trap 'trap - TERM; [ -z "$server" ] || kill "$server"; wait; exit 0' TERM INT
while :; do
    until served=$(copy); do
        echo "waiting for $file" >&2
        sleep 5
    done
    datasette serve "$@" --immutable "$file" &
    server=$!
    while kill -0 "$server" 2>/dev/null && [ "$(copy)" = "$served" ]; do sleep 5; done
    kill "$server" 2>/dev/null || exit 1 # it ended by itself
    wait "$server" || true
done
