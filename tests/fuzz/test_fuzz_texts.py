"""Texts that clients, files and annotations hold: each parser returns or raises its one error."""

import orjson
import pytest
from fuzzing import fuzz, texts

from muntin.apiserver import bodies, negotiation, paging, request, routing, status
from muntin.cluster import settings_file
from muntin.cni import addresses
from muntin.controllers.rules import cron_schedule, job_indexes
from muntin.dns.forward import parse_upstream
from muntin.kit import depth, jose, numbers, safe_yaml, timestamps
from muntin.kit.errors import Invalid, MuntinError
from muntin.kit.http.addresses import is_global_unicast
from muntin.kubelet.server import log_options
from muntin.lint import documents
from muntin.lint.run import lint_text
from muntin.model import durations, go_values, intstr, names, quantity, selectors
from muntin.model.conversion import annotations
from muntin.model.custom import formats, jsonpath
from muntin.model.field_selectors import parse_fields
from muntin.model.fields import elements
from muntin.model.pod_security.levels import parse_version
from muntin.model.resources import PODS
from muntin.model.validation import indexes, schedules
from muntin.model.windows_releases import parse_kubernetes
from muntin.seams.cni import conf
from muntin.seams.oci import reference
from muntin.seams.streams.portforward_channels import parse_ports
from muntin.seams.streams.remotecommand import parse_size

YAML = """apiVersion: v1
kind: Pod
metadata: {name: &a web, labels: {app: *a, "on": yes, ? b : 1e3}}
spec:
  containers:
  - {name: c, image: "nginx", args: [--x, '-y', !!str 1, 2024-01-01, 0x1F, .5, ~]}
  - <<: {name: d}
    command: |
      line
"""
JSON = '{"a": [1, -2.5e3, true, null, "x\\u00e9"], "b": {"c": []}}'
CLUSTER = """apiVersion: muntin.dev/v1
kind: Cluster
name: c
nodes:
- name: lin01
  os: linux
networking: {apiServerPort: 6443}
"""


def schedule_next(text):
    if not schedules.schedule_problem(text):
        cron_schedule.parse(text).next(1_700_000_000.0)


def formatted(text):
    for name in formats.ALL:
        formats.checker(name)(text)


def query(text):
    parsed = request.parse_query(text)
    log_options({key: list(values) for key, values in parsed.items()}, 0.0)


TARGETS = {
    "YAML file": (safe_yaml.load, texts(YAML), Invalid),
    "YAML body": (lambda text: bodies.parse_yaml(text.encode()), texts(YAML), status.ApiError),
    "YAML to lint": (lambda text: documents.read(text, "x.yaml"), texts(YAML)),
    "lint": (lint_text, texts(YAML)),
    "JSON": (depth.loads, texts(JSON), orjson.JSONDecodeError, Invalid),
    "JSON error": (lambda text: go_values.json_error(text.encode()), texts(JSON)),
    "JSON annotation": (annotations.parsed, texts(JSON)),
    "cluster file": (lambda text: settings_file.decode(text, "f"), texts(CLUSTER), Invalid),
    "label selector": (selectors.parse_labels, texts("a=b,c in (d,e),!f,g>1,h notin (i)"), Invalid),
    "field selector": (lambda text: parse_fields(text, PODS),
                       texts("metadata.name=a,status.phase!=b", r"spec.nodeName=a\,b"), Invalid),
    "quantity": (quantity.parse, texts("100m", "1.5Gi", "-1e3", "0.001u"), Invalid),
    "canonical quantity": (quantity.canonical, texts("100m", "1.5Gi", "1e-3"), Invalid),
    "int or percent": (lambda text: intstr.resolve(text, 10, round_up=True), texts("25%"), Invalid),
    "signed number": (numbers.parse_int, texts("-12", "9223372036854775807"), Invalid),
    "unsigned number": (numbers.parse_uint, texts("12"), Invalid),
    "time": (timestamps.parse_rfc3339, texts("2024-01-02T03:04:05.123456+01:00"), Invalid),
    "duration": (durations.parse_duration, texts("1h2m3.5s", "-300ms"), Invalid),
    "cron": (schedule_next, texts("*/5 1-3,7 * jan mon", "@every 1h", "TZ=UTC 0 0 1 1 *")),
    "time zone": (schedules.time_zone_problem, texts("Europe/Berlin", "UTC")),
    "indexes": (lambda text: indexes.count(text, 100), texts("1,3-5,7"), Invalid),
    "completed indexes": (lambda text: job_indexes.parse(text, 100), texts("1,3-5,7")),
    "string formats": (formatted, texts("2024-01-01T00:00:00Z", "a@b.c", "1.2.3.4/8", "::1", "1h",
                                        "http://a:80/b?c#d", "978-3-16-148410-0")),
    "names": (lambda text: (names.dns1123_label(text), names.qualified_name(text),
                            names.dns1123_subdomain(text)), texts("a-b.c/d")),
    "JSON path": (jsonpath.parse, texts(".spec.a[0].b", ".a[?(@.b==1)]", "{..c[1:2]}"), Invalid),
    "field path": (elements.parse, texts('k:{"a":1}', "v:[1]", "i:3", "f:a"), Invalid),
    "JSON web token": (jose.peek, texts("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.AAAA"), Invalid),
    "continue": (lambda text: paging.parse_token(text, namespaced=True),
                 texts("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhL2IifQ"),
                 status.ApiError),
    "path": (lambda text: routing.parse(request.decode_path(text)),
             texts("/api/v1/namespaces/a/pods/b/log", "/apis/a/v1/b/%20")),
    "query of a log": (query, texts("tailLines=3&sinceTime=2024-01-01T00:00:00Z&follow=1"),
                       Invalid),
    "Accept": (lambda text: negotiation.negotiated(text),
               texts("application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5,*/*")),
    "Kubernetes version": (parse_kubernetes, texts("v1.34.2"), Invalid),
    "pod security version": (parse_version, texts("v1.34", "latest"), Invalid),
    "address": (is_global_unicast, texts("10.0.0.1", "::ffff:1.2.3.4", "fe80::1%eth0")),
    "CNI address": (addresses.parse_prefix, texts("10.0.0.0/24"), ValueError),
    "DNS upstream": (parse_upstream, texts("10.0.0.1:53", "10.0.0.1"), ValueError, MuntinError),
    "CNI configuration": (conf.parse, texts('{"name":"a","plugins":[{"type":"b"}]}'), Invalid),
    "image reference": (reference.parse, texts("a.b:5000/c/d:e@sha256:" + "0" * 64), Invalid),
    "ports to forward": (lambda text: parse_ports([text]), texts("80,443"), Invalid),
    "terminal size": (lambda text: parse_size(text.encode()), texts('{"Width": 80, "Height": 24}')),
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_texts(name):
    parse, values, *refusals = TARGETS[name]
    fuzz(parse, values, *refusals)
