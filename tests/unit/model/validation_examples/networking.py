"""Services, endpoints, ingresses, network policies and addresses."""

from __future__ import annotations

from muntin.model.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES, known
from validation_examples.case import (
    CIDR,
    DROP,
    IMMUTABLE,
    IP,
    KEY,
    LABEL,
    PORT,
    SUBDOMAIN,
    VALUE,
    Examples,
)

SERVICE = Examples(SERVICES, {"spec": {"ports": [{"port": 80}]}}, {"s.": "spec."})
NODE_PORT = {"s.type": "NodePort"}
BALANCER = {"s.type": "LoadBalancer"}
NAME = {"s.type": "ExternalName", "s.externalName": "a.b", "s.ports": DROP}
NO_NAME = "Forbidden: may not be set for ExternalName services"
ONLY_LB = "Forbidden: may only be used when `type` is 'LoadBalancer'"
RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
SERVICE.create(
    "ValidateService",
    ({"s.ports": []}, "spec.ports: Required value"),
    *(({"s.type": kind, "s.clusterIP": "None"},
       f"spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for {kind} services")
      for kind in ("NodePort", "LoadBalancer")),
    ({**NAME, "s.clusterIP": "1.1.1.1"}, f"spec.clusterIPs: {NO_NAME}"),
    ({**NAME, "s.ipFamilies": ["IPv4"]}, f"spec.ipFamilies: {NO_NAME}"),
    ({**NAME, "s.ipFamilyPolicy": "SingleStack"}, f"spec.ipFamilyPolicy: {NO_NAME}"),
    ({**NAME, "s.externalName": ""}, "spec.externalName: Required value"),
    ({**NAME, "s.externalName": "A"}, f'spec.externalName: Invalid value: "A": {SUBDOMAIN}'),
    ({"s.selector": {"a b": "c"}}, f'spec.selector: Invalid value: "a b": {KEY}'),
    ({"s.sessionAffinity": "X"},
     'spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'),
    ({"s.externalIPs": ["x"]}, f'spec.externalIPs[0]: Invalid value: "x": {IP}'),
    ({"s.type": "X", "s.externalTrafficPolicy": DROP},
     'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", '
     '"LoadBalancer", "NodePort"'),
    ({"s.ports.0.nodePort": 30000},
     "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"),
    ({**NODE_PORT, "s.ports": [{"name": "a", "port": 1, "nodePort": 3},
                               {"name": "b", "port": 2, "nodePort": 3}]},
     "spec.ports[1].nodePort: Duplicate value: 3"),
    ({"s.ports": [{"name": "a", "port": 1}, {"name": "b", "port": 1}]},
     'spec.ports[1]: Duplicate value: {"protocol":"TCP","port":1}'),
    ({"s.loadBalancerSourceRanges": ["1.1.1.0/24"]}, f"spec.LoadBalancerSourceRanges: {ONLY_LB}"),
    ({**BALANCER, "s.loadBalancerSourceRanges": ["x"]},
     f'spec.LoadBalancerSourceRanges[0]: Invalid value: "x": {CIDR}'),
    ({"metadata.annotations": {RANGES: ""}}, f"metadata.annotations[{RANGES}]: {ONLY_LB}"),
    ({**BALANCER, "metadata.annotations": {RANGES: "x"}},
     f'metadata.annotations[{RANGES}]: Invalid value: "x": {CIDR}'),
    ({"s.allocateLoadBalancerNodePorts": True}, f"spec.allocateLoadBalancerNodePorts: {ONLY_LB}"),
    ({"metadata.annotations": {"service.kubernetes.io/topology-mode": "a",
                               "service.kubernetes.io/topology-aware-hints": "b"}},
     'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "a": must match '
     "annotations[service.kubernetes.io/topology-aware-hints] when both are specified"),
)  # fmt: skip
SERVICE.create(
    "validateServicePort",
    ({"s.ports": [{"port": 1}, {"port": 2, "name": "b"}]}, "spec.ports[0].name: Required value"),
    ({"s.ports": [{"port": 1, "name": "A"}]},
     f'spec.ports[0].name: Invalid value: "A": {LABEL}'),
    ({"s.ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]},
     'spec.ports[1].name: Duplicate value: "a"'),
    ({"s.ports": [{"port": 0, "targetPort": 1}]},
     f"spec.ports[0].port: Invalid value: 0: {PORT}"),
    ({"s.ports.0.protocol": "X"},
     'spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'),
    ({"s.ports.0.targetPort": 70000}, f"spec.ports[0].targetPort: Invalid value: 70000: {PORT}"),
    ({"s.ports.0.targetPort": "a_b"}, 'spec.ports[0].targetPort: Invalid value: "a_b": must…'),
    ({"s.ports.0.appProtocol": "a b"},
     f'spec.ports[0].appProtocol: Invalid value: "a b": {KEY}'),
)  # fmt: skip
CONFIG = "spec.sessionAffinityConfig"
CLIENT = {"s.sessionAffinity": "ClientIP"}
NEEDED = "Required value: when session affinity type is ClientIP"
SERVICE.create(
    "validateClientIPAffinityConfig",
    ({**CLIENT, CONFIG: DROP}, f"{CONFIG}: {NEEDED}"),
    ({**CLIENT, f"{CONFIG}.clientIP": DROP}, f"{CONFIG}.clientIP: {NEEDED}"),
    ({**CLIENT, f"{CONFIG}.clientIP.timeoutSeconds": DROP},
     f"{CONFIG}.clientIP.timeoutSeconds: {NEEDED}"),
    ({**CLIENT, f"{CONFIG}.clientIP.timeoutSeconds": 86401},
     f"{CONFIG}.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less "
     "than 86400"),
)  # fmt: skip
TWO = ["1.1.1.1", "1.1.1.2"]
SERVICE.create(
    "ValidateServiceClusterIPsRelatedFields",
    ({"s.clusterIP": "1.1.1.1", "s.clusterIPs": ["1.1.1.2"]},
     'spec.clusterIPs: Invalid value: ["1.1.1.2"]: first value must match `clusterIP`'),
    ({"s.clusterIPs": ["1.1.1.1"]},
     'spec.clusterIPs: Invalid value: ["1.1.1.1"]: must be empty when `clusterIP` is not '
     "specified"),
    ({"s.ipFamilies": ["X"]},
     'spec.ipFamilies[0]: Unsupported value: "X": supported values: "IPv4", "IPv6"'),
    ({"s.ipFamilies": ["IPv4", "IPv4"]}, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'),
    ({"s.ipFamilyPolicy": "X"},
     'spec.ipFamilyPolicy: Unsupported value: "X": supported values: "PreferDualStack", '
     '"RequireDualStack", "SingleStack"'),
    ({"s.clusterIP": "None", "s.clusterIPs": ["None", "1.1.1.1"]},
     'spec.clusterIPs: Invalid value: ["None","1.1.1.1"]: \'None\' must be the first and only '
     "value"),
    ({"s.clusterIP": "x"}, f'spec.clusterIPs[0]: Invalid value: "x": {IP}'),
    ({"s.clusterIP": "1.1.1.1", "s.clusterIPs": ["1.1.1.1", "fd00::1", "fd00::2"]},
     'spec.clusterIPs: Invalid value: ["1.1.1.1","fd00::1","fd00::2"]: may only hold up to 2 '
     "values"),
    ({"s.clusterIP": "1.1.1.1", "s.clusterIPs": TWO},
     'spec.clusterIPs: Invalid value: ["1.1.1.1","1.1.1.2"]: may specify no more than one IP for '
     "each IP family"),
    ({"s.clusterIP": "fd00::1", "s.ipFamilies": ["IPv4"]},
     'spec.clusterIPs[0]: Invalid value: "fd00::1": expected an IPv4 value as indicated by '
     "`ipFamilies[0]`"),
    ({"s.clusterIP": "1.1.1.1", "s.ipFamilies": ["IPv6"]},
     'spec.clusterIPs[0]: Invalid value: "1.1.1.1": expected an IPv6 value as indicated by '
     "`ipFamilies[0]`"),
)  # fmt: skip
OUTSIDE = "spec.externalTrafficPolicy"
HEALTH = "spec.healthCheckNodePort"
SERVICE.create(
    "validateServiceExternalTrafficPolicy",
    ({OUTSIDE: "Local"},
     f'{OUTSIDE}: Invalid value: "Local": may only be set for externally-accessible services'),
    ({**NODE_PORT, OUTSIDE: DROP}, f"{OUTSIDE}: Required value"),
    ({**NODE_PORT, OUTSIDE: "X"},
     f'{OUTSIDE}: Unsupported value: "X": supported values: "Cluster", "Local"'),
    ({HEALTH: 30000},
     f"{HEALTH}: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and "
     "`externalTrafficPolicy` is 'Local'"),
    ({**BALANCER, OUTSIDE: "Local", HEALTH: 70000}, f"{HEALTH}: Invalid value: 70000: {PORT}"),
)  # fmt: skip
SERVICE.create(
    "validateServiceInternalTrafficFieldsValue",
    ({"s.internalTrafficPolicy": DROP}, "spec.internalTrafficPolicy: Required value"),
    ({"s.internalTrafficPolicy": "X"},
     'spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"'),
)  # fmt: skip
SERVICE.create(
    "validateServiceTrafficDistribution",
    ({"s.trafficDistribution": "X"},
     'spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", '
     '"PreferSameZone", "PreferSameNode"'),
)  # fmt: skip
SERVICE.create(
    "validateLoadBalancerClassField",
    ({"s.loadBalancerClass": "a.b/c"}, f"spec.loadBalancerClass: {ONLY_LB}"),
    ({**BALANCER, "s.loadBalancerClass": "a b"},
     f'spec.loadBalancerClass: Invalid value: "a b": {KEY}'),
)  # fmt: skip
ONE, OTHER = {"s.clusterIP": "1.1.1.1"}, {"s.clusterIP": "1.1.1.2"}
DUAL = {**ONE, "s.clusterIPs": ["1.1.1.1", "fd00::1"], "s.ipFamilyPolicy": "RequireDualStack"}
SERVICE.update(
    "ValidateServiceUpdate",
    (ONE, OTHER, 'spec.clusterIPs[0]: Invalid value: ["1.1.1.2"]: may not change once set'),
    (ONE, {}, "spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset"),
    (DUAL, {**ONE, "s.ipFamilyPolicy": "PreferDualStack"},
     'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when '
     "releasing the secondary clusterIP"),
    ({"s.ipFamilies": ["IPv4"]}, {"s.ipFamilies": ["IPv6"]},
     'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set'),
    ({"s.ipFamilies": ["IPv4", "IPv6"]}, {"s.ipFamilies": ["IPv4"]},
     "spec.ipFamilyPolicy: Invalid value: null: must be set to 'SingleStack' when releasing the "
     "secondary ipFamily"),
    ({**BALANCER, "s.loadBalancerClass": "a/b"}, {**BALANCER, "s.loadBalancerClass": "a/c"},
     'spec.loadBalancerClass: Invalid value: "a/c": may not change once set'),
    ({**BALANCER, OUTSIDE: "Local", HEALTH: 30000}, {**BALANCER, OUTSIDE: "Local", HEALTH: 30001},
     f"{HEALTH}: Forbidden: field is immutable"),
)  # fmt: skip
SERVICE.create(
    "ValidateServiceName",
    ({"metadata.name": "1_a"}, f'metadata.name: Invalid value: "1_a": {LABEL}'),
)
GRESS = "status.loadBalancer.ingress"


def at(**row: object) -> dict[str, object]:
    return {**BALANCER, GRESS: [row]}


SERVICE.status(
    "ValidateLoadBalancerStatus",
    ({}, {GRESS: [{"ip": "1.1.1.1"}]},
     f"{GRESS}: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"),
    (BALANCER, at(ip="x", ipMode="VIP"), f'{GRESS}[0].ip: Invalid value: "x": {IP}'),
    (BALANCER, at(ipMode="VIP"),
     f"{GRESS}[0].ipMode: Forbidden: may not be specified when `ip` is not set"),
    (BALANCER, at(ip="1.1.1.1", ipMode="X"),
     f'{GRESS}[0].ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"'),
    (BALANCER, at(hostname="A"), f'{GRESS}[0].hostname: Invalid value: "A": {SUBDOMAIN}'),
    (BALANCER, at(hostname="1.1.1.1"),
     f'{GRESS}[0].hostname: Invalid value: "1.1.1.1": must be a DNS name, not an IP address'),
)  # fmt: skip

ENDPOINT = Examples(ENDPOINTS, {})
A, P = "subsets[0].addresses[0]", "subsets[0].ports[0]"


def subset(address: object = None, *ports: object) -> dict[str, object]:
    row = {"ip": "1.1.1.1"} if address is None else address
    return {"subsets": [{"addresses": [row], "ports": list(ports)}]}


ENDPOINT.create(
    "validateEndpointSubsets",
    ({"subsets": [{}]},
     "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"),
    (subset({"ip": "x"}), f'{A}.ip: Invalid value: "x": {IP}',
     f'{A}.ip: Invalid value: "x": must be a valid IP address'),
    (subset({"ip": "1.1.1.1", "hostname": "A"}), f'{A}.hostname: Invalid value: "A": {LABEL}'),
    (subset({"ip": "1.1.1.1", "nodeName": "A"}),
     f'{A}.nodeName: Invalid value: "A": {SUBDOMAIN}'),
    (subset({"ip": "0.0.0.0"}),
     f'{A}.ip: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)'),
    (subset({"ip": "127.0.0.1"}),
     f'{A}.ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, '
     "::1/128)"),
    (subset({"ip": "169.254.0.1"}),
     f'{A}.ip: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, '
     "fe80::/10)"),
    (subset({"ip": "224.0.0.1"}),
     f'{A}.ip: Invalid value: "224.0.0.1": may not be in the link-local multicast range '
     "(224.0.0.0/24, ff02::/10)"),
)  # fmt: skip
ENDPOINT.create(
    "validateEndpointPort",
    (subset(None, {"port": 1}, {"port": 2, "name": "b"}), f"{P}.name: Required value"),
    (subset(None, {"port": 1, "name": "A"}), f'{P}.name: Invalid value: "A": {LABEL}'),
    (subset(None, {"port": 0}), f"{P}.port: Invalid value: 0: {PORT}"),
    (subset(None, {"port": 1, "protocol": "X"}),
     f'{P}.protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'),
    (subset(None, {"port": 1, "appProtocol": "a b"}),
     f'{P}.appProtocol: Invalid value: "a b": {KEY}'),
)  # fmt: skip
SLICE = Examples(ENDPOINT_SLICES, {"addressType": "IPv4"})
E = "endpoints[0]"


def endpoint(**fields: object) -> dict[str, object]:
    return {"endpoints": [{"addresses": ["1.1.1.1"], **fields}]}


SLICE.create(
    "validateAddressType",
    ({"addressType": ""}, "addressType: Required value"),
    ({"addressType": "X"},
     'addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"'),
)  # fmt: skip
SLICE.create(
    "validateEndpoints",
    ({"endpoints": [{"addresses": ["1.1.1.1"]}] * 1001},
     "endpoints: Too many: 1001: must have at most 1000 items"),
    (endpoint(addresses=[]), f"{E}.addresses: Required value: must contain at least 1 address"),
    (endpoint(addresses=["1.1.1.1"] * 101),
     f"{E}.addresses: Too many: 101: must have at most 100 items"),
    (endpoint(addresses=["fd00::1"]),
     f'{E}.addresses[0]: Invalid value: "fd00::1": must be an IPv4 address'),
    ({**endpoint(), "addressType": "IPv6"},
     f'{E}.addresses[0]: Invalid value: "1.1.1.1": must be an IPv6 address'),
    ({**endpoint(addresses=["A.b"]), "addressType": "FQDN"},
     f'{E}.addresses[0]: Invalid value: "A.b": {SUBDOMAIN}'),
    ({**endpoint(addresses=["a"]), "addressType": "FQDN"},
     f'{E}.addresses[0]: Invalid value: "a": should be a domain with at least two segments '
     "separated by dots"),
    (endpoint(addresses=["127.0.0.1"]),
     f'{E}.addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range '
     "(127.0.0.0/8, ::1/128)"),
    (endpoint(nodeName="A"), f'{E}.nodeName: Invalid value: "A": {SUBDOMAIN}'),
    (endpoint(hostname="A"), f'{E}.hostname: Invalid value: "A": {LABEL}'),
    (endpoint(deprecatedTopology={"a b": "c"}),
     f'{E}.deprecatedTopology: Invalid value: "a b": {KEY}'),
    (endpoint(deprecatedTopology={f"a{i}": "c" for i in range(17)}),
     f"{E}.deprecatedTopology: Too many: 17: must have at most 16 items"),
    (endpoint(hints={"forZones": [{"name": "z"}] * 9}),
     f"{E}.hints.forZones: Too many: 9: must have at most 8 items"),
    (endpoint(hints={"forZones": [{"name": "z"}] * 2}),
     f'{E}.hints.forZones[1].name: Duplicate value: "z"'),
    (endpoint(hints={"forZones": [{"name": "a b"}]}),
     f'{E}.hints.forZones[0].name: Invalid value: "a b": {VALUE}'),
)  # fmt: skip
SLICE.create(
    "validatePorts",
    ({"ports": [{"name": "A"}]}, f'ports[0].name: Invalid value: "A": {LABEL}'),
    ({"ports": [{"name": "a"}, {"name": "a"}]}, 'ports[1].name: Duplicate value: "a"'),
    ({"ports": [{"protocol": "X"}]},
     'ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'),
    ({"ports": [{"appProtocol": "a b"}]}, f'ports[0].appProtocol: Invalid value: "a b": {KEY}'),
)  # fmt: skip
SLICE.update(
    "ValidateEndpointSliceUpdate",
    ({}, {"addressType": "IPv6"}, f'addressType: Invalid value: "IPv6": {IMMUTABLE}'),
)

INGRESS = Examples(
    known("networking.k8s.io/v1", "Ingress"),
    {"spec": {"rules": [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {
        "service": {"name": "s", "port": {"number": 80}}}}]}}]}},
    {"s.": "spec.", "r.": "spec.rules.0.", "h.": "spec.rules.0.http.paths.0."},
)  # fmt: skip
CLASS = "kubernetes.io/ingress.class"
INGRESS.create(
    "ValidateIngressSpec",
    ({"s.rules": DROP},
     "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"),
    ({"s.ingressClassName": "A"},
     f'spec.ingressClassName: Invalid value: "A": {SUBDOMAIN}'),
    ({"s.tls": [{"hosts": ["A"]}]}, f'spec.tls[0].hosts[0]: Invalid value: "A": {SUBDOMAIN}'),
    ({"s.tls": [{"hosts": ["a.*"]}]},
     'spec.tls[0].hosts[0]: Invalid value: "a.*": a wildcard DNS-1123 subdomain must start…'),
    ({"s.tls": [{"secretName": "A"}]},
     f'spec.tls[0].secretName: Invalid value: "A": {SUBDOMAIN}'),
)  # fmt: skip
INGRESS.create(
    "ValidateIngressCreate",
    ({"metadata.annotations": {CLASS: "a"}, "s.ingressClassName": "b"},
     f'annotations.{CLASS}: Invalid value: "a": must match `ingressClassName` when both are '
     "specified"),
)  # fmt: skip
INGRESS.create(
    "validateIngressRules",
    ({"r.host": "1.1.1.1"},
     'r.host: Invalid value: "1.1.1.1": must be a DNS name, not an IP address'),
    ({"r.host": "a.*"}, 'r.host: Invalid value: "a.*": a wildcard DNS-1123 subdomain…'),
    ({"r.host": "A"}, f'r.host: Invalid value: "A": {SUBDOMAIN}'),
    ({"r.http.paths": []}, "r.http.paths: Required value"),
)  # fmt: skip
INGRESS.create(
    "validateHTTPIngressPath",
    ({"h.pathType": DROP}, "h.pathType: Required value: pathType must be specified"),
    ({"h.pathType": "X"},
     'h.pathType: Unsupported value: "X": supported values: "Exact", "ImplementationSpecific", '
     '"Prefix"'),
    ({"h.path": "x"}, 'h.path: Invalid value: "x": must be an absolute path'),
    ({"h.path": "/a//b"}, 'h.path: Invalid value: "/a//b": must not contain \'//\''),
    ({"h.path": "/a/.."}, 'h.path: Invalid value: "/a/..": cannot end with \'/..\''),
    ({"h.pathType": "ImplementationSpecific", "h.path": "x"},
     'h.path: Invalid value: "x": must be an absolute path'),
)  # fmt: skip
B = "h.backend"
RESOURCE = {"kind": "K", "name": "n", "apiGroup": "g"}
INGRESS.create(
    "validateIngressBackend",
    ({"h.backend": {}},
     f'{B}: Invalid value: "": resource or service backend is required'),
    ({"h.backend.resource": RESOURCE},
     f'{B}: Invalid value: "": cannot set both resource and service backends'),
    ({"h.backend.service.name": ""}, f"{B}.service.name: Required value"),
    ({"h.backend.service.name": "1_a"}, f'{B}.service.name: Invalid value: "1_a": {LABEL}'),
    ({"h.backend.service.port": {"name": "a", "number": 1}},
     f'{B}: Invalid value: "": cannot set both port name & port number'),
    ({"h.backend.service.port": {"name": "a_b"}},
     f'{B}.service.port.name: Invalid value: "a_b": must contain…'),
    ({"h.backend.service.port": {"number": 70000}},
     f"{B}.service.port.number: Invalid value: 70000: {PORT}"),
    ({"h.backend.service.port": {}}, f"{B}: Required value: port name or number is required"),
    ({"s.defaultBackend": {}},
     'spec.defaultBackend: Invalid value: "": resource or service backend is required'),
)  # fmt: skip
INGRESS.create(
    "validateIngressTypedLocalObjectReference",
    ({"h.backend": {"resource": {**RESOURCE, "apiGroup": "A"}}},
     f'{B}.resource.apiGroup: Invalid value: "A": {SUBDOMAIN}'),
    ({"h.backend": {"resource": {**RESOURCE, "kind": ""}}},
     f"{B}.resource.kind: Required value: kind is required"),
    ({"h.backend": {"resource": {**RESOURCE, "name": "a/b"}}},
     f"{B}.resource.name: Invalid value: \"a/b\": may not contain '/'"),
)  # fmt: skip
INGRESS.status(
    "ValidateIngressLoadBalancerStatus",
    ({}, {GRESS: [{"ip": "x"}]}, f'{GRESS}[0].ip: Invalid value: "x": {IP}'),
    ({}, {GRESS: [{"hostname": "A"}]}, f'{GRESS}[0].hostname: Invalid value: "A": {SUBDOMAIN}'),
    ({}, {GRESS: [{"hostname": "1.1.1.1"}]},
     f'{GRESS}[0].hostname: Invalid value: "1.1.1.1": must be a DNS name, not an IP address'),
)  # fmt: skip
INGRESS_CLASS = Examples(
    known("networking.k8s.io/v1", "IngressClass"), {"spec": {"controller": "a.b/c"}}
)
PARAMETERS = "spec.parameters"


def parameters(**fields: object) -> dict[str, object]:
    return {PARAMETERS: {"kind": "k", "name": "n", **fields}}


INGRESS_CLASS.create(
    "validateIngressClassSpec",
    ({"spec.controller": ""}, "spec.controller: Required value"),
    ({"spec.controller": "x"},
     'spec.controller: Invalid value: "x": must be a domain-prefixed path (such as '
     '"acme.io/foo")'),
    ({"spec.controller": "A/b"}, f'spec.controller: Invalid value: "A": {SUBDOMAIN}'),
    ({"spec.controller": "a/b c"}, 'spec.controller: Invalid value: "b c": Invalid path (regex…'),
    ({"spec.controller": "a/" + "x" * 250},
     "spec.controller: Too long: may not be more than 250 bytes"),
)  # fmt: skip
INGRESS_CLASS.create(
    "validateIngressClassParametersReference",
    (parameters(kind=""), f"{PARAMETERS}.kind: Required value: kind is required"),
    (parameters(scope="X"),
     f'{PARAMETERS}.scope: Unsupported value: "X": supported values: "Cluster", "Namespace"'),
    (parameters(scope="Namespace"),
     f"{PARAMETERS}.namespace: Required value: `parameters.scope` is set to 'Namespace'"),
    (parameters(scope="Namespace", namespace="A"),
     f'{PARAMETERS}.namespace: Invalid value: "A": {LABEL}'),
    (parameters(namespace="a"),
     f"{PARAMETERS}.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"),
)  # fmt: skip
INGRESS_CLASS.update(
    "ValidateIngressClassUpdate",
    ({}, {"spec.controller": "a.b/d"},
     f'spec.controller: Invalid value: "a.b/d": {IMMUTABLE}'),
)  # fmt: skip

POLICY = Examples(known("networking.k8s.io/v1", "NetworkPolicy"), {"spec": {"podSelector": {}}})


def port(**fields: object) -> dict[str, object]:
    return {"spec.ingress": [{"ports": [fields]}]}


def peer(**fields: object) -> dict[str, object]:
    return {"spec.ingress": [{"from": [fields]}]}


NP, PEER = "spec.ingress[0].ports[0]", "spec.ingress[0].from[0]"
POLICY.create(
    "ValidateNetworkPolicyPort",
    (port(protocol="X"),
     f'{NP}.protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"'),
    (port(port=0), f"{NP}.port: Invalid value: 0: {PORT}"),
    (port(port="a_b"), f'{NP}.port: Invalid value: "a_b": must contain…'),
    (port(port=5, endPort=4),
     f"{NP}.endPort: Invalid value: 5: must be greater than or equal to `port`"),
    (port(port=5, endPort=70000), f"{NP}.endPort: Invalid value: 70000: {PORT}"),
    (port(port="a", endPort=4),
     f"{NP}.endPort: Invalid value: 4: may not be specified when `port` is non-numeric"),
    (port(endPort=4),
     f"{NP}.endPort: Invalid value: 4: may not be specified when `port` is not specified"),
)  # fmt: skip
POLICY.create(
    "ValidateNetworkPolicyPeer",
    (peer(), f"{PEER}: Required value: must specify a peer"),
    (peer(ipBlock={"cidr": "1.1.1.0/24"}, podSelector={}),
     f"{PEER}: Forbidden: may not specify both ipBlock and another peer"),
    (peer(podSelector={"matchLabels": {"a": "b c"}}),
     f'{PEER}.podSelector.matchLabels: Invalid value: "b c": {VALUE}'),
    (peer(namespaceSelector={"matchLabels": {"a": "b c"}}),
     f'{PEER}.namespaceSelector.matchLabels: Invalid value: "b c": {VALUE}'),
)  # fmt: skip
POLICY.create(
    "ValidateIPBlock",
    (peer(ipBlock={}), f"{PEER}.ipBlock.cidr: Required value"),
    (peer(ipBlock={"cidr": "x"}), f'{PEER}.ipBlock.cidr: Invalid value: "x": {CIDR}'),
    (peer(ipBlock={"cidr": "1.1.1.0/24", "except": ["x"]}),
     f'{PEER}.ipBlock.except[0]: Invalid value: "x": {CIDR}'),
    (peer(ipBlock={"cidr": "1.1.1.0/24", "except": ["1.1.1.0/24"]}),
     f'{PEER}.ipBlock.except[0]: Invalid value: "1.1.1.0/24": must be a strict subset of `cidr`'),
)  # fmt: skip
POLICY.create(
    "ValidateNetworkPolicySpec",
    ({"spec.podSelector": {"matchLabels": {"a": "b c"}}},
     f'spec.podSelector.matchLabels: Invalid value: "b c": {VALUE}'),
    ({"spec.policyTypes": ["X"]},
     'spec.policyTypes[0]: Unsupported value: "X": supported values: "Ingress", "Egress"'),
    ({"spec.policyTypes": ["Ingress"] * 3},
     'spec.policyTypes: Invalid value: ["Ingress","Ingress","Ingress"]: may not specify more than '
     "two policyTypes"),
)  # fmt: skip
PARENT = {"resource": "services", "name": "s", "namespace": "n"}
ADDRESS = Examples(
    known("networking.k8s.io/v1", "IPAddress"),
    {"metadata": {"name": "1.1.1.1"}, "spec": {"parentRef": PARENT}},
)
REF = "spec.parentRef"
ADDRESS.create(
    "ValidateIPAddress",
    ({"metadata.name": "x"}, f'metadata.name: Invalid value: "x": {IP}'),
    ({REF: DROP}, f"{REF}: Required value"),
    ({f"{REF}.group": "A"}, f'{REF}.group: Invalid value: "A": {SUBDOMAIN}'),
    ({f"{REF}.resource": ""}, f"{REF}.resource: Required value"),
    ({f"{REF}.name": ""}, f"{REF}.name: Required value"),
    ({f"{REF}.namespace": "a/b"},
     f"{REF}.namespace: Invalid value: \"a/b\": may not contain '/'"),
)  # fmt: skip
ADDRESS.update(
    "ValidateIPAddressUpdate",
    ({}, {f"{REF}.name": "t"}, f"{REF}: Invalid value: {{…"),
)
BLOCKS = Examples(
    known("networking.k8s.io/v1", "ServiceCIDR"), {"spec": {"cidrs": ["10.0.0.0/16"]}}
)
BLOCKS.create(
    "ValidateServiceCIDR",
    ({"spec.cidrs": []}, "spec.cidrs: Required value: at least one CIDR required"),
    ({"spec.cidrs": ["10.0.0.0/16"] * 3}, "spec.cidrs: Invalid value: {…"),
    ({"spec.cidrs": ["10.0.0.0/16", "10.1.0.0/16"]}, "spec.cidrs: Invalid value: {…"),
    ({"spec.cidrs": ["x"]}, f'spec.cidrs[0]: Invalid value: "x": {CIDR}'),
)  # fmt: skip
BLOCKS.update(
    "ValidateServiceCIDRUpdate",
    ({}, {"spec.cidrs": ["10.1.0.0/16"]},
     f'spec.cidrs[0]: Invalid value: "10.1.0.0/16": {IMMUTABLE}'),
    ({}, {"spec.cidrs": []}, f"spec.cidrs: Invalid value: []: {IMMUTABLE}"),
)  # fmt: skip
