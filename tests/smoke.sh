# Start `make run` and ask what it prints: the first thing that a newcomer does must work.
set -eu
log=$(mktemp)
make -s run >"$log" 2>&1 &
server=$!
trap 'pkill -TERM -P "$server" 2>/dev/null || true; rm -f "$log"' EXIT

fail() { echo "smoke: $1" >&2; cat "$log" >&2; exit 1; }
until curl -fs http://127.0.0.1:18181/ready >/dev/null && grep -q Ctrl-C "$log"; do
    kill -0 "$server" 2>/dev/null || fail "pydns did not start"
    sleep 0.2
done
asked=0
grep '^  dig ' "$log" | sed 's/   .*//' | {
    while read -r command; do
        answer=$(sh -c "$command +short +time=2 +tries=1" | grep -v '^;') || fail "no answer: $command"
        echo "$command -> $(echo "$answer" | tr '\n' ' ')"
        asked=$((asked + 1))
    done
    [ "$asked" -ge 6 ] || fail "fewer dig lines than expected"
}
grep '^  curl ' "$log" | while read -r command; do
    sh -c "$command -fs" >/dev/null || fail "$command"
    echo "$command -> OK"
done
pkill -TERM -P "$server"  # pydns is the one child of make
wait "$server" || fail "exit status $? after SIGTERM"
