"""How nodes, namespaces, events, configuration, roles and leases are shown.

Source: kubernetes v1.34 pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from muntin.model import durations, nodes
from muntin.model.pods import condition
from muntin.model.tables.printer import (
    NOTHING,
    UNKNOWN,
    Cells,
    Column,
    Object,
    Printer,
    age,
    columns,
    labels_text,
    name,
    spec_of,
    status_of,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"


def _node_roles(node: Object) -> str:
    labels = node["metadata"].get("labels") or {}
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    roles.add(labels.get("kubernetes.io/role", ""))
    return ",".join(sorted(role for role in roles if role)) or NOTHING


def _node_status(node: Object) -> str:
    ready = condition(node, "Ready")
    shown = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{shown},SchedulingDisabled" if spec_of(node).get("unschedulable") else shown


def _node(obj: Object, now_s: float) -> Cells:
    status = status_of(obj)
    info = status.get("nodeInfo") or {}
    addresses: dict[str, str] = {}
    for kind, text in nodes.addresses(obj):
        addresses.setdefault(kind, text)
    return [
        name(obj),
        _node_status(obj),
        _node_roles(obj),
        age(obj, now_s),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", NOTHING),
        addresses.get("ExternalIP", NOTHING),
        info.get("osImage") or UNKNOWN,
        _kernel(info),
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _kernel(info: Object) -> str:
    """The kernel's version and, if it is known, the machine's architecture."""
    version, architecture = info.get("kernelVersion") or UNKNOWN, info.get("architecture")
    return f"{version} ({architecture})" if architecture else str(version)


def _older_node(obj: Object, now_s: float) -> Cells:
    cells = _node(obj, now_s)
    info = status_of(obj).get("nodeInfo") or {}
    cells[8] = info.get("kernelVersion") or UNKNOWN
    return cells


def _event_source(obj: Object) -> str:
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    component = (
        source.get("component")
        or obj.get("reportingComponent")
        or obj.get("reportingController", "")
    )
    host = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {host}" if host else str(component)


def _event_times(obj: Object, now_s: float) -> tuple[str, str, int]:
    """(first seen, last seen, count)."""
    first_stamp = obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp")
    first = durations.since(first_stamp or obj.get("eventTime"), now_s)
    last_stamp = obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    last = durations.since(last_stamp, now_s) if last_stamp else first
    series = obj.get("series")
    if series:
        return first, durations.since(series.get("lastObservedTime"), now_s), series["count"]
    return first, last, obj.get("count") or obj.get("deprecatedCount") or 1


def _event(obj: Object, now_s: float) -> Cells:
    target = obj.get("involvedObject") or obj.get("regarding") or {}
    kind = str(target.get("kind", "")).lower()
    first, last, count = _event_times(obj, now_s)
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{target['name']}" if target.get("name") else kind,
        target.get("fieldPath", ""),
        _event_source(obj),
        str(obj.get("message") or obj.get("note") or "").strip(),
        first,
        count,
        name(obj),
    ]


def _namespace(obj: Object, now_s: float) -> Cells:
    return [name(obj), status_of(obj).get("phase", ""), age(obj, now_s)]


def _config_map(obj: Object, now_s: float) -> Cells:
    size = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return [name(obj), size, age(obj, now_s)]


def _secret(obj: Object, now_s: float) -> Cells:
    return [name(obj), obj.get("type", ""), len(obj.get("data") or ()), age(obj, now_s)]


def _service_account(obj: Object, now_s: float) -> Cells:
    return [name(obj), age(obj, now_s)]


def _service_account_secrets(obj: Object, now_s: float) -> Cells:
    return [name(obj), len(obj.get("secrets") or ()), age(obj, now_s)]


def _component_status(obj: Object, _: float) -> Cells:
    rows = obj.get("conditions") or ()
    row: Object = next((row for row in rows if row["type"] == "Healthy"), {})
    shown = {"True": "Healthy", "False": "Unhealthy"}.get(row.get("status", ""), "Unknown")
    return [name(obj), shown, row.get("message", ""), row.get("error", "")]


def _quota(obj: Object, now_s: float) -> Cells:
    hard, used = status_of(obj).get("hard") or {}, status_of(obj).get("used") or {}
    limits: list[str] = []
    requests: list[str] = []
    for resource in sorted(hard):
        text = f"{resource}: {used.get(resource, '0')}/{hard[resource]}"
        (limits if resource.startswith("limits.") else requests).append(text)
    return [name(obj), ", ".join(requests), ", ".join(limits), age(obj, now_s)]


def _older_quota(obj: Object, now_s: float) -> Cells:
    shown, requests, limits, old = _quota(obj, now_s)
    return [shown, old, requests, limits]


def _role_binding(obj: Object, now_s: float) -> Cells:
    role = obj.get("roleRef") or {}
    users: list[str] = []
    groups: list[str] = []
    accounts: list[str] = []
    for subject in obj.get("subjects") or ():
        if subject["kind"] == "ServiceAccount":
            accounts.append(f"{subject.get('namespace', '')}/{subject['name']}")
        else:
            (users if subject["kind"] == "User" else groups).append(subject["name"])
    shown = [", ".join(rows) for rows in (users, groups, accounts)]
    return [name(obj), f"{role.get('kind')}/{role.get('name')}", age(obj, now_s), *shown]


def _lease(obj: Object, now_s: float) -> Cells:
    return [name(obj), spec_of(obj).get("holderIdentity") or "", age(obj, now_s)]


def _priority_class(obj: Object, now_s: float) -> Cells:
    return [
        name(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now_s),
        obj.get("preemptionPolicy") or "",
    ]


def _runtime_class(obj: Object, now_s: float) -> Cells:
    return [name(obj), obj.get("handler", ""), age(obj, now_s)]


def _signing_request(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    seconds = spec.get("expirationSeconds")
    kinds = {row["type"] for row in status.get("conditions") or ()}
    shown = [kind for kind in ("Approved", "Denied", "Failed") if kind in kinds] or ["Pending"]
    if status.get("certificate"):
        shown.append("Issued")
    return [
        name(obj),
        age(obj, now_s),
        spec.get("signerName", ""),
        spec.get("username", ""),
        NOTHING if seconds is None else durations.human(seconds),
        ",".join(shown),
    ]


def _trust_bundle(obj: Object, _: float) -> Cells:
    return [name(obj), spec_of(obj).get("signerName", "")]


def _pod_certificate(obj: Object, _: float) -> Cells:
    spec = spec_of(obj)
    state = "Pending"
    for row in status_of(obj).get("conditions") or ():
        if row["type"] in ("Issued", "Denied", "Failed"):
            state = row["type"]
    fields = ("podName", "serviceAccountName", "nodeName", "signerName")
    shown = [spec.get(field, "") for field in fields]
    return [name(obj), *shown, state, labels_text(spec.get("unverifiedUserAnnotations"))]


_MIGRATION_ENDS = frozenset({"Running", "Failed", "Succeeded"})


def _migration(obj: Object, _: float) -> Cells:
    resource = spec_of(obj).get("resource") or {}
    parts = (resource.get("resource", ""), resource.get("group", ""))
    status = "Unknown"
    for row in status_of(obj).get("conditions") or ():
        if row.get("status") == "True" and row["type"] in _MIGRATION_ENDS:
            status = row["type"]
    return [name(obj), ".".join(part for part in parts if part), status]


def _security_policy(obj: Object, _: float) -> Cells:
    spec = spec_of(obj)
    strategies = ("seLinux", "runAsUser", "fsGroup", "supplementalGroups")
    return [
        name(obj),
        "true" if spec.get("privileged") else "false",
        ",".join(spec.get("allowedCapabilities") or ()),
        *((spec.get(field) or {}).get("rule", "") for field in strategies),
        bool(spec.get("readOnlyRootFilesystem")),
        ",".join(spec.get("volumes") or ()),
    ]


_BINDING = Printer(
    columns("Name", "Role", "Age", wide=("Users", "Groups", "ServiceAccounts")), _role_binding
)
_EVENT = Printer(
    (
        *columns("Last Seen", "Type", "Reason", "Object"),
        *columns(wide=("Subobject", "Source")),
        *columns("Message"),
        Column("First Seen", priority=1),
        Column("Count", priority=1),
        Column("Name", priority=1, format="name"),
    ),
    _event,
)

_NODE = columns(
    "Name",
    "Status",
    "Roles",
    "Age",
    "Version",
    wide=("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
)

PRINTERS = {
    ("", "Node"): Printer(_NODE, _node),
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
    ("", "Namespace"): Printer(columns("Name", "Status", "Age"), _namespace),
    ("", "ConfigMap"): Printer(columns("Name", ("Data", "string"), "Age"), _config_map),
    ("", "Secret"): Printer(columns("Name", "Type", "Data", "Age"), _secret),
    ("", "ServiceAccount"): Printer(columns("Name", "Age"), _service_account),
    ("", "ComponentStatus"): Printer(
        columns("Name", "Status", "Message", "Error"), _component_status
    ),
    ("", "ResourceQuota"): Printer(columns("Name", "Request", "Limit", "Age"), _quota),
    ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
    ("coordination.k8s.io", "Lease"): Printer(columns("Name", "Holder", "Age"), _lease),
    ("scheduling.k8s.io", "PriorityClass"): Printer(
        columns(
            "Name",
            ("Value", "integer"),
            ("Global-Default", "boolean"),
            "Age",
            "PreemptionPolicy",
        ),
        _priority_class,
    ),
    ("node.k8s.io", "RuntimeClass"): Printer(columns("Name", "Handler", "Age"), _runtime_class),
    ("certificates.k8s.io", "CertificateSigningRequest"): Printer(
        columns("Name", "Age", "SignerName", "Requestor", "RequestedDuration", "Condition"),
        _signing_request,
    ),
    ("certificates.k8s.io", "ClusterTrustBundle"): Printer(
        columns("Name", "SignerName"), _trust_bundle
    ),
    ("certificates.k8s.io", "PodCertificateRequest"): Printer(
        columns(
            "Name",
            "PodName",
            "ServiceAccountName",
            "NodeName",
            "SignerName",
            "State",
            "UnverifiedUserAnnotations",
        ),
        _pod_certificate,
    ),
    ("storagemigration.k8s.io", "StorageVersionMigration"): Printer(
        columns("Name", "Resource", "Status"), _migration
    ),
    ("policy", "PodSecurityPolicy"): Printer(
        columns(
            "Name",
            "Priv",
            "Caps",
            "SELinux",
            "RunAsUser",
            "FsGroup",
            "SupGroup",
            "ReadOnlyRootFs",
            "Volumes",
        ),
        _security_policy,
    ),
}

# How some were shown before; until when is said in `resources.lifecycle`.
OLDER = {
    ("", "Node"): Printer(_NODE, _older_node),
    ("", "ServiceAccount"): Printer(columns("Name", "Secrets", "Age"), _service_account_secrets),
    ("", "ResourceQuota"): Printer(columns("Name", "Age", "Request", "Limit"), _older_quota),
}
