"""CertificateSigningRequests: approved unasked, signed, and removed when they are old."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from muntin.controllers.caches import Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import certificate_requests as rule
from muntin.controllers.rules import certificate_signing as signing
from muntin.controllers.rules.actions import Action, Again
from muntin.model.resources import CERTIFICATE_SIGNING_REQUESTS, known
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import key_of

_REVIEWS = known("authorization.k8s.io/v1", "SubjectAccessReview")
ACCOUNT = "certificate-controller"
_AGAIN_S = 10.0
"""When somebody who may not have a request approved is asked about anew: roles may come."""
_SERIAL_BITS = 128


class CertificateApprover:
    """Approves what kubelets ask for, if the user may."""

    name, account = "csrapproving", ACCOUNT

    def __init__(self, caches: Caches, client: KubeClient) -> None:
        self._requests = caches.use(CERTIFICATE_SIGNING_REQUESTS)
        self._client = client
        self.sources = (Source(CERTIFICATE_SIGNING_REQUESTS, self._awaiting),)

    def _awaiting(self, request: Object) -> Iterable[str]:
        return [key_of(request)] if rule.awaits_approval(request) else []

    async def plan(self, round: Round) -> Sequence[Action]:
        request = self._requests.get(round.key)
        if request is None or not rule.awaits_approval(request):
            return ()
        found = rule.recognized(request)
        for one in found:
            answer = await self._client.create(_REVIEWS, rule.review(request, one))
            if answer["status"].get("allowed"):
                return [rule.approve(request, one.message)]
        return [Again(_AGAIN_S)] if found else ()


class CertificateSigner:
    """Signs what is approved, for all signers of Kubernetes' own."""

    name, account = "csrsigning", ACCOUNT

    def __init__(self, caches: Caches, authority: signing.Authority) -> None:
        self._requests = caches.use(CERTIFICATE_SIGNING_REQUESTS)
        self._authority = authority
        self.sources = (Source(CERTIFICATE_SIGNING_REQUESTS, self._awaiting),)

    def _awaiting(self, request: Object) -> Iterable[str]:
        return [key_of(request)] if rule.awaits_signature(request) else []

    async def plan(self, round: Round) -> Sequence[Action]:
        request = self._requests.get(round.key)
        if request is None or not rule.awaits_signature(request):
            return ()
        problem = rule.problem(request)
        if problem:
            return [rule.fail(request, problem, round.now)]
        serial = secrets.randbits(_SERIAL_BITS - 1) + 1
        return [signing.issue(request, self._authority, round.now, serial)]


class CertificateCleaner:
    """Removes requests that are of no use any more."""

    name, account = "csrcleaner", ACCOUNT

    def __init__(self, caches: Caches) -> None:
        self._requests = caches.use(CERTIFICATE_SIGNING_REQUESTS)
        self.sources = (Source(CERTIFICATE_SIGNING_REQUESTS),)

    async def plan(self, round: Round) -> Sequence[Action]:
        request = self._requests.get(round.key)
        if request is None:
            return ()
        return rule.clean(request, signing.expires(request), round.now)
