"""Access: sums of ClusterRoles, Secrets with tokens, and tokens with which machines join."""

from __future__ import annotations

import secrets as randomness
from collections.abc import Iterable, Sequence
from functools import cached_property

from muntin.controllers.caches import NAMESPACE, Caches
from muntin.controllers.config import ControllersConfig
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import (
    bootstrap_signer,
    cluster_role_aggregation,
    service_account_tokens,
    token_cleaner,
)
from muntin.controllers.rules.actions import Action
from muntin.kit import errors, jose
from muntin.model import bootstrap_tokens
from muntin.model.names import SUFFIX_ALPHABET
from muntin.model.resources import CLUSTER_ROLES, CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS
from muntin.model.service_account_tokens import account_of
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import key_of

_EVERYTHING = "cluster-info"


class ClusterRoleAggregation:
    name = account = "clusterrole-aggregation-controller"

    def __init__(self, caches: Caches) -> None:
        self._roles = caches.use(CLUSTER_ROLES)
        self.sources = (Source(CLUSTER_ROLES, self._sums),)

    def _sums(self, role: Object) -> Iterable[str]:
        """Whatever changes in one role may change every sum."""
        own = [key_of(role)] if cluster_role_aggregation.is_sum(role) else []
        others = (key_of(row) for row in self._roles if cluster_role_aggregation.is_sum(row))
        return {*own, *others}

    async def plan(self, round: Round) -> Sequence[Action]:
        role = self._roles.get(round.key)
        if role is None:
            return ()
        return cluster_role_aggregation.reconcile(role, list(self._roles))


class ServiceAccountTokens:
    """Its key is that of the account, which need not be there any more."""

    name = "tokens-controller"
    account = "system:kube-controller-manager"  # as upstream: it makes what the others come in by

    def __init__(self, caches: Caches, config: ControllersConfig, client: KubeClient) -> None:
        self._accounts = caches.use(SERVICE_ACCOUNTS)
        self._secrets = caches.use(SECRETS, NAMESPACE)
        self._client = client
        self._config = config
        self.sources = (Source(SERVICE_ACCOUNTS), Source(SECRETS, self._account))

    def _account(self, secret: Object) -> Iterable[str]:
        found = account_of(secret)
        return [f"{secret['metadata']['namespace']}/{found[0]}"] if found else []

    @cached_property
    def _settings(self) -> service_account_tokens.Settings:
        key = jose.signing_key(self._config.service_account_key)
        return service_account_tokens.Settings(
            sign=key.sign,
            root_ca=self._config.root_ca,
            automatic=self._config.secret_tokens,
            suffix=_suffix,
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        namespace, _, name = round.key.partition("/")
        secrets = [
            secret
            for secret in self._secrets.by_index(NAMESPACE, namespace)
            if (account_of(secret) or ("",))[0] == name
        ]
        account = self._accounts.get(round.key)
        if not secrets and (account is None or not self._config.secret_tokens):
            return ()
        if account is None:  # a Secret may be seen before the account that was made before it
            try:
                account = await self._client.get(SERVICE_ACCOUNTS, name, namespace)
            except errors.NotFound:
                account = None
        return service_account_tokens.reconcile(account, secrets, self._settings)


def _suffix() -> str:
    return "".join(randomness.choice(SUFFIX_ALPHABET) for _ in range(5))


def _if_bootstrap_token(secret: Object) -> bool:
    meta = secret["metadata"]
    return meta["namespace"] == bootstrap_tokens.NAMESPACE and bool(
        meta["name"].startswith(bootstrap_tokens.PREFIX)
    )


class TokenCleaner:
    name = account = "token-cleaner"

    def __init__(self, caches: Caches) -> None:
        self._secrets = caches.use(SECRETS, NAMESPACE)
        self.sources = (Source(SECRETS, self._own),)

    @staticmethod
    def _own(secret: Object) -> Iterable[str]:
        return [key_of(secret)] if _if_bootstrap_token(secret) else []

    async def plan(self, round: Round) -> Sequence[Action]:
        secret = self._secrets.get(round.key)
        return () if secret is None else token_cleaner.reconcile(secret, round.now)


class BootstrapSigner:
    name = account = "bootstrap-signer"

    def __init__(self, caches: Caches) -> None:
        self._secrets = caches.use(SECRETS, NAMESPACE)
        self._config_maps = caches.use(CONFIG_MAPS)
        self.sources = (Source(SECRETS, self._token), Source(CONFIG_MAPS, self._cluster_info))

    @staticmethod
    def _token(secret: Object) -> Iterable[str]:
        return [_EVERYTHING] if _if_bootstrap_token(secret) else []

    @staticmethod
    def _cluster_info(config_map: Object) -> Iterable[str]:
        signer, meta = bootstrap_signer, config_map["metadata"]
        own = (meta["namespace"], meta["name"]) == (signer.NAMESPACE, signer.NAME)
        return [_EVERYTHING] if own else []

    async def plan(self, round: Round) -> Sequence[Action]:
        key = f"{bootstrap_signer.NAMESPACE}/{bootstrap_signer.NAME}"
        config_map = self._config_maps.get(key)
        if config_map is None:
            return ()
        secrets = self._secrets.by_index(NAMESPACE, bootstrap_tokens.NAMESPACE)
        return bootstrap_signer.reconcile(config_map, secrets, round.now)
