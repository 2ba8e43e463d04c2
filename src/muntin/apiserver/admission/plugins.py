"""The built-in plugins by upstream's names, in upstream's order, and which of them are on.

Webhooks and policies have their own place in the chain; what is listed after them here has the
last word. Source: kubernetes v1.34 pkg/kubeapiserver/options/plugins.go (AllOrderedPlugins,
DefaultOffAdmissionPlugins). NodeRestriction is off there by default and on in every cluster that
kubeadm makes; so it is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from muntin.apiserver.admission.attributes import Silent
from muntin.apiserver.admission.certificates import (
    CertificateApproval,
    CertificateSigning,
    CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
)
from muntin.apiserver.admission.default_ingress_class import DefaultIngressClass
from muntin.apiserver.admission.default_storage_class import DefaultStorageClass
from muntin.apiserver.admission.default_toleration_seconds import DefaultTolerationSeconds
from muntin.apiserver.admission.limit_ranger import LimitRanger
from muntin.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from muntin.apiserver.admission.node_restriction import NodeRestriction
from muntin.apiserver.admission.owner_references_permission_enforcement import (
    FindKind,
    OwnerReferencesPermissionEnforcement,
)
from muntin.apiserver.admission.persistent_volume_claim_resize import PersistentVolumeClaimResize
from muntin.apiserver.admission.pod_security import Exemptions, PodSecurity
from muntin.apiserver.admission.priority import Priority
from muntin.apiserver.admission.resource_quota import ResourceQuota
from muntin.apiserver.admission.runtime_class import RuntimeClass
from muntin.apiserver.admission.service_account import ServiceAccount
from muntin.apiserver.admission.storage_object_in_use_protection import (
    StorageObjectInUseProtection,
)
from muntin.apiserver.admission.taint_nodes_by_condition import TaintNodesByCondition
from muntin.apiserver.admission_config import PodSecurityConfig
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.cache import Cache
from muntin.apiserver.config import ApiServerConfig
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.model.features import ApiFeature, is_in
from muntin.model.pod_security.levels import LevelVersion, Policy, parse_level, parse_version
from muntin.model.resources.lifecycle import version_of
from muntin.seams.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What plugins are made of."""

    config: ApiServerConfig
    cache: Cache
    store: Store
    clock: Clock
    authorizer: Authorizer
    find_kind: FindKind

    @property
    def version(self) -> tuple[int, ...]:
        """The (major, minor) version of the API."""
        return version_of(self.config.kubernetes_version)


def _pod_security(parts: Parts) -> Silent:
    config = parts.config.admission.pod_security
    exemptions = Exemptions(
        frozenset(config.exempt_namespaces),
        frozenset(config.exempt_usernames),
        frozenset(config.exempt_runtime_classes),
    )
    return PodSecurity(parts.cache, parts.version[1], exemptions, _policy(config))


def _policy(config: PodSecurityConfig) -> Policy:
    return Policy(*map(level_version, (config.enforce, config.audit, config.warn)))


def level_version(text: str) -> LevelVersion:
    """The policy of one mode: ``baseline:latest``, ``restricted:v1.2``, or a level alone.

    Raises:
        Invalid: it is none.
    """
    level, _, version = text.partition(":")
    return LevelVersion(parse_level(level), parse_version(version or "latest"))


def _off(module: str) -> Any:
    """The module of a plugin that is off by default, loaded when it is enabled."""
    return import_module(f"muntin.apiserver.admission.{module}")


# Upstream's order.
_PLUGINS: Mapping[str, Callable[[Parts], Silent]] = {
    "NamespaceLifecycle": lambda parts: NamespaceLifecycle(parts.cache),
    "LimitPodHardAntiAffinityTopology": lambda parts: _off(
        "limit_pod_hard_anti_affinity_topology"
    ).LimitPodHardAntiAffinityTopology(),
    "LimitRanger": lambda parts: LimitRanger(parts.cache),
    "ServiceAccount": lambda parts: ServiceAccount(
        parts.cache, bound_tokens=is_in(ApiFeature.BOUND_TOKEN_VOLUMES, parts.version)
    ),
    "NodeRestriction": lambda parts: NodeRestriction(parts.cache),
    "TaintNodesByCondition": lambda parts: TaintNodesByCondition(),
    "AlwaysPullImages": lambda parts: _off("always_pull_images").AlwaysPullImages(),
    "PodSecurity": _pod_security,
    "PodNodeSelector": lambda parts: _off("pod_node_selector").PodNodeSelector(
        parts.cache, dict(parts.config.admission.node_selectors)
    ),
    "Priority": lambda parts: Priority(parts.cache),
    "DefaultTolerationSeconds": lambda parts: DefaultTolerationSeconds(
        parts.config.not_ready_toleration_s
    ),
    "PodTolerationRestriction": lambda parts: _off(
        "pod_toleration_restriction"
    ).PodTolerationRestriction(parts.cache),
    "EventRateLimit": lambda parts: _off("event_rate_limit").EventRateLimit(
        parts.config.admission.event_rate_limits, parts.clock
    ),
    "ExtendedResourceToleration": lambda parts: _off(
        "extended_resource_toleration"
    ).ExtendedResourceToleration(),
    "DefaultStorageClass": lambda parts: DefaultStorageClass(parts.cache),
    "StorageObjectInUseProtection": lambda parts: StorageObjectInUseProtection(),
    "OwnerReferencesPermissionEnforcement": lambda parts: OwnerReferencesPermissionEnforcement(
        parts.authorizer, parts.find_kind
    ),
    "PersistentVolumeClaimResize": lambda parts: PersistentVolumeClaimResize(parts.cache),
    "RuntimeClass": lambda parts: RuntimeClass(parts.cache),
    "CertificateApproval": lambda parts: CertificateApproval(parts.authorizer),
    "CertificateSigning": lambda parts: CertificateSigning(parts.authorizer),
    "ClusterTrustBundleAttest": lambda parts: ClusterTrustBundleAttest(parts.authorizer),
    "CertificateSubjectRestriction": lambda parts: CertificateSubjectRestriction(),
    "DefaultIngressClass": lambda parts: DefaultIngressClass(parts.cache),
    "DenyServiceExternalIPs": lambda parts: _off(
        "deny_service_external_ips"
    ).DenyServiceExternalIPs(),
}
QUOTA = "ResourceQuota"
# Places in the chain of their own, here only to be switched off.
USERS = (
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
)
NAMES = frozenset({*_PLUGINS, *USERS, QUOTA})
OFF = frozenset(
    {
        "AlwaysPullImages",
        "DenyServiceExternalIPs",
        "EventRateLimit",
        "ExtendedResourceToleration",
        "LimitPodHardAntiAffinityTopology",
        "OwnerReferencesPermissionEnforcement",
        "PodNodeSelector",
        "PodTolerationRestriction",
    }
)


def enabled(config: ApiServerConfig) -> frozenset[str]:
    """The names of the plugins that are on.

    Raises:
        Invalid: a name that no plugin has, or one that is both enabled and disabled.
    """
    admission = config.admission
    for name in (*admission.enable, *admission.disable):
        if name not in NAMES:
            raise errors.Invalid(
                f"admission plugin {name!r} is unknown: {', '.join(sorted(NAMES))}"
            )
    both = set(admission.enable) & set(admission.disable)
    if both:
        raise errors.Invalid(f"{', '.join(sorted(both))} in both enable and disable")
    default = NAMES - OFF
    if not is_in(ApiFeature.POD_SECURITY, version_of(config.kubernetes_version)):
        default -= {"PodSecurity"}
    return (default | set(admission.enable)) - set(admission.disable)


def build(parts: Parts) -> tuple[list[Silent], list[ResourceQuota]]:
    """The plugins that are on, in order, and those that have the last word."""
    names = enabled(parts.config)
    plugins = [make(parts) for name, make in _PLUGINS.items() if name in names]
    late = []
    if QUOTA in names:
        limited = parts.config.admission.limited_resources
        late.append(ResourceQuota(parts.cache, parts.store, parts.clock, limited))
    return plugins, late
