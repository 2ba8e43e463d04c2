"""Pods of accounts that say so use only the Secrets that the account lists.

Source: kubernetes v1.34 plugin/pkg/admission/serviceaccount/admission.go (limitSecretReferences).
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

Object = dict[str, Any]

_KINDS = (("initContainers", "init container"), ("containers", "container"))
_EPHEMERAL = (("ephemeralContainers", "ephemeral container"),)


def refused(account: Object, spec: Object, *, ephemeral: bool) -> str:
    """The first reference that the account does not allow, in upstream's words; empty if none.

    Of an update of ephemeral containers only these are looked at.
    """
    return next(_all(account, spec, _EPHEMERAL if ephemeral else _KINDS, not ephemeral), "")


def _all(
    account: Object, spec: Object, kinds: tuple[tuple[str, str], ...], whole: bool
) -> Iterator[str]:
    allowed = {row["name"] for row in account.get("secrets") or () if row.get("name")}
    tail = f"is not allowed because service account {account['metadata']['name']} does not "
    secret_tail = f"{tail}reference that secret"
    for volume in spec.get("volumes") or () if whole else ():
        name = (volume.get("secret") or {}).get("secretName")
        if name and name not in allowed:
            yield f'volume with secret.secretName="{name}" {secret_tail}'
    for field, kind in kinds:
        for row in spec.get(field) or ():
            for place, name in _references(row, allowed):
                yield f'{kind} {row["name"]} with {place} secret.secretName="{name}" {secret_tail}'
    pulls = {row.get("name") for row in account.get("imagePullSecrets") or ()}
    for index, row in enumerate(spec.get("imagePullSecrets") or () if whole else ()):
        if row.get("name") not in pulls:
            where = f'imagePullSecrets[{index}].name="{row.get("name")}"'
            yield f"{where} {tail}reference that imagePullSecret"


def _references(row: Object, allowed: Set[str]) -> Iterator[tuple[str, str]]:
    for variable in row.get("env") or ():
        name = ((variable.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name")
        if name and name not in allowed:
            yield f"envVar {variable['name']} referencing", name
    for source in row.get("envFrom") or ():
        name = (source.get("secretRef") or {}).get("name")
        if name and name not in allowed:
            yield "envFrom referencing", name
