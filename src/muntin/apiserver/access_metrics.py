"""What is counted of who asks and whether they may, under upstream's names.

Source: apiserver v1.36 pkg/endpoints/filters/metrics.go, impersonation/metrics/metrics.go.
"""

from __future__ import annotations

from muntin.kit.metrics import Counter, Families, Histogram

ACCESS_S = tuple(0.001 * 2**power for power in range(15))
DENIED, ALLOWED = "denied", "allowed"

# Users that are counted by name, as upstream does; all others are one.
_KNOWN_USERS = frozenset(
    {"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"}
)
_MODE = ("mode", "decision")
_OLDEST = "legacy"


class AccessMetrics:
    """The counters of one server's authentication, authorization and impersonation."""

    def __init__(self, families: Families) -> None:
        new = families.add
        self._users = new(
            Counter(
                "authenticated_user_requests",
                "Counter of authenticated requests broken out by username.",
                ("username",),
            )
        )
        self._authentications = new(
            Counter("authentication_attempts", "Counter of authenticated attempts.", ("result",))
        )
        self._authentication_s = new(
            Histogram(
                "authentication_duration_seconds",
                "Authentication duration in seconds broken out by result.",
                ("result",),
                ACCESS_S,
            )
        )
        self._authorizations = new(
            Counter(
                "authorization_attempts_total",
                "Counter of authorization attempts broken down by result.",
                ("result",),
            )
        )
        self._authorization_s = new(
            Histogram(
                "authorization_duration_seconds",
                "Authorization duration in seconds broken out by result.",
                ("result",),
                ACCESS_S,
            )
        )
        self._impersonation = _Attempts(
            families, "apiserver_impersonation_attempts", "impersonation attempts"
        )
        self._impersonation_checks = _Attempts(
            families,
            "apiserver_impersonation_authorization_attempts",
            "authorization checks made by the impersonation handler",
        )

    def authenticated(self, result: str, user: str, seconds: float) -> None:
        """Count one attempt: ``result`` is success or failure."""
        labels = (result,)
        self._authentications.add(labels)
        self._authentication_s.observe(labels, seconds)
        if user:
            shown = "email_id" if "@" in user else "other"
            self._users.add((user if user in _KNOWN_USERS else shown,))

    def authorized(self, result: str, seconds: float) -> None:
        """Count one decision on a request."""
        labels = (result,)
        self._authorizations.add(labels)
        self._authorization_s.observe(labels, seconds)

    def impersonated(self, constraint: str | None, seconds: float) -> None:
        """Count one attempt; no constraint is that of the oldest way, None that of nobody."""
        if constraint is None:
            self._impersonation.add("", DENIED, seconds)
        else:
            self._impersonation.add(_mode(constraint), ALLOWED, seconds)

    def impersonation_checked(self, verb: str, *, allowed: bool, seconds: float) -> None:
        """Count one question to the authorizers, by its verb."""
        self._impersonation_checks.add(_mode(verb), ALLOWED if allowed else DENIED, seconds)


class _Attempts:
    """A number and a duration by mode and decision."""

    def __init__(self, families: Families, name: str, what: str) -> None:
        self._total = families.add(
            Counter(f"{name}_total", f"Total number of {what} split by mode and decision.", _MODE)
        )
        self._seconds = families.add(
            Histogram(
                f"{name}_duration_seconds",
                f"Latency of {what} in seconds split by mode and decision.",
                _MODE,
                ACCESS_S,
            )
        )

    def add(self, mode: str, decision: str, seconds: float) -> None:
        labels = (mode, decision)
        self._total.add(labels)
        self._seconds.observe(labels, seconds)


def _mode(verb: str) -> str:
    """The way that a verb, ``impersonate-on:user-info:list`` or of another form, belongs to."""
    _, colon, rest = verb.partition(":")
    return rest.partition(":")[0] if colon else _OLDEST
