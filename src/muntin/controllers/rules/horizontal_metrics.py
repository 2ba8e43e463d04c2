"""What an autoscaler measures: where each metric of its list is asked for, and what answers say.

Amounts are in thousandths, as upstream reckons.
Source: kubernetes v1.36 pkg/controller/podautoscaler/metrics/client.go, k8s.io/metrics
pkg/client/{custom,external}_metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from muntin.kit.errors import Unavailable
from muntin.model import durations, quantity
from muntin.model.resources import Resource
from muntin.model.selectors import labels_of

RESOURCE_API = "/apis/metrics.k8s.io/v1beta1"
CUSTOM_GROUP = "custom.metrics.k8s.io"
CUSTOM_VERSIONS = ("v1beta2", "v1beta1")
EXTERNAL_API = "/apis/external.metrics.k8s.io/v1beta1"
DEFAULT_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class PodMetric:
    """What one pod used in the ``window_s`` that ended at ``at`` (seconds since the epoch)."""

    value: int
    at: float
    window_s: float = DEFAULT_WINDOW_S


PodMetrics: TypeAlias = Mapping[str, PodMetric]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found out about one metric: of each pod, or as a whole; or why nothing was."""

    pods: PodMetrics | None = None
    values: tuple[int, ...] = ()
    error: str = ""


def source_of(metric: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a metric's spec that its type names."""
    kind = metric["type"]
    found = metric.get(kind[:1].lower() + kind[1:]) or {}
    return found if isinstance(found, Mapping) else {}


def resource_path(namespace: str, selector: str) -> str:
    """Where the use of resources by the selected pods is asked for."""
    query = urlencode({"labelSelector": selector})
    return f"{RESOURCE_API}/namespaces/{quote(namespace)}/pods?{query}"


def pods_path(version: str, namespace: str, selector: str, metric: Mapping[str, Any]) -> str:
    """Where a custom metric of all selected pods is asked for."""
    query = _query(labelSelector=selector, metricLabelSelector=_selector(metric))
    root = f"/apis/{CUSTOM_GROUP}/{version}/namespaces/{quote(namespace)}"
    return f"{root}/pods/*/{quote(metric['name'], safe='')}{query}"


def object_path(
    version: str, namespace: str, described: Resource, name: str, metric: Mapping[str, Any]
) -> str:
    """Where a custom metric of one object is asked for; of a Namespace it is the HPA's own."""
    query = _query(metricLabelSelector=_selector(metric))
    root = f"/apis/{CUSTOM_GROUP}/{version}/namespaces/{quote(namespace)}"
    own = quote(metric["name"], safe="")
    if (described.group, described.kind) == ("", "Namespace"):
        return f"{root}/metrics/{own}{query}"
    return f"{root}/{described.group_resource}/{quote(name)}/{own}{query}"


def external_path(namespace: str, metric: Mapping[str, Any]) -> str:
    """Where a metric of something outside the cluster is asked for."""
    query = _query(labelSelector=_selector(metric))
    return f"{EXTERNAL_API}/namespaces/{quote(namespace)}/{quote(metric['name'], safe='')}{query}"


def _selector(metric: Mapping[str, Any]) -> str:
    """A metric's own selector; one that is left out selects all, as an empty one does."""
    return str(labels_of(metric["selector"])) if metric.get("selector") else ""


def _query(**params: str) -> str:
    given = {key: value for key, value in params.items() if value}
    return f"?{urlencode(given)}" if given else ""


def resource_reading(answer: Mapping[str, Any], resource: str, container: str = "") -> Reading:
    """What a PodMetricsList says of ``resource``, of one container or of all of each pod."""
    items = answer.get("items") or []
    if not items:
        return Reading(error="no metrics returned from resource metrics API")
    found: dict[str, PodMetric] = {}
    for item in items:
        rows = item.get("containers") or []
        if container:
            rows = [row for row in rows if row["name"] == container][:1]
        amounts = [(row.get("usage") or {}).get(resource) for row in rows]
        if not amounts or None in amounts:
            continue  # a part of it would be too small
        value = sum(quantity.milli(amount) for amount in amounts if amount is not None)
        window_s = durations.parse_duration(item.get("window") or "0s")
        found[item["metadata"]["name"]] = PodMetric(value, _at(item), window_s)
    return Reading(pods=found)


def custom_pods_reading(answer: Mapping[str, Any]) -> Reading:
    """What a MetricValueList says of pods."""
    items = answer.get("items") or []
    if not items:
        return Reading(error="no metrics returned from custom metrics API")
    return Reading(
        pods={
            item["describedObject"]["name"]: PodMetric(
                quantity.milli(item["value"]), _at(item), _window_s(item)
            )
            for item in items
        }
    )


def _window_s(item: Mapping[str, Any]) -> float:
    """v1beta1 says ``window``, v1beta2 ``windowSeconds``."""
    found = item.get("windowSeconds", item.get("window"))
    return DEFAULT_WINDOW_S if found is None else float(found)


def custom_object_reading(answer: Mapping[str, Any]) -> Reading:
    """What a MetricValueList says of the one object that was asked about."""
    items = answer.get("items") or []
    if len(items) != 1:
        text = "the custom metrics API server returned {} results when we asked for exactly one"
        return unread("custom", text.format(len(items)))
    return Reading(values=(quantity.milli(items[0]["value"]),))


def external_reading(answer: Mapping[str, Any]) -> Reading:
    """What an ExternalMetricValueList says: all values count."""
    items = answer.get("items") or []
    if not items:
        return Reading(error="no metrics returned from external metrics API")
    return Reading(values=tuple(quantity.milli(item["value"]) for item in items))


def unread(api: str, error: str) -> Reading:
    """A reading that failed: ``api`` (resource, custom, external) gave ``error``."""
    return Reading(error=f"unable to fetch metrics from {api} metrics API: {error}")


def pods_of(reading: Reading, what: str) -> PodMetrics:
    """The pods' metrics.

    Raises:
        Unavailable: there are none; ``what`` begins the message.
    """
    if reading.error or reading.pods is None:
        raise Unavailable(f"{what}: {reading.error}")
    return reading.pods


def _at(item: Mapping[str, Any]) -> float:
    return durations.epoch_s(item["timestamp"])


def quantity_of(milli: int, *, binary: bool = False) -> str:
    """Thousandths as the API writes them."""
    return str(quantity.Quantity(milli * 1_000_000, "binary" if binary else "decimal"))
