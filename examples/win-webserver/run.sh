#!/bin/bash
# The checks that the document tells its reader to make, one numbered line each.
# Needs a cluster that is up (NAME, by default muntin), kubectl, and root for `muntin shell`.
set -uo pipefail
cd "$(dirname "$0")"

NAME=${NAME:-muntin}
MUNTIN=${MUNTIN:-$(command -v muntin || echo ../../.venv/bin/muntin)}
KUBECTL=${KUBECTL:-kubectl}
SECONDS_TO_READY=${SECONDS_TO_READY:-60}
SITE_PORT=8000 # of the web site in `outside`
passed=0
why=$(mktemp)

kubectl() { command "$KUBECTL" --context "muntin-$NAME" "$@"; }
on() { local place=$1; shift; "$MUNTIN" shell --name "$NAME" "$place" -- "$@"; }
cri() { "$MUNTIN" cri --name "$NAME" "$@"; }
fetch() { curl --silent --show-error --max-time 5 "$@"; }
in_pod() { local pod=$1; shift; kubectl exec "$pod" -- "$@"; }
pods() { kubectl get pods -l app=win-webserver -o "jsonpath={range .items[*]}$1{'\n'}{end}"; }

# says TEXT: the standard input holds TEXT. The page names the answering pod's own address.
# Both read to the end: with pipefail, a writer whose reader has gone counts as failed.
says() { tee -a "$why" | grep -F -- "$1" >/dev/null; }
page() { grep '<H1>Windows Container Web Server</H1>' >/dev/null; }

check() {
    local number=$1 text=$2 action=$3
    : >"$why"
    if "$action" 2>>"$why"; then
        echo "$number ok      $text"
        passed=$((passed + 1))
    else
        echo "$number FAILED  $text"
        sed 's/^/          /' "$why" | tail -n 5
    fi
}

both_ready() {
    kubectl rollout status deployment/win-webserver --timeout="${SECONDS_TO_READY}s" >>"$why" &&
        kubectl wait pod/web-client --for=condition=Ready --timeout="${SECONDS_TO_READY}s" >>"$why" &&
        [ "$(pods '{.status.conditions[?(@.type=="Ready")].status}' | grep -c True)" = 2 ] &&
        for node in $(pods '{.spec.nodeName}'); do
            [ "$(kubectl get node "$node" -o 'jsonpath={.metadata.labels.kubernetes\.io/os}')" = windows ] || return
        done
}

two_containers_a_pod() {
    local pod node
    while read -r pod node; do
        cri "$node" ListPodSandbox "{\"filter\": {\"state\": {\"state\": 0}, \"label_selector\": {\"io.kubernetes.pod.name\": \"$pod\"}}}" |
            python3 -c 'import json, sys
rows = json.load(sys.stdin).get("items", [])
assert len(rows) == 1, f"{len(rows)} READY sandboxes"
print(rows[0]["id"])' >"$why.id" || return
        cri "$node" PodSandboxStatus "{\"pod_sandbox_id\": \"$(cat "$why.id")\", \"verbose\": true}" |
            python3 -c 'import json, os, sys
info = json.loads(json.load(sys.stdin)["info"]["info"])
os.kill(info["pid"], 0)' || return
        cri "$node" ListContainers "{\"filter\": {\"state\": {\"state\": 1}, \"pod_sandbox_id\": \"$(cat "$why.id")\"}}" |
            python3 -c 'import json, sys
rows = json.load(sys.stdin).get("containers", [])
assert [row["metadata"]["name"] for row in rows] == ["windowswebserver"], rows' || return
    done < <(pods '{.metadata.name} {.spec.nodeName}')
}

node_to_pod() {
    local ip first second
    for ip in $(pods '{.status.podIP}'); do
        first=$(on master curl -s -m 5 --retry 10 --retry-connrefused "http://$ip" | tee -a "$why" | grep -o "<p>IP $ip callerCount [0-9]*" | head -1) || return
        second=$(on master curl -s -m 5 "http://$ip" | tee -a "$why" | grep -o "<p>IP $ip callerCount [0-9]*" | head -1) || return
        [ "${second##* }" -gt "${first##* }" ] || return
    done
}

pod_to_pod() {
    local from to
    read -r from _ < <(pods '{.metadata.name} {.status.podIP}' | sed -n 1p)
    read -r _ to < <(pods '{.metadata.name} {.status.podIP}' | sed -n 2p)
    [ "$(pods '{.spec.nodeName}' | sort -u | wc -l)" = 2 ] &&
        in_pod "$from" ping -n 1 "$to" | says "Reply from $to" &&
        in_pod "$from" curl.exe -s -m 5 "http://$to" | says "<p>IP $to callerCount" &&
        in_pod web-client ping -c 1 "$to" | says "from $to" &&
        in_pod web-client wget -q -O - "http://$to" | says "<p>IP $to callerCount" &&
        in_pod "$from" ping -n 1 "$client_ip" | says "Reply from $client_ip"
}

service_to_pod() {
    local pod node
    on master curl -s -m 5 "http://$vip" | page &&
        in_pod web-client wget -q -O - "http://$vip" | page &&
        while read -r pod node; do
            in_pod "$pod" curl.exe -s -m 5 "http://$vip" </dev/null | page || return
            # The document's own note: a Windows node does not reach the service's address.
            ! on "$node" curl -s -m 2 "http://$vip" </dev/null | page || return
        done < <(pods '{.metadata.name} {.spec.nodeName}')
}

service_by_name() {
    local pod name=win-webserver.default.svc.cluster.local
    in_pod web-client wget -q -O - "http://$name" | page &&
        in_pod web-client wget -q -O - http://win-webserver | page &&
        for pod in $(pods '{.metadata.name}'); do
            in_pod "$pod" curl.exe -s -m 5 "http://$name" | page || return
            in_pod "$pod" curl.exe -s -m 5 http://win-webserver | page || return
        done
}

inbound() {
    local node address port
    port=$(kubectl get service win-webserver -o 'jsonpath={.spec.ports[0].nodePort}')
    fetch "http://127.0.0.1:$port" | page || return
    for node in $(kubectl get nodes -o 'jsonpath={.items[*].metadata.name}'); do
        address=$(kubectl get node "$node" -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}')
        on master curl -s -m 5 "http://$address:$port" | page || return
        on outside curl -s -m 5 "http://$address:$port" | page || return
    done
    # Its own NodePort is out of a Windows node's reach, too.
    for node in $(pods '{.spec.nodeName}'); do
        address=$(kubectl get node "$node" -o 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}')
        ! on "$node" curl -s -m 2 "http://$address:$port" | page || return
    done
}

outbound() {
    local pod
    for pod in $(pods '{.metadata.name}'); do
        in_pod "$pod" curl.exe -s -m 5 "http://$outside:$SITE_PORT/" | says "outside of the cluster" || return
    done
    in_pod web-client wget -q -O - "http://$outside:$SITE_PORT/" | says "outside of the cluster" || return
    if curl --silent --head --max-time 5 --output /dev/null http://example.com; then
        pod=$(pods '{.metadata.name}' | head -n 1)
        in_pod "$pod" curl.exe -s -m 10 http://example.com | says "Example Domain" || return
    fi
}

cleanup() {
    [ -z "${site_pid:-}" ] || kill "$site_pid" 2>/dev/null
    kubectl delete pod web-client --now --ignore-not-found >/dev/null 2>&1
    rm -rf "$why" "$why.id" "$site"
}
site=$(mktemp -d)
trap cleanup EXIT

echo "outside of the cluster" >"$site/index.html"
outside=$(on outside ip -4 -o addr show dev eth0 | sed 's|.* inet \([0-9.]*\)/.*|\1|')
"$MUNTIN" shell --name "$NAME" outside -- \
    busybox httpd -f -p "$outside:$SITE_PORT" -h "$site" >/dev/null 2>&1 &
site_pid=$!

kubectl apply -f win-webserver.yaml >/dev/null || exit 1
kubectl run web-client --image=busybox:1.35 --restart=Never \
    --overrides='{"spec": {"nodeSelector": {"kubernetes.io/os": "linux"}}}' -- sleep 3600 >/dev/null || exit 1
vip=$(kubectl get service win-webserver -o 'jsonpath={.spec.clusterIP}')

check 1 "both pods are Ready, on Windows nodes" both_ready
client_ip=$(kubectl get pod web-client -o 'jsonpath={.status.podIP}')
check 2 "two containers per pod: a READY sandbox with a live pause, and the web server" two_containers_a_pod
check 3 "node to pod: curl of each pod IP from master, counting up" node_to_pod
check 4 "pod to pod across nodes, Windows and Linux: ping and TCP" pod_to_pod
check 5 "service IP from master and from pods; not from Windows nodes" service_to_pod
check 6 "service name with the default DNS suffix" service_by_name
check 7 "NodePort from master, from outside and from your own shell" inbound
check 8 "outbound connections from inside pods" outbound
echo "$passed/8"
[ "$passed" = 8 ]
