#!/bin/bash
# The rehearsal of an upgrade: what will change, the old world, the new one, and what to mend.
# Needs kubectl and a machine for `muntin up`; PORT is where the API of the rehearsal listens.
set -uo pipefail
cd "$(dirname "$0")"

MUNTIN=${MUNTIN:-muntin}
KUBECTL=${KUBECTL:-kubectl}
STAGE=${STAGE:-rehearsal}
PORT=${PORT:-6550}
FROM=${FROM:-v1.20}
TO=${TO:-v1.34}
passed=0
world=none
why=$(mktemp -d)
export KUBECONFIG=$why/kubeconfig
trap '"$MUNTIN" down --name "$STAGE" >/dev/null 2>&1; rm -rf "$why"' EXIT

# kubectl remembers what a server has by its address, which both worlds share.
kubectl() { command "$KUBECTL" --cache-dir "$why/cache-$world" "$@"; }
stage() {
    world=$1
    "$MUNTIN" down --name "$STAGE"
    "$MUNTIN" up --name "$STAGE" --profile "$1" --windows-nodes 1 --linux-nodes 0 \
        --api-server-port "$PORT" --kubeconfig "$KUBECONFIG"
}

check() {
    local text=$1
    shift
    if "$@" >"$why/said" 2>&1; then
        echo "ok      $text"
        passed=$((passed + 1))
    else
        echo "FAILED  $text"
        sed 's/^/        /' "$why/said" | tail -n 8
    fi
}

says() { "$MUNTIN" diff --from "$FROM" --to "$TO" "${@:2}" | grep -F -- "$1"; }
runs() { kubectl apply -f "$1" && kubectl rollout status deployment/shop --timeout=60s; }
refused() { ! kubectl apply -f app/shop.yaml 2>"$why/told" && grep -F 'PodDisruptionBudget' "$why/told"; }
no_image() {
    for _ in $(seq 100); do
        kubectl get events | grep -F 'no match for platform in manifest' && return
        sleep 0.3
    done
    return 1
}
mended() {
    sed -e 's/ltsc2019/ltsc2022/' -e 's|policy/v1beta1|policy/v1|' app/shop.yaml >"$why/mended.yaml"
    kubectl delete deployment shop --ignore-not-found && runs "$why/mended.yaml"
}
kept() {
    # Windows Server 2022 keeps a client on one pod; 2019 says that it cannot.
    [ -z "$(kubectl get events | grep -F sessionAffinity)" ]
}

check "the difference of the two worlds is known before either is up" says 'host-process:'
check "of the application's own manifests, the budget's version is gone" \
    says 'policy/v1beta1 is served no longer; use policy/v1 PodDisruptionBudget' -f app/shop.yaml
check "the world of today comes up" stage "$FROM"
check "the application runs there as it is" runs app/shop.yaml
check "the world of tomorrow comes up" stage "$TO"
check "it does not take the budget" refused
check "and its nodes cannot run the image" no_image
check "mended, the application runs" mended
check "and clients stay on one pod, which they did not before" kept
echo "$passed/9"
[ "$passed" = 9 ]
