"""Built-in admission at the API server: one scenario a plugin, in upstream's words."""

import asyncio

import pytest
from api_in_process import KEY, PODS, Api, pod, run

from muntin.apiserver.admission.plugins import enabled
from muntin.apiserver.admission_config import AdmissionConfig, EventRateLimit, PodSecurityConfig
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.kit.errors import Invalid
from muntin.seams.store.memory import MemoryStore

NAMESPACES = "/api/v1/namespaces"
NODE = ("system:node:n1", "system:nodes")
RBAC = "rbac.authorization.k8s.io"
POD_SECURITY = "pod-security.kubernetes.io/"


def configured(scenario, version="1.34", **fields):
    """As `run`, with an admission configuration."""

    async def main():
        config = ApiServerConfig(
            kubernetes_version=version,
            service_account_key=KEY,
            advertise_address="192.0.2.1",
            admission=AdmissionConfig(**fields),
        )
        async with ApiServer(config, MemoryStore()) as server:
            api = Api(server.user("admin", "system:masters"))
            accounts = "/api/v1/namespaces/default/serviceaccounts"
            await api("POST", accounts, {"metadata": {"name": "default"}})
            await asyncio.wait_for(scenario(server, api), 20)

    asyncio.run(main())


def names(version="1.34", **fields):
    config = ApiServerConfig(
        kubernetes_version=version, service_account_key=KEY, admission=AdmissionConfig(**fields)
    )
    return enabled(config)


def test_what_is_on():
    default = names()
    assert {"LimitRanger", "PodSecurity", "ResourceQuota", "NodeRestriction"} <= default
    assert not {"AlwaysPullImages", "OwnerReferencesPermissionEnforcement"} & default
    assert "PodSecurity" not in names("1.20")
    assert "AlwaysPullImages" in names(enable=("AlwaysPullImages",))
    assert "LimitRanger" not in names(disable=("LimitRanger",))
    with pytest.raises(Invalid, match="admission plugin 'LimitRange' is unknown"):
        names(enable=("LimitRange",))
    with pytest.raises(Invalid, match="LimitRanger in both enable and disable"):
        names(enable=("LimitRanger",), disable=("LimitRanger",))


def test_limit_ranges_fill_in_and_refuse():
    async def scenario(server, api):
        limits = "/api/v1/namespaces/default/limitranges"
        rule = {"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "2"}}
        await api("POST", limits, {"metadata": {"name": "l"}, "spec": {"limits": [rule]}})
        made = await api("POST", PODS, pod("one"))
        resources = made["spec"]["containers"][0]["resources"]
        assert resources == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
        big = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "3"}}}
        error = await api("POST", PODS, pod("two", containers=[big]), code=403)
        assert error["message"] == (
            'pods "two" is forbidden: maximum cpu usage per Container is 2, but limit is 3'
        )

    run(scenario)


async def labelled(api, **labels):
    metadata = {"name": "tight", "labels": {POD_SECURITY + key: v for key, v in labels.items()}}
    await api("POST", NAMESPACES, {"metadata": metadata})
    await api("POST", f"{NAMESPACES}/tight/serviceaccounts", {"metadata": {"name": "default"}})


def privileged(name="one"):
    row = {"name": "c", "image": "i", "securityContext": {"privileged": True}}
    return pod(name, containers=[row])


DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": privileged()["spec"]},
    },
}


def test_pod_security_refuses_and_warns():
    async def scenario(server, api):
        await labelled(api, enforce="baseline", warn="restricted")
        error = await api("POST", f"{NAMESPACES}/tight/pods", privileged(), code=403)
        assert error["message"] == (
            'pods "one" is forbidden: violates PodSecurity "baseline:latest": privileged '
            '(container "c" must not set securityContext.privileged=true)'
        )
        await api("POST", f"{NAMESPACES}/tight/pods", pod("two"))
        assert 'would violate PodSecurity \\"restricted:latest\\": allowPriv' in warning(api)
        path = "/apis/apps/v1/namespaces/tight/deployments"
        await api("POST", path, DEPLOYMENT)
        assert 'would violate PodSecurity \\"restricted:latest\\": privileged' in warning(api)

    run(scenario)


def warning(api):
    return api.headers.get("warning", "")


def test_pod_security_of_namespaces():
    async def scenario(server, api):
        await labelled(api)
        for name in ("one", "two"):
            await api("POST", f"{NAMESPACES}/tight/pods", privileged(name))
        found = await api("GET", f"{NAMESPACES}/tight")
        found["metadata"]["labels"][f"{POD_SECURITY}enforce"] = "baseline"
        await api("PUT", f"{NAMESPACES}/tight", found)
        text = warning(api)
        assert (
            'existing pods in namespace \\"tight\\" violate the new PodSecurity enforce level '
            '\\"baseline:latest\\"'
        ) in text
        assert "one (and 1 other pod): privileged" in text
        metadata = {"name": "bad", "labels": {f"{POD_SECURITY}enforce": "strict"}}
        error = await api("POST", NAMESPACES, {"metadata": metadata}, code=422)
        assert error["details"]["causes"][0]["field"] == f"metadata.labels[{POD_SECURITY}enforce]"

    run(scenario)


def test_pod_security_has_defaults_and_exemptions():
    policy = PodSecurityConfig(enforce="baseline:latest", exempt_namespaces=("tight",))

    async def scenario(server, api):
        await api("POST", PODS, privileged(), code=403)
        await labelled(api)
        await api("POST", f"{NAMESPACES}/tight/pods", privileged())

    configured(scenario, pod_security=policy)


def test_runtime_classes_add_overhead_and_places():
    async def scenario(server, api):
        await api(
            "POST",
            "/apis/node.k8s.io/v1/runtimeclasses",
            {
                "metadata": {"name": "vm"},
                "handler": "vm",
                "overhead": {"podFixed": {"memory": "64Mi"}},
                "scheduling": {
                    "nodeSelector": {"vm": "yes"},
                    "tolerations": [{"key": "vm", "operator": "Exists"}],
                },
            },
        )
        made = await api("POST", PODS, pod("one", runtimeClassName="vm"))
        assert made["spec"]["overhead"] == {"memory": "64Mi"}
        assert made["spec"]["nodeSelector"] == {"vm": "yes"}
        assert {"key": "vm", "operator": "Exists"} in made["spec"]["tolerations"]
        wrong = pod("two", runtimeClassName="vm", nodeSelector={"vm": "no"})
        error = await api("POST", PODS, wrong, code=403)
        assert "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes" in error["message"]
        error = await api("POST", PODS, pod("three", runtimeClassName="none"), code=403)
        assert error["message"].endswith('pod rejected: RuntimeClass "none" not found')
        error = await api("POST", PODS, pod("four", overhead={"cpu": "1"}), code=403)
        assert "Pod Overhead set without corresponding RuntimeClass" in error["message"]

    run(scenario)


def storage_class(name, default=False, **fields):
    mark = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    metadata = {"name": name, "annotations": mark}
    return {"metadata": metadata, "provisioner": "example.com/p", **fields}


def claim(name, **spec):
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}
    return {"metadata": {"name": name}, "spec": spec}


def test_claims_get_the_default_class_and_a_finalizer_and_grow_only_if_it_says_so():
    async def scenario(server, api):
        classes = "/apis/storage.k8s.io/v1/storageclasses"
        claims = "/api/v1/namespaces/default/persistentvolumeclaims"
        await api("POST", classes, storage_class("fixed", default=True))
        await api("POST", classes, storage_class("elastic", allowVolumeExpansion=True))
        made = await api("POST", claims, claim("a"))
        assert made["spec"]["storageClassName"] == "fixed"
        assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        none = await api("POST", claims, claim("none", storageClassName=""))
        assert none["spec"]["storageClassName"] == ""
        await api("POST", claims, claim("b", storageClassName="elastic"))
        for name, code in (("a", 403), ("b", 200)):
            found = await api("GET", f"{claims}/{name}")
            found["spec"]["volumeName"] = f"pv-{name}"
            found = await api("PUT", f"{claims}/{name}", found)
            found["status"]["phase"] = "Bound"
            found = await api("PUT", f"{claims}/{name}/status", found)
            found["spec"]["resources"]["requests"]["storage"] = "2Gi"
            answer = await api("PUT", f"{claims}/{name}", found, code=code)
            if code == 403:
                assert (
                    "storageclass that provisions the pvc must support resize"
                    in (answer["message"])
                )

    run(scenario)


def test_ingresses_get_the_default_class():
    async def scenario(server, api):
        mark = {"ingressclass.kubernetes.io/is-default-class": "true"}
        metadata = {"name": "nginx", "annotations": mark}
        classes = "/apis/networking.k8s.io/v1/ingressclasses"
        await api("POST", classes, {"metadata": metadata, "spec": {"controller": "x.io/y"}})
        backend = {"service": {"name": "s", "port": {"number": 80}}}
        ingress = {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}}
        path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
        made = await api("POST", path, ingress)
        assert made["spec"]["ingressClassName"] == "nginx"

    run(scenario)


def test_priorities():
    async def scenario(server, api):
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        high = {"metadata": {"name": "high"}, "value": 10, "preemptionPolicy": "Never"}
        await api("POST", classes, {**high, "globalDefault": True})
        other = {"metadata": {"name": "low"}, "value": 1, "globalDefault": True}
        error = await api("POST", classes, other, code=403)
        assert error["message"].endswith(
            "PriorityClass high is already marked as default. Only one default can exist"
        )
        made = (await api("POST", PODS, pod("one")))["spec"]
        assert (made["priorityClassName"], made["priority"]) == ("high", 10)
        assert made["preemptionPolicy"] == "Never"
        error = await api("POST", PODS, pod("two", priority=5), code=403)
        assert "the integer value of priority (5) must not be provided" in error["message"]
        wrong = pod("three", preemptionPolicy="PreemptLowerPriority")
        error = await api("POST", PODS, wrong, code=403)
        assert "the string value of PreemptionPolicy" in error["message"]

    run(scenario)


def test_accounts_that_list_their_secrets():
    async def scenario(server, api):
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        mark = {"kubernetes.io/enforce-mountable-secrets": "true"}
        metadata = {"name": "tight", "annotations": mark}
        await api("POST", accounts, {"metadata": metadata, "secrets": [{"name": "mine"}]})
        for secret, code in (("mine", 201), ("other", 403)):
            volumes = [{"name": "v", "secret": {"secretName": secret}}]
            body = pod(secret, serviceAccountName="tight", volumes=volumes)
            answer = await api("POST", PODS, body, code=code)
        assert answer["message"].endswith(
            'volume with secret.secretName="other" is not allowed because service account tight '
            "does not reference that secret"
        )

    run(scenario)


def test_tokens_of_old_are_secrets():
    async def scenario(server, api):
        root = "/api/v1/namespaces/default"
        account = await api("GET", f"{root}/serviceaccounts/default")
        marks = {
            "kubernetes.io/service-account.name": "default",
            "kubernetes.io/service-account.uid": account["metadata"]["uid"],
        }
        await api("POST", f"{root}/secrets", {
            "metadata": {"name": "default-token-x", "annotations": marks},
            "type": "kubernetes.io/service-account-token",
            "data": {},
        })  # fmt: skip
        account["secrets"] = [{"name": "default-token-x"}]
        await api("PUT", f"{root}/serviceaccounts/default", account)
        made = (await api("POST", PODS, pod("one")))["spec"]
        volume = {"name": "default-token-x", "secret": {"secretName": "default-token-x",
                                                        "defaultMode": 420}}  # fmt: skip
        assert volume in made["volumes"]
        assert made["containers"][0]["volumeMounts"][0]["name"] == "default-token-x"

    run(scenario, version="1.20")


def test_nodes_keep_to_themselves():
    async def scenario(server, api):
        node = Api(server.user(*NODE))
        bad = {"metadata": {"name": "n1", "labels": {"node-restriction.kubernetes.io/x": "y"}}}
        error = await node("POST", "/api/v1/nodes", bad, code=403)
        assert error["message"] == (
            'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: '
            "node-restriction.kubernetes.io/x"
        )
        labels = {"kubernetes.io/os": "linux", "node.kubernetes.io/windows-build": "x", "mine": "1"}
        await node("POST", "/api/v1/nodes", {"metadata": {"name": "n1", "labels": labels}})
        error = await node("POST", "/api/v1/nodes", {"metadata": {"name": "n2"}}, code=403)
        assert 'node "n1" is not allowed to modify node "n2"' in error["message"]
        for key, code in (("example.com/a", 200), ("k8s.io/other", 403)):
            patch = {"metadata": {"labels": {key: "x"}}}
            headers = {"content-type": "application/merge-patch+json"}
            await node("PATCH", "/api/v1/nodes/n1", patch, headers=headers, code=code)
        error = await node("POST", PODS, pod("plain", nodeName="n1"), code=403)
        assert "can only create mirror pods" in error["message"]
        lease = {"metadata": {"name": "n2"}, "spec": {}}
        path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        await node("POST", path, lease, code=403)
        await node("POST", path, {"metadata": {"name": "n1"}, "spec": {}})

    run(scenario)


def mirror(uid, **spec):
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": uid, "controller": True}
    found = pod("mirror", nodeName="n1", **spec)
    found["metadata"] |= {
        "annotations": {"kubernetes.io/config.mirror": "x"},
        "ownerReferences": [owner],
    }
    return found


def test_nodes_mirror_their_static_pods_and_no_more():
    async def scenario(server, api):
        node = Api(server.user(*NODE))
        uid = (await node("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}}))["metadata"]["uid"]
        bad = mirror(uid, volumes=[{"name": "v", "configMap": {"name": "c"}}])
        error = await node("POST", PODS, bad, code=403)
        assert 'node "n1" can not create pods that reference configmaps' in error["message"]
        csi = {"driver": "d.example.com", "nodePublishSecretRef": {"name": "s"}}
        claims = [{"name": "c", "resourceClaimName": "c"}]
        for kind, spec in (
            ("secrets", {"volumes": [{"name": "v", "csi": csi}]}),
            (
                "secrets",
                {"volumes": [{"name": "v", "azureFile": {"shareName": "a", "secretName": "s"}}]},
            ),
            ("resourceclaims", {"resourceClaims": claims}),
        ):
            error = await node("POST", PODS, mirror(uid, **spec), code=403)
            assert f'node "n1" can not create pods that reference {kind}' in error["message"]
        error = await node("POST", PODS, mirror("other"), code=403)
        assert f"node n1 UID mismatch: expected other got {uid}" in error["message"]
        await node("POST", PODS, mirror(uid))
        await node("DELETE", f"{PODS}/mirror?gracePeriodSeconds=0")

    run(scenario)


def test_nodes_evict_and_change_only_their_own_pods():
    async def scenario(server, api):
        node = Api(server.user(*NODE))
        await api("POST", PODS, pod("theirs", nodeName="n2"))
        eviction = {"metadata": {"name": "theirs"}}
        error = await node("POST", f"{PODS}/theirs/eviction", eviction, code=403)
        assert "node n1 can only evict pods with spec.nodeName set to itself" in error["message"]
        found = await api("GET", f"{PODS}/theirs")
        await node("PUT", f"{PODS}/theirs/status", found, code=403)
        await node("DELETE", f"{PODS}/theirs", code=403)

    run(scenario)


def test_signers_say_who_may_approve_and_sign():
    async def scenario(server, api):
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID

        path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

        def request(name, organization):
            import base64

            subject = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
                                 x509.NameAttribute(NameOID.COMMON_NAME, "me")])  # fmt: skip
            key = ec.generate_private_key(ec.SECP256R1())
            csr = x509.CertificateSigningRequestBuilder().subject_name(subject)
            pem = csr.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
            return {
                "metadata": {"name": name},
                "spec": {
                    "request": base64.b64encode(pem).decode(),
                    "signerName": "kubernetes.io/kube-apiserver-client",
                    "usages": ["client auth"],
                },
            }

        error = await api("POST", path, request("bad", "system:masters"), code=403)
        assert error["message"].endswith(
            "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not "
            "allowed"
        )
        made = await api("POST", path, request("good", "people"))
        roles = "/apis/rbac.authorization.k8s.io/v1/cluster"
        rules = [{"apiGroups": ["certificates.k8s.io"], "verbs": ["update", "get"],
                  "resources": ["certificatesigningrequests/approval"]}]  # fmt: skip
        await api("POST", f"{roles}roles", {"metadata": {"name": "r"}, "rules": rules})
        await api("POST", f"{roles}rolebindings", {
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "r"},
            "subjects": [{"kind": "User", "name": "ann", "apiGroup": RBAC}],
        })  # fmt: skip
        ann = Api(server.user("ann"))
        row = {"type": "Approved", "status": "True", "reason": "r", "message": ""}
        made["status"] = {"conditions": [row]}
        error = await ann("PUT", f"{path}/good/approval", made, code=403)
        assert error["message"].endswith(
            "user not permitted to approve requests with signerName "
            '"kubernetes.io/kube-apiserver-client"'
        )
        await api("PUT", f"{path}/good/approval", made)

    run(scenario)


def test_namespaces_that_stay():
    async def scenario(server, api):
        error = await api("DELETE", f"{NAMESPACES}/kube-system", code=403)
        assert error["message"] == (
            'namespaces "kube-system" is forbidden: this namespace may not be deleted'
        )
        await api("POST", NAMESPACES, {"metadata": {"name": "going"}})
        await api("DELETE", f"{NAMESPACES}/going")
        error = await api("POST", f"{NAMESPACES}/going/configmaps", {"metadata": {"name": "a"}},
                          code=403)  # fmt: skip
        assert error["details"]["causes"][0]["reason"] == "NamespaceTerminating"

    run(scenario)


def test_owners_need_permission_where_that_is_enforced():
    async def scenario(server, api):
        root = "/api/v1/namespaces/default"
        owner = await api("POST", f"{root}/configmaps", {"metadata": {"name": "owner"}})
        roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete"]}]
        await api("POST", f"{roles}/roles", {"metadata": {"name": "r"}, "rules": rules})
        await api("POST", f"{roles}/rolebindings", {
            "metadata": {"name": "b"},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "r"},
            "subjects": [{"kind": "User", "name": "ann", "apiGroup": RBAC}],
        })  # fmt: skip
        ann = Api(server.user("ann"))

        def secret(name, blocks):
            ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
                   "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks}  # fmt: skip
            return {"metadata": {"name": name, "ownerReferences": [ref]}}

        await ann("POST", f"{root}/secrets", secret("free", False))
        error = await ann("POST", f"{root}/secrets", secret("bound", True), code=403)
        assert (
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't "
            "set finalizers on"
        ) in error["message"]

    configured(scenario, enable=("OwnerReferencesPermissionEnforcement",))


def test_plugins_that_are_asked_for():
    async def scenario(server, api):
        made = await api("POST", PODS, pod("one"))
        assert made["spec"]["containers"][0]["imagePullPolicy"] == "Always"
        path = "/api/v1/namespaces/default/services"
        spec = {"ports": [{"port": 80}], "externalIPs": ["198.51.100.1"]}
        error = await api("POST", path, {"metadata": {"name": "s"}, "spec": spec}, code=403)
        assert error["message"].endswith("Use of external IPs is denied by admission control.")
        about = {"kind": "Pod", "namespace": "default", "name": "one"}
        events = "/api/v1/namespaces/default/events"
        codes = []
        for name in ("a", "b"):
            body = {"metadata": {"name": name}, "involvedObject": about}
            answer = await api.transport.request(
                "POST", events, headers={"content-type": "application/json"}, body=_json(body)
            )
            codes.append(answer.status)
        assert codes == [201, 429]

    configured(
        scenario,
        enable=("AlwaysPullImages", "DenyServiceExternalIPs", "EventRateLimit"),
        event_rate_limits=(EventRateLimit(type="Namespace", qps=0.001, burst=1),),
    )


def _json(body):
    import orjson

    return orjson.dumps(body)


def test_namespaces_choose_nodes_and_tolerations():
    async def scenario(server, api):
        marks = {
            "scheduler.alpha.kubernetes.io/node-selector": "env=test",
            "scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"key": "a"}]',
        }
        metadata = {"name": "tight", "annotations": marks}
        await api("POST", NAMESPACES, {"metadata": metadata})
        await api("POST", f"{NAMESPACES}/tight/serviceaccounts", {"metadata": {"name": "default"}})
        pods = f"{NAMESPACES}/tight/pods"
        made = await api("POST", pods, pod("one"))
        assert made["spec"]["nodeSelector"] == {"env": "test"}
        error = await api("POST", pods, pod("two", nodeSelector={"env": "other"}), code=403)
        assert "conflicts with its namespace node label selector" in error["message"]
        row = {"key": "b", "operator": "Exists"}
        error = await api("POST", pods, pod("three", tolerations=[row]), code=403)
        assert "conflict with its namespace whitelist" in error["message"]

    configured(scenario, enable=("PodNodeSelector", "PodTolerationRestriction"))


def test_webhooks_and_policies_can_be_off():
    hook = {
        "name": "nobody.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                   "operations": ["CREATE"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail",
    }  # fmt: skip
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

    async def scenario(server, api):
        await api("POST", path, {"metadata": {"name": "h"}, "webhooks": [hook]})
        await api("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})

    configured(scenario, disable=("ValidatingAdmissionWebhook",))
    with pytest.raises(AssertionError, match=r"failed calling webhook .*nobody\.example\.com"):
        configured(scenario)
