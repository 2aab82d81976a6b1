#!/bin/sh
# h2load: one connection of HTTP/2 with so many streams at once. It leaves its processor time to the process that waits
# for it, and whatever it did for a warm-up would be a part of that, so there is none.
operation=${1:-}
[ "$operation" = get ] || { echo "not supported: $operation" >&2; exit 69; }
shift
url= streams=1 count= duration= http2=no
while [ $# -gt 0 ]; do
    case $1 in
        --http2) http2=yes; shift; continue ;;
        --url) url=$2 ;;
        --connections) streams=$2 ;;
        --requests) count=$2 ;;
        --seconds) duration=$(awk -v seconds="$2" 'BEGIN { printf "%d", seconds * 1000 }')ms ;;
        --warmup | --cacert) ;;
        *) echo "not supported: $1" >&2; exit 69 ;;
    esac
    shift 2
done
[ "$http2" = yes ] || { echo "not supported: HTTP/1.1" >&2; exit 69; }
said=$(h2load -t1 -c1 -m"$streams" ${duration:+-D "$duration"} ${count:+-n "$count"} "$url") || exit 1
printf '%s\n' "$said" | awk -v version="$(h2load --version)" '
    /^finished in/ {
        wall = $3
        if (wall ~ /us,$/) wall /= 1e6
        else if (wall ~ /ms,$/) wall /= 1e3
        else wall += 0
    }
    /^requests:/ { done = $8; errors = $10 + $12 }
    /^traffic:/ { bytes = $(NF - 1); gsub(/[^0-9]/, "", bytes) }
    END {
        printf "{\"client\":\"%s\",\"requests\":%d,\"bytes\":%d,\"errors\":%d,\"wall_s\":%s}\n", version, done, bytes, errors, wall
        exit errors > 0
    }'
