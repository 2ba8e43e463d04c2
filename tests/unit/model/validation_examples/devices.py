"""Claims for devices, their classes and templates, and the slices in which drivers offer them."""

from __future__ import annotations

from muntin.model.resources import known
from validation_examples.case import DROP, LABEL, SUBDOMAIN, Examples

API = "resource.k8s.io/v1"
C_NAME = "a valid C identifier must start with alphabetic character or '_', followed by a string…"
ONE_KIND = "exactly one of `exactly` or `firstAvailable` is required"
NO_REQUEST = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)
MODES = '"All", "ExactCount"'
EFFECTS = '"NoExecute", "NoSchedule", "None"'
OPAQUE = {"driver": "d.example", "parameters": {"a": "b"}}
EXACTLY = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}
TOO_MANY = "Too many: 33: must have at most 32 items"

CLASS = Examples(known(API, "DeviceClass"), {"spec": {}}, {"s.": "spec."})
CLASS.create(
    "ValidateDeviceClass",
    ({"s.selectors": [{"cel": {"expression": "true"}}] * 33}, f"s.selectors: {TOO_MANY}"),
    ({"s.selectors": [{}]}, "s.selectors[0].cel: Required value"),
    ({"s.selectors": [{"cel": {"expression": "x" * 10241}}]},
     "s.selectors[0].cel.expression: Too long: may not be more than 10240 bytes"),
    ({"s.selectors": [{"cel": {"expression": "device.color == 1"}}]},
     's.selectors[0].cel.expression: Invalid value: "device.color == 1": compilation failed: '
     "ERROR: <input>:1:7: undefined field 'color'…"),
    ({"s.selectors": [{"cel": {"expression": "device.driver"}}]},
     's.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the '
     "unknown type, not string"),
    ({"s.config": [{"opaque": OPAQUE}] * 33}, f"s.config: {TOO_MANY}"),
    ({"s.config": [{}]}, "s.config[0].opaque: Required value"),
    ({"s.config": [{"opaque": {}}]}, "s.config[0].opaque.driver: Required value",
     "s.config[0].opaque.parameters: Required value"),
    ({"s.config": [{"opaque": {**OPAQUE, "parameters": [1]}}]},
     's.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON '
     "object"),
    ({"s.config": [{"opaque": {**OPAQUE, "parameters": {"a": "x" * 10240}}}]},
     "s.config[0].opaque.parameters: Too long: may not be more than 10240 bytes"),
    ({"s.extendedResourceName": "gpu"},
     's.extendedResourceName: Invalid value: "gpu": must be a valid extended resource name'),
)  # fmt: skip

CLAIM = Examples(
    known(API, "ResourceClaim"),
    {"spec": {"devices": {"requests": [{"name": "a", "exactly": EXACTLY}]}}},
    {"d.": "spec.devices.", "r.": "spec.devices.requests.0."},
)
CLAIM.create(
    "ValidateResourceClaim",
    ({"d.requests": [{"name": f"a{n}", "exactly": EXACTLY} for n in range(33)]},
     f"d.requests: {TOO_MANY}"),
    ({"r.name": "A"}, f'r.name: Invalid value: "A": {LABEL}'),
    ({"d.requests.1": {"name": "a", "exactly": EXACTLY}}, 'd.requests[1]: Duplicate value: "a"'),
    ({"r.exactly": DROP}, f"spec.devices.requests[0]: Required value: {ONE_KIND}"),
    ({"r.firstAvailable": [{"name": "b", **EXACTLY}]},
     f"spec.devices.requests[0]: Invalid value: null: {ONE_KIND}, but multiple fields are set"),
    ({"r.exactly.deviceClassName": DROP}, "r.exactly.deviceClassName: Required value"),
    ({"r.exactly.deviceClassName": "_"},
     f'r.exactly.deviceClassName: Invalid value: "_": {SUBDOMAIN}'),
    ({"r.exactly.allocationMode": "X"},
     f'r.exactly.allocationMode: Unsupported value: "X": supported values: {MODES}'),
    ({"r.exactly.count": -1}, "r.exactly.count: Invalid value: -1: must be greater than zero"),
    ({"r.exactly.allocationMode": "All"},
     "r.exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'"),
    ({"r.exactly.selectors": [{}] * 33}, f"r.exactly.selectors: {TOO_MANY}"),
    ({"r.exactly.selectors": [{}]}, "r.exactly.selectors[0].cel: Required value"),
    ({"r.exactly.selectors": [{"cel": {"expression": "1"}}]},
     'r.exactly.selectors[0].cel.expression: Invalid value: "1": must evaluate to bool or the '
     "unknown type, not int"),
    ({"r.exactly.tolerations": [{"operator": "X"}]},
     'r.exactly.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", '
     '"Exists"'),
    ({"r.exactly.tolerations": [{"operator": "Exists", "value": "v"}]},
     'r.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator `Exists`'),
    ({"r.exactly.tolerations": [{"operator": "Exists", "effect": "X"}]},
     f'r.exactly.tolerations[0].effect: Unsupported value: "X": supported values: {EFFECTS}'),
    ({"r.exactly": DROP, "r.firstAvailable": [{"name": f"b{n}", **EXACTLY} for n in range(9)]},
     "r.firstAvailable: Too many: 9: must have at most 8 items"),
    ({"r.exactly": DROP, "r.firstAvailable": [{"name": "_", **EXACTLY}]},
     f'r.firstAvailable[0].name: Invalid value: "_": {LABEL}'),
    ({"d.constraints": [{"matchAttribute": "d.example/a"}] * 33}, f"d.constraints: {TOO_MANY}"),
    ({"d.constraints": [{"matchAttribute": "d.example/a", "requests": ["b"]}]},
     f'd.constraints[0].requests[0]: Invalid value: "b": {NO_REQUEST}'),
    ({"d.constraints": [{"matchAttribute": "d.example/a", "requests": ["a/b/c"]}]},
     f'd.constraints[0].requests[0]: Invalid value: "a/b/c": {NO_REQUEST}'),
    ({"d.constraints": [{"matchAttribute": "d.example/a", "requests": ["a", "a"]}]},
     'd.constraints[0].requests[1]: Duplicate value: "a"'),
    ({"d.constraints": [{}]},
     'd.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is '
     "required, but multiple fields are set"),
    ({"d.constraints": [{"matchAttribute": "a"}]},
     'd.constraints[0].matchAttribute: Invalid value: "a": a fully qualified name must be a domain '
     "and a name separated by a slash"),
    ({"d.constraints": [{"matchAttribute": "/"}]},
     'd.constraints[0].matchAttribute: Invalid value: "": the domain must not be empty',
     'd.constraints[0].matchAttribute: Invalid value: "": the name must not be empty'),
    ({"d.config": [{"opaque": OPAQUE}] * 33}, f"d.config: {TOO_MANY}"),
    ({"d.config": [{}]}, "d.config[0].opaque: Required value"),
    ({"d.config": [{"opaque": {"parameters": {}}}]},
     "d.config[0].opaque.driver: Required value"),
    ({"d.config": [{"opaque": {"driver": "d"}}]},
     "d.config[0].opaque.parameters: Required value"),
    ({"d.config": [{"opaque": {"driver": "d", "parameters": "x"}}]},
     'd.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid '
     "JSON object"),
)  # fmt: skip
CLAIM.update(
    "ValidateResourceClaimUpdate",
    ({}, {"r.exactly.count": 2}, "spec: Invalid value: …"),
)

RESULT = {"request": "a", "driver": "d.example", "pool": "p", "device": "dev"}
ALLOCATION = {"status.allocation": {"devices": {"results": [RESULT]}}}
DEVICE = {"driver": "d.example", "pool": "p", "device": "dev"}
USERS = [{"resource": "pods", "name": "p", "uid": "u"}]
AT = "status.allocation.devices"
CLAIM.status(
    "ValidateResourceClaimStatusUpdate",
    ({}, {**ALLOCATION, "status.reservedFor": [{**USERS[0], "uid": f"u{n}"} for n in range(257)]},
     "status.reservedFor: Too many: 257: must have at most 256 items"),
    ({}, {**ALLOCATION, "status.reservedFor": [{}]},
     "status.reservedFor[0].resource: Required value",
     "status.reservedFor[0].name: Required value", "status.reservedFor[0].uid: Required value"),
    ({}, {**ALLOCATION, "status.reservedFor": USERS * 2},
     'status.reservedFor[1]: Duplicate value: "u"'),
    ({}, {"status.reservedFor": USERS},
     "status.reservedFor: Forbidden: may not be specified when `allocated` is not set"),
    ({}, {**ALLOCATION, "status.reservedFor": USERS,
          "metadata.deletionTimestamp": "2024-01-01T00:00:00Z"},
     "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or "
     "`deletionTimestamp` are set"),
    (ALLOCATION, {"status.allocation": {"devices": {}}}, "status.allocation: Invalid value: …"),
    ({}, {"status.allocation": {"devices": {"results": [{**RESULT, "request": "b"}]}}},
     f'{AT}.results[0].request: Invalid value: "b": {NO_REQUEST}'),
    ({}, {"status.allocation": {"devices": {"results": [{"request": "a"}]}}},
     f"{AT}.results[0].driver: Required value", f"{AT}.results[0].pool: Required value",
     f'{AT}.results[0].device: Invalid value: "": {LABEL}'),
    ({}, {"status.allocation": {"devices": {"results": [{**RESULT, "shareID": "x"}]}}},
     f'{AT}.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1'),
    ({}, {"status.allocation": {"devices": {"config": [{"source": "X", "opaque": OPAQUE}]}}},
     f'{AT}.config[0].source: Unsupported value: "X": supported values: "FromClaim", '
     '"FromClass"'),
    ({}, {**ALLOCATION, "status.devices": [{**DEVICE, "device": "x"}]},
     'status.devices[0]: Invalid value: {"Driver":"d.example","Pool":"p","Device":"x",'
     '"ShareID":""}: must be an allocated device in the claim'),
    ({}, {**ALLOCATION, "status.devices": [DEVICE, DEVICE]},
     'status.devices[1]: Duplicate value: {"Driver":"d.example","Pool":"p","Device":"dev",'
     '"ShareID":""}'),
    ({}, {**ALLOCATION, "status.devices": [{**DEVICE, "data": "x"}]},
     'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object'),
    ({}, {**ALLOCATION,
          "status.devices": [{**DEVICE, "networkData": {"ips": ["10.0.0.1", "2001:DB8::1/64"]}}]},
     'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in '
     "CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
     'status.devices[0].networkData.ips[1]: Invalid value: "2001:DB8::1/64": must be in canonical '
     'form ("2001:db8::1/64")'),
    ({}, {**ALLOCATION,
          "status.devices": [{**DEVICE, "networkData": {"interfaceName": "x" * 257}}]},
     "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes"),
)  # fmt: skip

TEMPLATE = Examples(
    known(API, "ResourceClaimTemplate"),
    {"spec": {"spec": {"devices": {"requests": [{"name": "a", "exactly": EXACTLY}]}}}},
)
TEMPLATE.create(
    "ValidateResourceClaimTemplate",
    ({"spec.metadata": {"name": "x"}}, "spec.metadata.name: Forbidden: cannot be set"),
    ({"spec.metadata": {"labels": {"a": "_"}}}, 'spec.metadata.labels: Invalid value: "_": …'),
    ({"spec.spec.devices.requests": [{"name": f"a{n}", "exactly": EXACTLY} for n in range(33)]},
     f"spec.spec.devices.requests: {TOO_MANY}"),
)  # fmt: skip
TEMPLATE.update(
    "ValidateResourceClaimTemplateUpdate",
    ({}, {"spec.metadata": {"labels": {"a": "b"}}}, "spec: Invalid value: …"),
)

SLICE = Examples(
    known(API, "ResourceSlice"),
    {"spec": {"driver": "d.example", "nodeName": "n",
              "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
              "devices": [{"name": "dev"}]}},
    {"d.": "spec.devices.0.", "s.": "spec."},
)  # fmt: skip
PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
OWN_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
SHARED = {"d.allowMultipleAllocations": True}
POLICY = "d.capacity[m].requestPolicy"


def _policy(**fields: object) -> dict[str, object]:
    return {**SHARED, "d.capacity": {"m": {"value": "8", "requestPolicy": fields}}}


SLICE.create(
    "ValidateResourceSlice",
    ({"s.driver": DROP}, "s.driver: Required value"),
    ({"s.driver": "_"}, f's.driver: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.pool.name": DROP}, "s.pool.name: Required value"),
    ({"s.pool.name": "a/_"}, f's.pool.name: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.pool.name": "a" * 254}, "s.pool.name: Too long: may not be more than 253 bytes",
     "s.pool.name: Invalid value: …"),
    ({"s.pool.resourceSliceCount": 0},
     "s.pool.resourceSliceCount: Invalid value: 0: must be greater than zero"),
    ({"s.pool.generation": -1},
     "s.pool.generation: Invalid value: -1: must be greater than or equal to zero"),
    ({"s.nodeName": DROP}, f"spec: Required value: {PLACES}"),
    ({"s.allNodes": True},
     f'spec: Invalid value: "{{`nodeName`, `allNodes`}}": {PLACES}, but multiple fields are set'),
    ({"s.allNodes": False},
     "s.allNodes: Invalid value: false: must be either unset or set to true"),
    ({"s.nodeName": "_"}, f's.nodeName: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.nodeName": DROP, "s.nodeSelector": {"nodeSelectorTerms": []}},
     "s.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
     "s.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one node selector "
     "term"),
    ({"s.sharedCounters": [{"name": "c", "counters": {"m": {"value": "1"}}}]},
     'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'),
    ({"s.devices": DROP, "s.sharedCounters": [{}]}, "s.sharedCounters[0].name: Required value",
     "s.sharedCounters[0].counters: Required value"),
    ({"s.devices": DROP,
      "s.sharedCounters": [{"name": f"c{n}", "counters": {"m": {"value": "1"}}} for n in range(9)]},
     "s.sharedCounters: Too many: 9: must have at most 8 items"),
    ({"s.devices": [{"name": f"d{n}"} for n in range(129)]},
     "s.devices: Too many: 129: must have at most 128 items"),
    ({"d.name": "_"}, f'd.name: Invalid value: "_": {LABEL}'),
    ({"s.devices.1": {"name": "dev"}}, 's.devices[1]: Duplicate value: "dev"'),
    ({"d.attributes": {"a b": {"int": 1}}}, f'd.attributes: Invalid value: "a b": {C_NAME}'),
    ({"d.attributes": {"a": {}}},
     'd.attributes[a]: Invalid value: "": exactly one value must be specified'),
    ({"d.attributes": {"a": {"int": 1, "bool": True}}}, "d.attributes[a]: Invalid value: …"),
    ({"d.attributes": {"a": {"version": "1"}}},
     'd.attributes[a].version: Invalid value: "1": must be a string compatible with semver.org '
     "spec 2.0.0"),
    ({"d.attributes": {"a": {"string": "x" * 65}}},
     "d.attributes[a].string: Too long: may not be more than 64 bytes"),
    ({"d.attributes": {f"a{n}": {"int": n} for n in range(33)}},
     "spec.devices[0]: Invalid value: 33: the total number of attributes and capacities must not "
     "exceed 32"),
    ({"d.taints": [{"key": "k", "effect": "X"}]},
     f'd.taints[0].effect: Unsupported value: "X": supported values: {EFFECTS}'),
    ({"d.capacity": {"m": {"value": "1", "requestPolicy": {}}}},
     f"{POLICY}: Forbidden: allowMultipleAllocations must be true"),
    (_policy(validValues=["1"]),
     f"{POLICY}.default: Required value: required when validValues is defined"),
    (_policy(default="3", validValues=["2", "1"]),
     f'{POLICY}.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
     f'{POLICY}.validValues: Invalid value: "3": default value is not valid according to the '
     "requestPolicy"),
    (_policy(default="1", validRange={"min": "2"}),
     f'{POLICY}.validRange.min: Invalid value: "1": default is less than min: 2'),
    (_policy(default="4", validRange={"min": "2", "step": "3"}),
     f'{POLICY}.validRange.step: Invalid value: "4": value is not a multiple of a given step (3) '
     "from (2)"),
    ({"d.nodeName": "n"},
     "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be "
     "set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"),
    ({"s.nodeName": DROP, "s.perDeviceNodeSelection": True},
     f"spec.devices[0]: Required value: {OWN_PLACE}"),
    ({"d.consumesCounters": [{}]}, "d.consumesCounters[0].counterSet: Required value",
     "d.consumesCounters[0].counters: Required value"),
    ({"d.bindingConditions": ["a"]},
     "d.bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to "
     "use bindingConditions"),
    ({"d.bindingConditions": ["a"], "d.bindingFailureConditions": ["a"]},
     'd.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap '
     "with bindingConditions"),
)  # fmt: skip
SLICE.update(
    "ValidateResourceSliceUpdate",
    ({}, {"s.pool.name": "q"}, 's.pool.name: Invalid value: "q": field is immutable'),
    ({}, {"s.driver": "e.example"}, 's.driver: Invalid value: "e.example": field is immutable'),
    ({}, {"s.nodeName": "m"}, 's.nodeName: Invalid value: "m": field is immutable'),
)
