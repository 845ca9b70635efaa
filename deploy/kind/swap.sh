#!/bin/sh
# swap.sh in|out: put pydns in the place of CoreDNS in a kubeadm or kind cluster, or put back what was there.
#
#   deploy/kind/swap.sh in  [--image IMAGE] [--context CONTEXT] [--timeout 120s]
#   deploy/kind/swap.sh out [--context CONTEXT] [--timeout 120s]
#
# Only the image of the Deployment kube-system/coredns is changed, Pod by Pod; Service, ConfigMap and role stay.  The
# image that was there is noted in annotations of the Deployment.  Doing either twice makes no difference.  A rollout
# that does not become ready is taken back.
#
# Without --context the current context must be one of kind's (kind-…), so that no other cluster is changed by mistake.
# KUBECTL names the program where it is not the kubectl in PATH.  Interrupted, it says how to go on and how to go back.
set -eu

namespace=kube-system deployment=coredns container=coredns
replaced_note=pydns/replaced-image put_note=pydns/put-image
KUBECTL=${KUBECTL:-kubectl}

usage() { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
say() { printf '%s\n' "$*"; }
fail() { printf 'swap.sh: %s\n' "$*" >&2; exit 1; }
kube() { "$KUBECTL" --context "$context" -n "$namespace" "$@"; }
field() { kube get deployment "$deployment" -o "jsonpath=$1" || unread; }
unread() { fail "Deployment $namespace/$deployment of $context cannot be read; kubectl says why above"; }
# checked IMAGE WHERE HINT: nothing but the name of an image may get into a change
checked() { case $1 in ''|*[!A-Za-z0-9._/:@-]*) fail "'$1'$2 is not the name of an image$3" ;; esac; }
checked_note() {
    checked "$replaced" ", in the annotation $replaced_note of $namespace/$deployment," \
        "; kubectl annotate --overwrite puts a right one there, kubectl set image does without"
}

[ $# -ge 1 ] || usage
way=$1; shift
case $way in in|out) ;; *) usage ;; esac
image=pydns:dev context='' timeout=120s
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
        --image) image=$2 ;;
        --context) context=$2 ;;
        --timeout) timeout=$2 ;;
        *) usage ;;
    esac
    shift 2
done
checked "$image" '' ''
printf '%s\n' "$timeout" | grep -Eqx '([0-9]+([.][0-9]+)?(ms|[hms]))+' || fail "'$timeout' is no time to wait; 120s is one, and 2m"
command -v "$KUBECTL" >/dev/null || fail "no program $KUBECTL: install kubectl in PATH, or name it in KUBECTL"

# interrupted SIGNAL: dash runs traps only once a foreground program has ended, hence the `wait` in is_ready
so_far='nothing was changed' waiting=''
interrupted() {
    trap '' INT TERM HUP
    [ -z "$waiting" ] || kill "$waiting" 2>/dev/null || true
    printf 'swap.sh: interrupted: %s\n' "$so_far" >&2
    trap - "$1"
    kill -s "$1" $$
}
for signal in INT TERM HUP; do trap "interrupted $signal" "$signal"; done

if [ -z "$context" ]; then
    context=$("$KUBECTL" config current-context) || fail "no current context, as kubectl says; name one with --context"
    case $context in
        kind-*) ;;
        *) fail "the current context is $context, which is none of kind's; if you mean it: --context $context" ;;
    esac
fi
contexts=$("$KUBECTL" config get-contexts -o name) || fail "the kubeconfig cannot be read; kubectl says why above"
printf '%s\n' "$contexts" | grep -Fqx -e "$context" \
    || fail "no context $context in the kubeconfig; kubectl config get-contexts lists those there are"

there=$(kube get deployment "$deployment" --ignore-not-found -o name) || unread
[ -n "$there" ] || fail "no Deployment $namespace/$deployment in $context"
found=$(field "{.spec.template.spec.containers[?(@.name=='$container')].image}")
[ -n "$found" ] || fail "Deployment $namespace/$deployment of $context has no container $container"
replaced=$(field "{.metadata.annotations.$replaced_note}")
put=$(field "{.metadata.annotations.$put_note}")
# Notes of an image that is no longer there (kubeadm upgrade puts a newer CoreDNS in) say nothing.
[ "$found" = "$put" ] || replaced=''

# change IMAGE REPLACED: the image with its notes, in one change; without REPLACED there are no notes then
change() {
    if [ -n "$2" ]; then notes="\"$replaced_note\": \"$2\", \"$put_note\": \"$1\""
    else notes="\"$replaced_note\": null, \"$put_note\": null"; fi
    kube patch deployment "$deployment" --type strategic -p "{
        \"metadata\": {\"annotations\": {$notes}},
        \"spec\": {\"template\": {\"spec\": {\"containers\": [{\"name\": \"$container\", \"image\": \"$1\"}]}}}
    }" >/dev/null || fail "$context does not take the change to $1; kubectl says why above"
}
is_ready() {
    "$KUBECTL" --context "$context" -n "$namespace" rollout status deployment "$deployment" --timeout "$timeout" &
    waiting=$! ended=0
    wait "$waiting" || ended=$?
    waiting=''
    return "$ended"
}

again="$0 in --image $image --context $context" back="$0 out --context $context"

if [ "$way" = in ] && [ "$found" = "$image" ] && [ -z "$replaced" ]; then
    say "$context: $image is there already, and was not put there by swap.sh; nothing to do"
elif [ "$way" = in ]; then
    original=${replaced:-$found}
    checked "$found" ", the image of $namespace/$deployment," '; kubectl set image puts a right one there'
    [ -z "$replaced" ] || checked_note
    so_far="$image may be there by now; \`$back\` puts back $original, \`$again\` goes on"
    change "$image" "$original"
    if is_ready; then
        say "$context: $image serves in the place of $original; back with: $back"
    else
        kube get pods -l k8s-app=kube-dns -o wide >&2 || true
        kube logs -l k8s-app=kube-dns -c "$container" --prefix --tail 10 >&2 || true
        # What was there; after a swap that was interrupted, this image was, and what it had replaced is wanted.
        [ "$found" != "$image" ] || found=$original replaced=''
        change "$found" "$replaced"
        is_ready || fail "$image did not become ready within $timeout; $found is put back, and is not ready either"
        fail "$image did not become ready within $timeout; $found is back"
    fi
elif [ -z "$replaced" ]; then
    say "$context: $found was not put there by swap.sh; nothing to put back"
else
    checked_note
    so_far="$replaced may be there by now; \`$back\` again makes sure"
    change "$replaced" ''
    is_ready || fail "$replaced did not become ready within $timeout; it is what was there before"
    say "$context: $replaced is back"
fi
