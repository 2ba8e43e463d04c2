"""Since when the API server does what: behaviours that depend on the version of the API alone.

What depends on a node's versions stands in ``windows``; since when a kind is served, in
``resources``. Source: kubernetes pkg/features/kube_features.go, CHANGELOGs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from muntin.model.gates import Version


class ApiFeature(StrEnum):
    """A behaviour of the API server that older versions do not have."""

    BOUND_TOKEN_VOLUMES = "bound-token-volumes"
    POD_SECURITY = "pod-security"
    DISRUPTION_CONDITIONS = "disruption-conditions"
    DELETED_SERVICES_SHOWN = "deleted-services-shown"
    TOKENS_WITHOUT_SECRETS = "tokens-without-secrets"
    TOKEN_TRACKING = "token-tracking"
    CREDENTIAL_IDS = "credential-ids"
    NODES_READ_BY_SELECTOR = "nodes-read-by-selector"
    CUSTOM_RATCHETING = "custom-ratcheting"
    CUSTOM_NAME_FORMATS = "custom-name-formats"
    FIELD_VALIDATION = "field-validation"
    TODAYS_DEFAULTS = "todays-defaults"
    LOG_STREAMS = "log-streams"
    OPENAPI_V3 = "openapi-v3"
    OBJECT_WARNINGS = "object-warnings"
    ADDRESS_WARNINGS = "address-warnings"
    REPOSITORIES_OFF = "repositories-off"
    NAMED_ENDPOINTS_DEPRECATED = "named-endpoints-deprecated"
    MOUNTABLE_SECRETS_DEPRECATED = "mountable-secrets-deprecated"
    SAME_ZONE = "same-zone"
    SCALE_TABLES = "scale-tables"
    CONSTRAINED_IMPERSONATION = "constrained-impersonation"
    TOKENS_IN_SECRETS = "tokens-in-secrets"
    EXTERNAL_IPS_DEPRECATED = "external-ips-deprecated"
    STREAMS_TRANSLATED = "streams-translated"
    LENT_SEATS = "lent-seats"
    EXEMPT_SHARES = "exempt-shares"
    LEASES_ALONE_ELECT = "leases-alone-elect"
    AGGREGATED_DISCOVERY = "aggregated-discovery"
    DISCOVERY_V2 = "discovery-v2"
    DISCOVERY_V2_ALONE = "discovery-v2-alone"
    SLI_METRICS = "sli-metrics"
    ZPAGES = "zpages"
    OWN_TOLERANCES = "own-tolerances"
    AUTOSCALERS_CAREFUL = "autoscalers-careful"
    AUTOSCALERS_EXCLUSIVE = "autoscalers-exclusive"
    AUTOSCALERS_OF_TODAY = "autoscalers-of-today"
    JOB_TRACKING = "job-tracking"
    JOB_BACKOFF_BY_PODS = "job-backoff-by-pods"
    JOB_INDEX_LABELS = "job-index-labels"
    JOB_TERMINATING = "job-terminating"
    JOB_ENDS_ANNOUNCED = "job-ends-announced"
    JOB_START_FORGOTTEN = "job-start-forgotten"
    CRON_JOB_MINUTES = "cron-job-minutes"
    CRON_JOB_TIMESTAMPS = "cron-job-timestamps"
    EXPANSION_RECOVERY = "expansion-recovery"
    STORAGE_CAPACITIES = "storage-capacities"
    VOLUME_ATTRIBUTES = "volume-attributes"
    STATEFUL_AVAILABILITY = "stateful-availability"
    STATEFUL_SUCCEEDED_REPLACED = "stateful-succeeded-replaced"
    STATEFUL_INDEX_LABELS = "stateful-index-labels"
    STATEFUL_REPLACED_UNSAID = "stateful-replaced-unsaid"
    STATEFUL_VERBS_CAPITAL = "stateful-verbs-capital"
    TERMINATING_REPLICAS = "terminating-replicas"
    ZERO_TIMES_OMITTED = "zero-times-omitted"
    NAMESPACED_PODS_FIRST = "namespaced-pods-first"
    SERVICE_CIDRS = "service-cidrs"
    NAMELESS_REFERENCES = "nameless-references"
    SERVER_IDENTITY = "server-identity"
    CEL_AUTHORIZER = "cel-authorizer"
    CEL_OPTIONALS = "cel-optionals"
    CEL_MIXED_NUMBERS = "cel-mixed-numbers"
    CEL_QUANTITIES = "cel-quantities"
    CEL_LITERALS_CHECKED = "cel-literals-checked"
    CEL_FORMATTED_STRINGS = "cel-formatted-strings"
    CEL_SETS = "cel-sets"
    CEL_ADDRESSES = "cel-addresses"
    CEL_NAMED_FORMATS = "cel-named-formats"
    CEL_AUTHORIZER_SELECTORS = "cel-authorizer-selectors"
    CEL_PAIRS = "cel-pairs"
    CEL_SEMVER = "cel-semver"
    CEL_LISTS = "cel-lists"


_SINCE: Mapping[ApiFeature, Version] = {
    # Each API server has a Lease that says who it is. Source: KEP 1965.
    ApiFeature.SERVER_IDENTITY: (1, 26),
    # A reference without a name has an empty one, by which it is told from others.
    ApiFeature.NAMELESS_REFERENCES: (1, 31),
    # Pods find a projected token that ends with them, not a Secret's.
    ApiFeature.BOUND_TOKEN_VOLUMES: (1, 21),
    # The Pod Security Standards are enforced unasked.
    ApiFeature.POD_SECURITY: (1, 23),
    # Deleting a Service is answered by the Service.
    ApiFeature.DELETED_SERVICES_SHOWN: (1, 23),
    # An evicted pod says in its status who disrupts it.
    ApiFeature.DISRUPTION_CONDITIONS: (1, 26),
    # exec and attach over a WebSocket may be in version 5, which the API server translates.
    ApiFeature.STREAMS_TRANSLATED: (1, 30),
    # A new ServiceAccount gets no Secret with a token that never ends.
    ApiFeature.TOKENS_WITHOUT_SECRETS: (1, 24),
    # Tokens from Secrets are labelled with the day of their last use.
    ApiFeature.TOKEN_TRACKING: (1, 28),
    # Users carry an identifier of the credential that they showed; tokens of pods name their node.
    ApiFeature.CREDENTIAL_IDS: (1, 30),
    # A node reads only its own Node, and pods only with its name as field selector.
    ApiFeature.NODES_READ_BY_SELECTOR: (1, 32),
    # What is wrong in a custom object and was so before does not keep it from being changed.
    ApiFeature.CUSTOM_RATCHETING: (1, 30),
    # Schemas of custom resources may ask for names as Kubernetes has them.
    ApiFeature.CUSTOM_NAME_FORMATS: (1, 34),
    # Unknown and repeated fields are refused or warned of, as the client asks.
    ApiFeature.FIELD_VALIDATION: (1, 25),
    # Roles that every cluster has, and versions that objects are said to be stored in, are those
    # of the newest API. (What is between 1.20 and 1.25 is not served.)
    ApiFeature.TODAYS_DEFAULTS: (1, 25),
    # A log can be read of one of its two streams alone.
    ApiFeature.LOG_STREAMS: (1, 32),
    # The schema is published in version 3 of OpenAPI, too, a document for each group and version.
    ApiFeature.OPENAPI_V3: (1, 24),
    # What is deprecated or has no effect in an object is warned of.
    ApiFeature.OBJECT_WARNINGS: (1, 25),
    # So are addresses that are not written as they should be. Source: KEP 4858.
    ApiFeature.ADDRESS_WARNINGS: (1, 33),
    # Volumes of git repositories are off unless asked for. Source: CHANGELOG-1.33.
    ApiFeature.REPOSITORIES_OFF: (1, 33),
    # So are names in EndpointSlices. Source: CHANGELOG-1.33.
    ApiFeature.NAMED_ENDPOINTS_DEPRECATED: (1, 33),
    # So is the annotation that keeps secrets away from pods. Source: CHANGELOG-1.32.
    ApiFeature.MOUNTABLE_SECRETS_DEPRECATED: (1, 32),
    # Traffic stays in a zone under the name PreferSameZone. Source: KEP 3015.
    ApiFeature.SAME_ZONE: (1, 35),
    # The right to be somebody else may be bound to what is done then. Source: KEP 5284.
    ApiFeature.CONSTRAINED_IMPERSONATION: (1, 36),
    # A Scale is shown as a Table. (Seen in 1.36, and not in 1.20. What is between 1.20 and 1.25 is
    # not served.)
    ApiFeature.SCALE_TABLES: (1, 25),
    # CSI drivers may get tokens among the secrets of a volume. Source: CHANGELOG-1.35.
    ApiFeature.TOKENS_IN_SECRETS: (1, 35),
    # So are external addresses of Services, which anybody could claim.
    ApiFeature.EXTERNAL_IPS_DEPRECATED: (1, 36),
    # Priority levels lend their seats to others.
    ApiFeature.LENT_SEATS: (1, 26),
    # The exempt level has shares, too.
    ApiFeature.EXEMPT_SHARES: (1, 28),
    # Leaders are elected over Leases, and Endpoints and ConfigMaps have no flows of their own.
    ApiFeature.LEASES_ALONE_ELECT: (1, 34),
    # All groups are told of in two documents, in a beta form at first, which is gone again.
    ApiFeature.AGGREGATED_DISCOVERY: (1, 27),
    ApiFeature.DISCOVERY_V2: (1, 30),
    ApiFeature.DISCOVERY_V2_ALONE: (1, 33),
    # A claim says how much was given to it while it grows. Source: KEP 1790, CHANGELOG-1.32.
    ApiFeature.EXPANSION_RECOVERY: (1, 32),
    # Drivers tell how much room they have, which the scheduler looks at. Source: KEP 1472.
    ApiFeature.STORAGE_CAPACITIES: (1, 24),
    # Classes of what a volume can do, beside its size. Source: KEP 3751, CHANGELOG-1.34.
    ApiFeature.VOLUME_ATTRIBUTES: (1, 34),
    # What health checks found is counted, on a page of its own.
    ApiFeature.SLI_METRICS: (1, 27),
    # Pages that say what a component is and how it was started.
    ApiFeature.ZPAGES: (1, 36),
    # An autoscaler's behaviour may say which deviation it lets pass. Source: KEP 4951.
    ApiFeature.OWN_TOLERANCES: (1, 35),
    # While one of its metrics is not known, an autoscaler does not scale down.
    # Source: kubernetes/kubernetes#99514.
    ApiFeature.AUTOSCALERS_CAREFUL: (1, 21),
    # No two autoscalers have the same pods. Source: kubernetes/kubernetes#112011.
    ApiFeature.AUTOSCALERS_EXCLUSIVE: (1, 26),
    # Their windows and policies look at both directions; sidecars, requests of whole pods and
    # targets above all that is requested count; the words. (Read in 1.36 and 1.20. When each of it
    # came is not known, and what is between 1.20 and 1.25 is not served.)
    ApiFeature.AUTOSCALERS_OF_TODAY: (1, 25),
    # Pods of jobs carry a finalizer until they are counted; jobs can be suspended and say how many
    # of their pods are ready. (What is between 1.20 and 1.25 is not served.)
    ApiFeature.JOB_TRACKING: (1, 25),
    # Jobs wait from the first failure on, by the times at which their pods ended, and count
    # nothing as active meanwhile. Source: kubernetes/kubernetes#114768.
    ApiFeature.JOB_BACKOFF_BY_PODS: (1, 27),
    # The completion index of a pod is among its labels, too. Source: KEP 4017.
    ApiFeature.JOB_INDEX_LABELS: (1, 28),
    # Jobs say how many of their pods are being deleted. Source: KEP 3939.
    ApiFeature.JOB_TERMINATING: (1, 29),
    # A job says that it will have ended once all its pods have, and why it is complete.
    # Source: CHANGELOG-1.31, KEP 3998.
    ApiFeature.JOB_ENDS_ANNOUNCED: (1, 31),
    # A suspended job has no time of start. Source: KEP 5440.
    ApiFeature.JOB_START_FORGOTTEN: (1, 36),
    # Jobs are named after their cron job and the minute, not the second; the cron job's watch is
    # on batch/v1. (What is between 1.20 and 1.25 is not served.)
    ApiFeature.CRON_JOB_MINUTES: (1, 25),
    # Jobs of cron jobs say when they were to start. Source: KEP 4026.
    ApiFeature.CRON_JOB_TIMESTAMPS: (1, 28),
    # Stateful sets count pods that are available. (What is between 1.20 and 1.25 is not served.)
    ApiFeature.STATEFUL_AVAILABILITY: (1, 25),
    # They make pods anew that have succeeded, too. Source: kubernetes/kubernetes#121389.
    ApiFeature.STATEFUL_SUCCEEDED_REPLACED: (1, 27),
    # The ordinal of a pod is among its labels. Source: KEP 4017.
    ApiFeature.STATEFUL_INDEX_LABELS: (1, 28),
    # That pods which have ended are made anew is no event of its own. Source: CHANGELOG-1.31.
    ApiFeature.STATEFUL_REPLACED_UNSAID: (1, 31),
    # Their events begin with a capital. (Read in 1.36; 1.20 has none. When it came is not known.)
    ApiFeature.STATEFUL_VERBS_CAPITAL: (1, 36),
    # Replica sets and deployments count pods that are ending. Source: KEP 3973.
    ApiFeature.TERMINATING_REPLICAS: (1, 35),
    # An unset creationTimestamp is omitted; earlier versions wrote null.
    # Source: kubernetes/kubernetes#130989.
    ApiFeature.ZERO_TIMES_OMITTED: (1, 34),
    # Deleting a namespace deletes its pods first. Source: KEP 5080.
    ApiFeature.NAMESPACED_PODS_FIRST: (1, 33),
    # Services get addresses from all ready ServiceCIDRs. Source: KEP 1880, CHANGELOG-1.33.
    ApiFeature.SERVICE_CIDRS: (1, 33),
    # What new expressions (CEL) may use. The API servers know most of it one version earlier, but
    # take it only when the one before, to which a cluster may go back, knows it too.
    # Source: apiserver v1.36 pkg/cel/environment/base.go (IntroducedVersion, and one).
    ApiFeature.CEL_AUTHORIZER: (1, 27),  # together with the first conditions that can ask
    ApiFeature.CEL_OPTIONALS: (1, 29),
    ApiFeature.CEL_MIXED_NUMBERS: (1, 29),
    ApiFeature.CEL_QUANTITIES: (1, 29),
    ApiFeature.CEL_LITERALS_CHECKED: (1, 30),
    ApiFeature.CEL_FORMATTED_STRINGS: (1, 30),
    ApiFeature.CEL_SETS: (1, 30),
    ApiFeature.CEL_ADDRESSES: (1, 31),
    ApiFeature.CEL_NAMED_FORMATS: (1, 32),
    # A feature gate decides, which is on from then on. Source: KEP 4601.
    ApiFeature.CEL_AUTHORIZER_SELECTORS: (1, 32),
    ApiFeature.CEL_PAIRS: (1, 33),
    ApiFeature.CEL_SEMVER: (1, 34),
    ApiFeature.CEL_LISTS: (1, 35),
}


def is_in(feature: ApiFeature, version: Version) -> bool:
    """Whether an API of that (major, minor) version does it."""
    return version >= _SINCE[feature]


def features_of(version: Version) -> frozenset[ApiFeature]:
    """All that an API of that (major, minor) version does."""
    return frozenset(feature for feature in ApiFeature if is_in(feature, version))
