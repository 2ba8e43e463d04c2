"""Policies, their bindings, and a Deployment to judge."""

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/validatingadmissionpolicies"
BINDINGS = f"{GROUP}/validatingadmissionpolicybindings"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def deployment(name="web", replicas=1, **labels):
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "busybox"}]},
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
        },
    }


def rules(resource="deployments", group="apps", operations=("CREATE", "UPDATE"), **more):
    return {
        "apiGroups": [group], "apiVersions": ["v1"], "operations": list(operations),
        "resources": [resource], **more,
    }  # fmt: skip


def policy(*validations, name="demo", match=None, **spec):
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [match or rules()]},
            "validations": list(validations),
            **spec,
        },
    }


def binding(*actions, name="bound", of="demo", **spec):
    return {
        "metadata": {"name": name},
        "spec": {"policyName": of, "validationActions": list(actions or ("Deny",)), **spec},
    }


async def apply(api, *objects):
    for obj in objects:
        path = BINDINGS if "policyName" in obj["spec"] else POLICIES
        await api("POST", path, obj, code=201)
