"""What kubectl, old and new, shows and is told of webhooks and admission policies."""

POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  failurePolicy: Fail
  paramKind: {{apiVersion: v1, kind: ConfigMap}}
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  validations:
  - expression: "object.spec.replicas <= int(params.data.most)"
    messageExpression: "'replicas must be no more than ' + params.data.most"
    reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec:
  policyName: {name}
  validationActions: [Deny]
  paramRef: {{name: limit, parameterNotFoundAction: Deny}}
  matchResources:
    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {name}}}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: limit, namespace: {name}}}
data: {{most: "2"}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "busybox:1"}]}
"""
WEBHOOKS = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {name}}}
webhooks:
- name: deny.example.com
  clientConfig: {{url: "https://127.0.0.1:1/"}}
  rules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}]
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {name}}}}}
  sideEffects: None
  admissionReviewVersions: [v1]
"""


def test_a_policy_denies_and_lets_go(admin, namespace):
    admin("apply", "-f", "-", stdin=POLICY.format(name=namespace))
    try:
        table = admin("get", "validatingadmissionpolicies", namespace).split()
        assert table[:4] == ["NAME", "VALIDATIONS", "PARAMKIND", "AGE"]
        assert table[4:7] == [namespace, "1", "v1/ConfigMap"]
        table = admin("get", "validatingadmissionpolicybindings", namespace).split()
        assert table[:4] == ["NAME", "POLICYNAME", "PARAMREF", "AGE"]
        assert table[4:7] == [namespace, namespace, "*/limit"]
        refused = admin.fails("create", "-n", namespace, "-f", "-", stdin=DEPLOYMENT)
        assert refused.strip().endswith(
            f"deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy '{namespace}' with "
            f"binding '{namespace}' denied request: replicas must be no more than 2"
        )
        allowed = DEPLOYMENT.replace("replicas: 3", "replicas: 2")
        admin("create", "-n", namespace, "-f", "-", stdin=allowed)
        refused = admin.fails("apply", "-n", namespace, "-f", "-", stdin=DEPLOYMENT)
        assert "denied request: replicas must be no more than 2" in refused
        patch = '{"spec":{"replicas":9}}'
        refused = admin.fails("patch", "deployment", "web", "-n", namespace, "-p", patch)
        assert "denied request" in refused
    finally:
        admin("delete", "validatingadmissionpolicybinding", namespace)
        admin("delete", "validatingadmissionpolicy", namespace)
    admin("apply", "-n", namespace, "-f", "-", stdin=DEPLOYMENT)


def test_an_expression_that_is_none_is_shown_with_its_place(admin, namespace):
    wrong = POLICY.format(name=namespace).replace(
        "object.spec.replicas <=", "objet.spec.replicas <="
    )
    refused = admin.fails("create", "-f", "-", stdin=wrong.split("---")[0])
    assert "spec.validations[0].expression: Invalid value" in refused
    assert "undeclared reference to 'objet' (in container '')" in refused
    assert "| objet.spec.replicas <= int(params.data.most)" in refused


def test_webhooks_are_listed_and_their_failure_is_told(admin, namespace):
    admin("create", "-f", "-", stdin=WEBHOOKS.format(name=namespace))
    try:
        table = admin("get", "validatingwebhookconfigurations", namespace).split()
        assert table[:3] == ["NAME", "WEBHOOKS", "AGE"]
        assert table[3:5] == [namespace, "1"]
        refused = admin.fails("create", "configmap", "a", "-n", namespace)
        assert "Internal error occurred: failed calling webhook" in refused
        assert "connect: connection refused" in refused
    finally:
        admin("delete", "validatingwebhookconfiguration", namespace)
    admin("create", "configmap", "a", "-n", namespace)
