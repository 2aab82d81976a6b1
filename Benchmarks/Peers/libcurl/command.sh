#!/bin/sh
# The curl command, for downloads to a file. It leaves its processor time and memory to the process that waits for it.
operation=${1:-}
[ "$operation" = save ] || { echo "not supported: $operation" >&2; exit 69; }
shift
url= file= cacert=
while [ $# -gt 1 ]; do
    case $1 in
        --url) url=$2 ;;
        --file) file=$2 ;;
        --cacert) cacert=$2 ;;
        --requests) [ "$2" = 1 ] || { echo "not supported: $2 requests" >&2; exit 69; } ;;
        --connections | --warmup) ;;
        *) echo "not supported: $1" >&2; exit 69 ;;
    esac
    shift 2
done
exec curl --silent --show-error --fail --output "$file" ${cacert:+--cacert "$cacert"} --write-out \
    '{"client":"curl command","requests":1,"bytes":%{size_download},"errors":0,"wall_s":%{time_total}}\n' "$url"
