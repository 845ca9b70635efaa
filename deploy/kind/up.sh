#!/bin/sh
# up.sh: a kind cluster whose DNS server is pydns, tried by a Pod and judged by the conformance suite.
#
#   deploy/kind/up.sh [--name NAME] [--image IMAGE]
#
# Builds the image (docker), makes the cluster NAME (default pydns) unless there is one, loads the image, swaps CoreDNS
# out (swap.sh in), asks from a Pod, and runs the conformance suite in the cluster (about a minute).  Done again, it rolls
# out what has changed in the checkout, or makes no difference.  Away with it: kind delete cluster --name NAME
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
docker info >/dev/null 2>&1 || fail "docker's daemon cannot be reached"
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
if kind get clusters 2>/dev/null | grep -qx "$name"; then
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
    || { kube logs pydns-try; fail "the Pod got no answer"; }
kube logs pydns-try
kube delete pod pydns-try --wait=false >/dev/null

step "the conformance suite"
kubeconfig=$(mktemp)
trap 'rm -f "$kubeconfig"' EXIT
kind get kubeconfig --name "$name" >"$kubeconfig"
python3 -m conformance --kubeconfig "$kubeconfig" --image "$image"
