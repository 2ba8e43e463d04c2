"""Requests that are well-formed HTTP and hold one odd value, as tables: values by places.

`requests` gives (name, method, path, headers, body). None may be answered with a 500.
"""

import json
from urllib.parse import quote

MANY = "9" * 5_000
CORE = "/api/v1/namespaces/default"
JSON = {"content-type": "application/json"}
YAML = {"content-type": "application/yaml"}
PATCH = {
    kind: {"content-type": f"application/{kind}+json"}
    for kind in ("merge-patch", "strategic-merge-patch", "json-patch")
}
APPLY = {"content-type": "application/apply-patch+yaml"}

COUNTS = (MANY, f"-{MANY}", str(2**31), str(2**63), str(2**64), "-1", "²", "٣", "1_0", "+1", " 1",
          "1e5", "0x1", "NaN", "1.5")  # fmt: skip
FUTURE = (str(2**31), str(2**63))  # revisions for which a server waits
QUERIES = (
    ("GET", f"{CORE}/configmaps", ("limit", "resourceVersion", "timeoutSeconds", "continue")),
    ("GET", f"{CORE}/configmaps?watch=1&timeoutSeconds=1", ("resourceVersion",)),
    ("GET", f"{CORE}/configmaps/one", ("resourceVersion",)),
    ("GET", f"{CORE}/configmaps?limit=1&resourceVersion=0", ("resourceVersionMatch",)),
    ("DELETE", f"{CORE}/configmaps/none", ("gracePeriodSeconds",)),
    ("DELETE", f"{CORE}/configmaps", ("gracePeriodSeconds", "limit")),
    ("GET", f"{CORE}/pods/run/log", ("tailLines", "sinceSeconds", "limitBytes", "sinceTime")),
    ("POST", f"{CORE}/pods/run/portforward", ("ports",)),
)
TIMES = ("2024-01-01T00:00:00+99:99", "2024-01-01T00:00:00-24:00", "0000-01-01T00:00:00Z",
         "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z",
         "2024-02-30T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01", "²024-01-01T00:00:00Z",
         f"2024-01-01T00:00:00.{MANY}Z", MANY, "", "x\ud7ff\u0000")  # fmt: skip
LONGS = (2**63 - 1, -(2**63), 2**63, 2**64, 10**12, 2**31, -1, 1e300, 1.5, True, "1", None)
SHARES = (f"{MANY}%", "101%", "-1%", "²%", "%", "1.5%", f"{MANY}", "٣%", "18446744073709551616%")
QUANTITIES = (MANY, f"{MANY}Ei", f"0.{MANY}", f"1e{MANY}", f"1e-{MANY}", "1e9999", "1e-9999", "²",
              "-1e999Gi", "٣Mi", "+.", "nan", "1Ki2")  # fmt: skip
SCHEDULES = (f"{MANY} * * * *", "² * * * *", f"*/{MANY} * * * *", "-1 * * * *", "1-² * * * *",
             f"@every {MANY}s", "@every 9e9h", f"@every {MANY}.{MANY}h", "@every -1s",
             "* " * 5_000, ",".join(["1"] * 5_000) + " * * * *", "٣ * * * *")  # fmt: skip
ZONES = ("../../etc/passwd", "/etc/passwd", "a" * 5_000, "Etc", "posix", "Europe", "\u0000", "é",
         "Etc/GMT+99", "UTC/UTC", ".", "localtime")  # fmt: skip
ADDRESSES = ("::ffff:127.0.0.1", "fe80::1%eth0", "1.2.3", "0x7f000001", "2130706433", "¹.1.1.1",
             "٣.1.1.1", "1.1.1.1/²", f"1.1.1.1/{MANY}", "::1/129", "[::1]", "a]b", "", "01.1.1.1",
             "1.1.1.1%x", "x" * 5_000, "\u0000")  # fmt: skip
SELECTORS = ("a in (" + "b," * 5_000 + ")", "(" * 5_000, "a" * 70_000, "a>²", f"a>{MANY}", "!" * 99,
             "a=b=c", "a in b", "\u0000", "a notin ()", ",", "a,,b", "²=²", "a\n=b")  # fmt: skip
EXPRESSIONS = ("(" * 5_000 + "1" + ")" * 5_000, "!" * 5_000 + "true", "-" * 5_001 + "1 == 1",
               "[" * 5_000 + "]" * 5_000, " && ".join(["true"] * 5_000), f"{MANY} == 1",
               f"1.{MANY}e{MANY} == 1.0", "'" + "x" * 100_000, "self" + ".a" * 5_000 + " == 1",
               "[1,2].all(a, " * 60 + "true" + ")" * 60, "'a'.matches('" + "(a*)*" * 200 + "b')",
               "duration('" + "9" * 400 + "s') > duration('1s')", "timestamp('0000') == null",
               "1 / 0 == 1", f"semver('{MANY}.1.1') == semver('1.1.1')", "quantity('1e9999') == 1",
               "ip('٣.1.1.1') == ip('1.1.1.1')", "url('http://a:²') == url('/')", "\u0000", "",
               "'\\U00110000' == ''", "b'\\xff' == b''", "0x" + "f" * 5_000 + " == 1",
               "ternary ? " * 500, "true && 'a'", "1 || true", "!1", "'a' ? 1 : 2")  # fmt: skip
FORMATS = ("date", "date-time", "duration", "byte", "uri", "email", "ipv4", "ipv6", "cidr", "mac",
           "uuid", "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor",
           "hostname", "bsonobjectid", "password", "int32", "float")  # fmt: skip
TEXTS = ("²", "é", "\u0000", "a" * 20_000, "9" * 5_000, "٣" * 10, "http://[", "http://a:99999/",
         "<" * 5_000 + "@", "a@" * 5_000, "2024-13-01", "::1%a", "-", "1.1.1.1/²")  # fmt: skip


def deep(levels, kind):
    """JSON text that nests so often."""
    if kind == "lists":
        return "[" * levels + "]" * levels
    return '{"a":' * levels + "1" + "}" * levels


def pod(name="poisoned", **changes):
    base = {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    return merged(base, changes)


def merged(value, changes):
    """``value`` with members replaced at paths such as ``spec__containers__0__name``."""
    result = json.loads(json.dumps(value))
    for path, new in changes.items():
        holder = result
        *parents, last = path.split("__")
        for step in parents:
            step = int(step) if isinstance(holder, list) else step
            if not isinstance(holder, list):
                holder.setdefault(step, {})
            holder = holder[step]
        holder[int(last) if isinstance(holder, list) else last] = new
    return result


def template(**changes):
    obj = pod(**changes)
    obj["metadata"] = {"labels": {"a": "b"}}
    return obj


WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": template()}
GROUPS = {
    "pods": f"{CORE}/pods",
    "services": f"{CORE}/services",
    "endpoints": f"{CORE}/endpoints",
    "nodes": "/api/v1/nodes",
    "quotas": f"{CORE}/resourcequotas",
    "limits": f"{CORE}/limitranges",
    "claims": f"{CORE}/persistentvolumeclaims",
    "events": f"{CORE}/events",
    "deployments": "/apis/apps/v1/namespaces/default/deployments",
    "daemonsets": "/apis/apps/v1/namespaces/default/daemonsets",
    "statefulsets": "/apis/apps/v1/namespaces/default/statefulsets",
    "jobs": "/apis/batch/v1/namespaces/default/jobs",
    "cronjobs": "/apis/batch/v1/namespaces/default/cronjobs",
    "budgets": "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    "leases": "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    "slices": "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    "policies": "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
    "ranges": "/apis/networking.k8s.io/v1/servicecidrs",
    "ips": "/apis/networking.k8s.io/v1/ipaddresses",
    "scalers": "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    "signing": "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "admission": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "definitions": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "reviews": "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "flows": "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
}
SERVICE = {"metadata": {"name": "poisoned"}, "spec": {"ports": [{"port": 80}]}}
JOB = {"metadata": {"name": "poisoned"},
       "spec": {"template": template(spec__restartPolicy="Never")}}  # fmt: skip
CRON = {"metadata": {"name": "poisoned"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": JOB["spec"]}}}  # fmt: skip
BUDGET = {"metadata": {"name": "poisoned"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}
EVENT = {
    "metadata": {"name": "poisoned"},
    "involvedObject": {"kind": "Pod", "name": "x", "namespace": "default"},
    "reason": "R",
}


def _sets(**changes):
    return merged({"metadata": {"name": "poisoned"}, "spec": WORKLOAD}, changes)


# Of each group of values: what holds them, and where in it.
PLACES = (
    (TIMES, "pods", pod(), ("metadata__creationTimestamp", "metadata__deletionTimestamp",
                            "status__startTime")),
    (TIMES, "leases", {"metadata": {"name": "poisoned"}, "spec": {}},
     ("spec__renewTime", "spec__acquireTime")),
    (TIMES, "events", EVENT, ("eventTime", "lastTimestamp", "series__lastObservedTime")),
    (LONGS, "pods", pod(), ("spec__terminationGracePeriodSeconds", "spec__activeDeadlineSeconds",
                            "spec__containers__0__ports", "metadata__generation",
                            "metadata__deletionGracePeriodSeconds",
                            "spec__securityContext__runAsUser", "spec__priority")),
    (LONGS, "deployments", _sets(), ("spec__replicas", "spec__progressDeadlineSeconds")),
    (LONGS, "jobs", JOB, ("spec__ttlSecondsAfterFinished", "spec__completions",
                          "spec__activeDeadlineSeconds")),
    (LONGS, "cronjobs", CRON, ("spec__startingDeadlineSeconds",)),
    (LONGS, "leases", {"metadata": {"name": "poisoned"}, "spec": {}},
     ("spec__leaseDurationSeconds",)),
    (LONGS, "services", SERVICE, ("spec__ports__0__port", "spec__healthCheckNodePort")),
    (LONGS, "signing", {"metadata": {"name": "poisoned"}, "spec": {
        "signerName": "a.b/c", "request": "", "usages": []}}, ("spec__expirationSeconds",)),
    (SHARES, "budgets", BUDGET, ("spec__minAvailable", "spec__maxUnavailable")),
    (SHARES, "deployments", _sets(), ("spec__strategy__rollingUpdate__maxUnavailable",
                                      "spec__strategy__rollingUpdate__maxSurge")),
    (SHARES, "daemonsets", _sets(spec__updateStrategy={"type": "RollingUpdate"}),
     ("spec__updateStrategy__rollingUpdate__maxUnavailable",)),
    (SHARES, "statefulsets", _sets(spec__serviceName="x"),
     ("spec__updateStrategy__rollingUpdate__maxUnavailable",)),
    (SHARES, "services", SERVICE, ("spec__ports__0__targetPort",)),
    (QUANTITIES, "pods", pod(), ("spec__containers__0__resources__requests__cpu",
                                 "spec__overhead__memory")),
    (QUANTITIES, "quotas", {"metadata": {"name": "poisoned"}, "spec": {}}, ("spec__hard__pods",)),
    (QUANTITIES, "limits", {"metadata": {"name": "poisoned"}, "spec": {
        "limits": [{"type": "Container"}]}}, ("spec__limits__0__max__cpu",)),
    (QUANTITIES, "claims", {"metadata": {"name": "poisoned"}, "spec": {
        "accessModes": ["ReadWriteOnce"]}}, ("spec__resources__requests__storage",)),
    (SCHEDULES, "cronjobs", CRON, ("spec__schedule",)),
    (ZONES, "cronjobs", CRON, ("spec__timeZone",)),
    (COUNTS, "pods", pod(), (
        "metadata__annotations__controller.kubernetes.io/pod-deletion-cost",
        "metadata__annotations__batch.kubernetes.io/job-completion-index",
        "metadata__resourceVersion")),
    (COUNTS, "deployments", _sets(), (
        "metadata__annotations__deployment.kubernetes.io/revision",)),
    (COUNTS, "daemonsets", _sets(), (
        "metadata__annotations__deprecated.daemonset.template.generation",)),
    (ADDRESSES, "services", SERVICE, ("spec__clusterIP", "spec__externalIPs",
                                      "spec__loadBalancerIP", "spec__loadBalancerSourceRanges",
                                      "spec__externalName")),
    (ADDRESSES, "endpoints", {"metadata": {"name": "poisoned"}, "subsets": [
        {"addresses": [{}], "ports": [{"port": 1}]}]}, ("subsets__0__addresses__0__ip",)),
    (ADDRESSES, "slices", {"metadata": {"name": "poisoned"}, "addressType": "IPv4",
                           "endpoints": [{}]}, ("endpoints__0__addresses",)),
    (ADDRESSES, "policies", {"metadata": {"name": "poisoned"}, "spec": {
        "podSelector": {}, "ingress": [{"from": [{}]}]}},
     ("spec__ingress__0__from__0__ipBlock__cidr",)),
    (ADDRESSES, "ranges", {"metadata": {"name": "poisoned"}, "spec": {}}, ("spec__cidrs",)),
    (ADDRESSES, "ips", {"metadata": {}, "spec": {}}, ("metadata__name",)),
    (ADDRESSES, "nodes", {"metadata": {"name": "poisoned"}, "spec": {}},
     ("spec__podCIDR", "spec__podCIDRs")),
    (ADDRESSES, "pods", pod(), ("spec__dnsConfig__nameservers", "spec__hostAliases",
                                "spec__containers__0__livenessProbe__httpGet__host")),
    (SELECTORS, "scalers", {"metadata": {"name": "poisoned"}, "spec": {
        "scaleTargetRef": {"kind": "Deployment", "name": "x"}, "maxReplicas": 3}},
     ("status__currentReplicas", "spec__metrics")),
)  # fmt: skip
_LISTS = ("externalIPs", "loadBalancerSourceRanges", "addresses", "cidrs", "podCIDRs",
          "nameservers")  # fmt: skip


def of_places():
    """Creations: each value in each place."""
    for values, group, body, paths in PLACES:
        for path in paths:
            for value in values:
                last = path.rpartition("__")[2]
                given = [value] if last in _LISTS else value
                name = f"{group} {path}={str(value)[:20]!r}"
                data = json.dumps(merged(body, {path: given})).encode()
                yield name, "POST", GROUPS[group], JSON, data


def of_queries():
    for method, path, names in QUERIES:
        for name in names:
            for value in (*COUNTS, *TIMES[:3]):
                if name == "resourceVersion" and value in FUTURE:
                    continue
                mark = "&" if "?" in path else "?"
                target = f"{path}{mark}{name}={quote(value)}"
                yield f"{method} {name}={value[:20]!r}", method, target, {}, b""
    for selector in SELECTORS:
        for name in ("labelSelector", "fieldSelector"):
            target = f"{CORE}/pods?{name}={quote(selector)}"
            yield f"{name} {selector[:20]!r}", "GET", target, {}, b""
    for text in ("%FF", "%C3", "%ED%A0%80", "%00", "%", "%zz", "a;b", "=", "&&&", "%2525"):
        for name in ("limit", "labelSelector", "fieldSelector", "continue", "resourceVersion",
                     "fieldManager", "dryRun", "pretty", "timeout",
                     "propagationPolicy"):  # fmt: skip
            yield f"{name}={text}", "GET", f"{CORE}/configmaps?{name}={text}", {}, b""
            yield f"DELETE {name}={text}", "DELETE", f"{CORE}/configmaps/x?{name}={text}", {}, b""
    for value in ("1ns", MANY, "1e9s", "-1s", "9" * 30 + "h", "²s", ""):
        yield f"timeout={value[:9]}", "GET", f"{CORE}/configmaps?timeout={quote(value)}", {}, b""


def of_paths():
    for text in (
        "%FF",
        "%00",
        "%ED%A0%80",
        "²",
        ".",
        "..",
        "%2F",
        "a" * 5_000,
        "a%0Ab",
        "a]b",
        ":",
    ):
        name = text if "%" in text else quote(text)
        for root in (f"{CORE}/pods", "/api/v1/nodes", "/apis", "/openapi/v3", "/logs", "/healthz"):
            yield f"path {root} {text[:9]}", "GET", f"{root}/{name}", {}, b""
    for port in ("²", MANY, "99999", "-1", "abc", "0", "", "80:80", "%C2%B2"):
        for kind in ("pods", "services", "nodes"):
            where = CORE if kind != "nodes" else "/api/v1"
            scheme = "http:" if kind == "nodes" else ""
            target = f"{where}/{kind}/{scheme}x:{quote(port, safe='%:')}/proxy/"
            yield f"proxy {kind} {port[:9]}", "GET", target, {}, b""


def of_headers():
    for name, values in {
        "Accept": ("²", "a/b;q=" + MANY, ";" * 5_000, "application/json;as=Table;v=²;g=x", "é"),
        "Content-Type": ("application/json; charset=²", "²", ";;;", "a" * 5_000),
        "Authorization": ("Bearer ²", "Bearer " + "a." * 5_000, "Bearer a.b.c", "Basic ²", "²"),
        "Impersonate-User": ("²", "", "a" * 5_000, "system:serviceaccount:²:"),
        "Impersonate-Extra-%ff%zz": ("a",),
        "Accept-Encoding": ("gzip;q=²", "gzip;q=" + MANY, ";"),
        "If-None-Match": ("²", "a" * 5_000),
        "Audit-Id": ("²", "a" * 5_000),
        "X-Forwarded-For": ("²", "::1%a", "a" * 5_000),
        "Range": ("bytes=²-",),
    }.items():
        for value in values:
            raw = value.encode().decode("latin-1")
            for method, data in (("GET", b""), ("POST", b'{"metadata":{"name":"x"}}')):
                headers = {**(JSON if data else {}), name: raw}
                yield f"{method} {name}: {value[:9]}", method, f"{CORE}/configmaps", headers, data


def of_depth():
    for levels in (150, 199, 201, 250, 1_000, 1_020, 5_000, 50_000):
        for kind in ("lists", "maps"):
            text = deep(levels, kind)
            body = f'{{"metadata":{{"name":"deep"}},"data":{text}}}'.encode()
            for headers in (JSON, YAML):
                yield f"{kind} {levels} {headers}", "POST", f"{CORE}/configmaps", headers, body
            any_ = (f'{{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{{"name":'
                    f'"deep{levels}{kind}"}},"spec":{{"cronSpec":"* * * * *","any":'
                    f'{{"x":{text}}}}}}}').encode()  # fmt: skip
            where = "/apis/stable.example.com/v1/namespaces/default/crontabs"
            yield f"custom {kind} {levels}", "POST", where, JSON, any_
            for patch, headers in PATCH.items():
                if patch != "strategic-merge-patch":
                    change = f'{{"spec":{{"any":{text}}}}}'
                    if patch == "json-patch":
                        change = f'[{{"op":"add","path":"/spec/any","value":{{"a":{text}}}}}]'
                    yield (f"custom {patch} {kind} {levels}", "PATCH", f"{where}/one", headers,
                           change.encode())  # fmt: skip
                if patch == "json-patch":
                    text = f'[{{"op":"add","path":"/data","value":{text}}}]'
                for target in (f"{CORE}/configmaps/one", f"{CORE}/pods/run"):
                    yield f"{patch} {kind} {levels}", "PATCH", target, headers, text.encode()
            applied = (f"{where}/one?fieldManager=me&force=true", any_.replace(
                f'"deep{levels}{kind}"'.encode(), b'"one"'))  # fmt: skip
            yield f"apply {kind} {levels}", "PATCH", applied[0], APPLY, applied[1]
    grow = [{"op": "add", "path": "/spec/any", "value": {"a": {}}}]
    grow += [{"op": "copy", "from": "/spec/any", "path": "/spec/any" + "/a" * n}
             for n in (1, 2, 4, 8, 16, 32, 64, 128)]  # fmt: skip
    where = "/apis/stable.example.com/v1/namespaces/default/crontabs/one"
    yield "copies into themselves", "PATCH", where, PATCH["json-patch"], json.dumps(grow).encode()
    steps = [{"op": "add", "path": "/spec/any", "value": {}}]
    steps += [{"op": "add", "path": "/spec/any" + "/a" * n, "value": {}} for n in range(1, 500)]
    yield "steps down", "PATCH", where, PATCH["json-patch"], json.dumps(steps).encode()
    for pointer in (f"/spec/{MANY}", "/metadata/finalizers/²", f"/metadata/finalizers/-{MANY}"):
        change = [{"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]},
                  {"op": "test", "path": pointer, "value": 1}]  # fmt: skip
        yield f"pointer {pointer[:30]}", "PATCH", where, PATCH["json-patch"], json.dumps(
            change).encode()  # fmt: skip
    for name, text in {"items": "- " * 30_000, "keys": "? " * 30_000,
                       "tag": "!!int x", "date": "2024-13-99", "int": MANY,
                       "merge": "<<: [*a]"}.items():  # fmt: skip
        for headers in (YAML, APPLY):
            method, path = ("POST", GROUPS["reviews"]) if headers is YAML else (
                "PATCH", f"{CORE}/configmaps/one?fieldManager=me")  # fmt: skip
            yield f"YAML {name}", method, path, headers, text.encode()
            yield f"YAML {name} inside", method, path, headers, f"data: {{a: {text}}}".encode()


def custom(name, schema, **version):
    group = "poison.example.com"
    names = {"plural": name, "singular": name, "kind": name.capitalize(), "listKind": f"{name}List"}
    return {
        "metadata": {"name": f"{name}.{group}"},
        "spec": {
            "group": group, "scope": "Namespaced", "names": names,
            "versions": [{"name": "v1", "served": True, "storage": True, **version, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}}],
        },
    }  # fmt: skip


def of_definitions():
    """Definitions that are odd, and then objects of one that asks for all formats."""
    for number, expression in enumerate(EXPRESSIONS):
        rule = {"type": "string", "x-kubernetes-validations": [{"rule": expression}]}
        body = custom(f"rule{number}", rule)
        yield f"rule {expression[:20]}", "POST", GROUPS["definitions"], JSON, json.dumps(
            body).encode()  # fmt: skip
        policy = {"metadata": {"name": f"poison{number}"}, "spec": {
            "matchConstraints": {"resourceRules": [{
                "apiGroups": ["x.y"], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["none"]}]},
            "validations": [{"expression": expression}]}}  # fmt: skip
        yield f"policy {expression[:20]}", "POST", GROUPS["admission"], JSON, json.dumps(
            policy).encode()  # fmt: skip
    for number, schema in enumerate((
        {"type": "string", "pattern": "(a*)*" * 300 + "b"},
        {"type": "string", "pattern": "(" * 999},
        {"type": "string", "maxLength": 2**63 - 1}, {"type": "string", "maxLength": -1},
        {"type": "number", "multipleOf": 1e-308}, {"type": "number", "multipleOf": -1},
        {"type": "number", "maximum": 1e308}, {"type": "array", "items": {"type": "x" * 5_000}},
        {"type": "string", "enum": [{"a": []}, None, MANY]}, {"type": "string", "default": 1e300},
    )):  # fmt: skip
        body = custom(f"schema{number}", schema)
        yield f"schema {number}", "POST", GROUPS["definitions"], JSON, json.dumps(body).encode()
    for number, path in enumerate(("." * 500, ".spec[²]", f".spec[{MANY}]", ".spec[?(@.a==²)]",
                                   ".spec" + ".a" * 5_000, f".spec[1:{MANY}]", "{}",
                                   "\u0000")):  # fmt: skip
        columns = [{"name": "c", "type": "integer", "jsonPath": path}]
        body = custom(f"column{number}", {"type": "string"}, additionalPrinterColumns=columns)
        yield f"column {path[:9]}", "POST", GROUPS["definitions"], JSON, json.dumps(body).encode()


# The definition whose objects are poisoned; it is made before.
FORMATTED = custom(
    "poisons",
    {"type": "object", "properties": {
        "small": {"type": "number", "multipleOf": 1e-308},
        "large": {"type": "number", "multipleOf": 1e300},
        "any": {"x-kubernetes-preserve-unknown-fields": True},
        "when": {"type": "string"}, "count": {"type": "number"},
        "intOr": {"x-kubernetes-int-or-string": True},
        **{name.replace("-", ""): {"type": "string", "format": name} for name in FORMATS}}},
    additionalPrinterColumns=[
        {"name": "When", "type": "date", "jsonPath": ".spec.when"},
        {"name": "Count", "type": "integer", "jsonPath": ".spec.count"},
    ],
)  # fmt: skip


def of_formats():
    where = "/apis/poison.example.com/v1/namespaces/default/poisons"
    kind = {"apiVersion": "poison.example.com/v1", "kind": "Poisons"}

    def creation(number, **spec):
        body = {**kind, "metadata": {"name": f"p{number}"}, "spec": spec}
        return f"custom {str(spec)[:40]}", "POST", where, JSON, json.dumps(body).encode()

    number = 0
    for name in FORMATS:
        for text in TEXTS:
            number += 1
            yield creation(number, **{name.replace("-", ""): text})
    for field in ("small", "large", "count", "intOr", "any"):
        for value in (1e308, -1e308, 5e-324, 2**63, 2**64, 10**300, 1.5, MANY, "²", True, None):
            number += 1
            yield creation(number, **{field: value})
    for value in TIMES:
        number += 1
        yield creation(number, when=value)
    table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    yield "table of poisons", "GET", where, table, b""
    yield "list of poisons", "GET", where, {"accept": "application/yaml"}, b""


def requests():
    """All of them; the names are unique."""
    for table in (
        of_queries,
        of_paths,
        of_headers,
        of_places,
        of_depth,
        of_definitions,
        of_formats,
    ):
        for number, (name, *rest) in enumerate(table()):
            yield f"{table.__name__} {number} {name}", *rest
