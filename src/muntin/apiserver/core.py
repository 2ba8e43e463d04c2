"""The parts of the server that verbs and subresources work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.apiserver.admission import Admission
from muntin.apiserver.audit import Auditor
from muntin.apiserver.authn import Authenticator
from muntin.apiserver.authn.service_account import TokenIssuer
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.cache import Cache
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.field_forms import FieldForms
from muntin.apiserver.health import Health
from muntin.apiserver.limits import RequestLimits
from muntin.apiserver.metrics import Metrics
from muntin.apiserver.paging import Snapshots
from muntin.apiserver.published import Published
from muntin.apiserver.registry import Registry
from muntin.apiserver.services import ServiceAllocator
from muntin.apiserver.webhooks import WebhookClient
from muntin.kit.clock import Clock
from muntin.kit.http.client import HttpClient
from muntin.model.schema import Schema
from muntin.seams.store import Store

if TYPE_CHECKING:  # it answers requests, and so knows the Core
    from muntin.apiserver.components import Components

Object = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Core:
    """One server's collaborators; there is one of each."""

    config: ApiServerConfig
    clock: Clock
    store: Store
    schema: Schema
    registry: Registry
    published: Published
    cache: Cache
    forms: FieldForms
    snapshots: Snapshots
    authenticator: Authenticator
    authorizer: Authorizer
    auditor: Auditor | None
    admission: Admission
    issuer: TokenIssuer
    allocator: ServiceAllocator
    metrics: Metrics
    health: Health
    components: Components
    limits: RequestLimits
    kubelet_client: Callable[..., HttpClient]  # ``verify=False`` asks kubelets of any certificate
    webhooks: WebhookClient
