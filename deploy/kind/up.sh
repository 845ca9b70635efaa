#!/bin/sh
# up.sh: a kind cluster whose DNS server is pydns, tried by a Pod and judged by the conformance suite.
#
#   deploy/kind/up.sh [--name NAME] [--image IMAGE]
#
# Builds the image (docker), makes the cluster NAME (default pydns) unless there is one, loads the image, swaps CoreDNS
# out (swap.sh in), asks from a Pod, and runs the conformance suite in the cluster (about a minute).  Done again, it rolls
# out what has changed in the checkout, or makes no difference.  Away with it: kind delete cluster --name NAME
# The suite needs a python3 with its packages: make .venv/.installed && . .venv/bin/activate
set -eu

cd "$(dirname "$0")/../.."
usage() { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
fail() { printf 'up.sh: %s\n' "$*" >&2; exit 1; }
step() { printf '\n== %s\n' "$*"; }

name=pydns image=pydns:dev
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
        --name) name=$2 ;;
        --image) image=$2 ;;
        *) usage ;;
    esac
    shift 2
done
for program in docker kind kubectl python3; do
    command -v "$program" >/dev/null || fail "$program is needed and not in PATH"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 is older than 3.11, which the suite needs"
python3 -m conformance --help >/dev/null \
    || fail "python3 cannot run the suite; one that can: make .venv/.installed && . .venv/bin/activate"
words=$(docker info 2>&1 >/dev/null) || fail "docker's daemon cannot be reached: $words"
context=kind-$name
kube() { kubectl --context "$context" "$@"; }

step "image $image"
docker build -q -f deploy/image/Dockerfile -t "$image" .
# A tag of its content: nodes keep what they have of a tag.
tagged=$image-$(docker image inspect --format '{{.Id}}' "$image" | sed 's/^sha256://' | cut -c 1-12)
docker tag "$image" "$tagged"
image=$tagged
echo "$image"

step "cluster $name"
if kind get clusters 2>/dev/null | grep -Fqx -e "$name"; then
    echo "is there"
else
    kind create cluster --name "$name" --wait 120s
fi

step "load"
kind load docker-image "$image" --name "$name"

step "swap"
deploy/kind/swap.sh in --image "$image" --context "$context"

step "a Pod asks"
kube delete pod pydns-try --ignore-not-found --wait >/dev/null
kube run pydns-try --image "$image" --image-pull-policy Never --restart Never --command -- \
    python3 -c 'import socket; print(socket.gethostbyname("kubernetes.default"))'
kube wait pod pydns-try --for jsonpath='{.status.phase}'=Succeeded --timeout 60s >/dev/null \
    || { kube describe pod pydns-try; kube logs pydns-try || true; fail "the Pod got no answer"; }
kube logs pydns-try
kube delete pod pydns-try --wait=false >/dev/null

step "the conformance suite"
# An administrator's kubeconfig must not stay, and dash runs no EXIT trap when a signal ends it.  The suite needs it until
# it has taken away what it made in the cluster.
kubeconfig='' suite=''
clean() { rm -f "$kubeconfig"; }
# interrupted SIGNAL: ends as the signal would have it
interrupted() {
    trap '' INT TERM HUP
    [ -z "$suite" ] || { kill "$suite" 2>/dev/null || true; wait "$suite" || true; }
    clean
    trap - "$1" EXIT
    kill -s "$1" $$
}
trap clean EXIT
for signal in INT TERM HUP; do trap "interrupted $signal" "$signal"; done
kubeconfig=$(mktemp)
kind get kubeconfig --name "$name" >"$kubeconfig"
# Behind, for dash runs a trap only once a program in front has ended.
python3 -m conformance --kubeconfig "$kubeconfig" --image "$image" &
suite=$!
wait "$suite"
