#!/bin/bash
# What an author of a chart for both systems does with it: lint, install, test, upgrade, roll back, remove.
# Needs a cluster that is up (NAME, by default muntin), kubectl and helm (HELM, by default the one on PATH).
set -uo pipefail
cd "$(dirname "$0")"

NAME=${NAME:-muntin}
KUBECTL=${KUBECTL:-kubectl}
HELM=${HELM:-$(command -v helm || echo ../../.venv/bin/helm)}
RELEASE=${RELEASE:-site}
TIMEOUT=${TIMEOUT:-60s}
passed=0
why=$(mktemp)
trap 'rm -f "$why"' EXIT

kubectl() { command "$KUBECTL" --context "muntin-$NAME" "$@"; }
helm() { command "$HELM" --kube-context "muntin-$NAME" "$@"; }

check() {
    local text=$1
    shift
    if "$@" >"$why" 2>&1; then
        echo "ok      $text"
        passed=$((passed + 1))
    else
        echo "FAILED  $text"
        sed 's/^/        /' "$why" | tail -n 8
    fi
}

# sites TEXT: the chart's own test visits both and is told TEXT. helm waits for new pods, not for
# old ones to be out of use: `rollout status` does.
sites() {
    kubectl rollout status "deployment/$RELEASE-linux" --timeout="$TIMEOUT" &&
        kubectl rollout status "deployment/$RELEASE-windows" --timeout="$TIMEOUT" &&
        helm test "$RELEASE" --logs --timeout "$TIMEOUT" | tee -a "$why" >"$why.logs" &&
        grep -Fx "$1 from Linux" "$why.logs" && grep -Fx "$1 from Windows" "$why.logs"
    local code=$?
    rm -f "$why.logs"
    return $code
}

install() { helm install "$RELEASE" chart --wait --timeout "$TIMEOUT"; }
greets() { kubectl get greetings.hybrid.example.com "$RELEASE" | grep -F "$1"; }
upgrade() {
    helm upgrade "$RELEASE" chart --set greeting=moin,windows.replicas=2 --wait --timeout "$TIMEOUT" &&
        kubectl wait --for=condition=Available "deployment/$RELEASE-windows" --timeout="$TIMEOUT"
}
refused() { ! helm upgrade "$RELEASE" chart --set greeting=; }
too_long() {
    ! helm upgrade "$RELEASE" chart --set "greeting=$(printf 'x%.0s' {1..81})" 2>"$why.error" || return
    grep 'spec.text: Too long' "$why.error"
    local code=$?
    cat "$why.error" && rm "$why.error"
    return $code
}
roll_back() { helm rollback "$RELEASE" 1 --wait --timeout "$TIMEOUT"; }
history_of() { [ "$(helm history "$RELEASE" -o json | grep -o '"revision":[0-9]*' | tail -n 1)" = '"revision":4' ]; }
remove() {
    helm uninstall "$RELEASE" --wait --timeout "$TIMEOUT" &&
        [ -z "$(kubectl get deployments,services,configmaps -l "app.kubernetes.io/instance=$RELEASE" -o name)" ]
}

check "the chart is sound" helm lint chart
check "install: both sites are ready, the custom resource too" install
check "both sites answer" sites hello
check "kubectl shows the custom resource's column" greets hello
check "upgrade: a new greeting, a second Windows pod" upgrade
check "both sites say it" sites moin
check "values that the chart's schema forbids are refused" refused
check "what the custom resource's schema forbids is refused by the API server" too_long
check "roll back to the first revision" roll_back
check "both sites are what they were" sites hello
check "the history has all four revisions" history_of
check "uninstall leaves nothing of the release" remove
kubectl delete pod "$RELEASE-test" --ignore-not-found --now >/dev/null
kubectl delete crd greetings.hybrid.example.com >/dev/null # helm leaves definitions, as it always does
echo "$passed/12"
[ "$passed" = 12 ]
