"""Jobs and cron jobs."""

from __future__ import annotations

from muntin.model.resources import CRON_JOBS, JOBS
from validation_examples.case import IMMUTABLE, KEY, NEGATIVE, Examples

UID = "batch.kubernetes.io/controller-uid"
OWN = {"controller-uid": "u", "job-name": "a", UID: "u", "batch.kubernetes.io/job-name": "a"}
POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": OWN}, "spec": POD}
JOB = Examples(
    JOBS,
    {"spec": {"selector": {"matchLabels": {UID: "u"}}, "template": TEMPLATE}},
    {"s.": "spec.", "p.": "spec.template.spec.", "t.": "status."},
)
INDEXED = {"s.completionMode": "Indexed", "s.completions": 3}
PER_INDEX = {**INDEXED, "s.backoffLimitPerIndex": 1}
MANY = {**PER_INDEX, "s.completions": 100_001, "s.parallelism": 1, "metadata.name": "a"}
JOB.create(
    "validateGeneratedSelector",
    ({"s.template.metadata.labels": {**OWN, "job-name": "b"}},
     "s.template.metadata.labels[job-name]: Invalid value: {…"),
    ({"s.template.metadata.labels": {key: OWN[key] for key in OWN if key != "controller-uid"}},
     "s.template.metadata.labels[controller-uid]: Required value: must be 'u'"),
    ({"s.selector": {"matchLabels": {"x": "y"}}, "s.template.metadata.labels": {**OWN, "x": "y"}},
     'spec.selector: Invalid value: {"matchLabels":{"x":"y"}}: `selector` not auto-generated'),
)  # fmt: skip
JOB.create(
    "validateJobSpec",
    *(({f"s.{field}": -1}, f"spec.{field}: {NEGATIVE}")
      for field in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                    "ttlSecondsAfterFinished")),
    ({**INDEXED, "s.backoffLimitPerIndex": -1}, f"spec.backoffLimitPerIndex: {NEGATIVE}"),
    ({**PER_INDEX, "s.maxFailedIndexes": -1}, f"spec.maxFailedIndexes: {NEGATIVE}"),
    ({**INDEXED, "s.maxFailedIndexes": 1},
     "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"),
    ({"s.managedBy": "x"},
     'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")'),
    ({"s.managedBy": "a.b/" + "x" * 60},
     "spec.managedBy: Too long: may not be more than 63 bytes"),
    ({"s.completionMode": "X"},
     'spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed"'),
    ({"s.completionMode": "Indexed", "s.parallelism": 1},
     "spec.completions: Required value: when completion mode is Indexed"),
    ({**INDEXED, "s.parallelism": 100_001},
     "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when "
     "completion mode is Indexed"),
    ({**PER_INDEX, "s.maxFailedIndexes": 4},
     "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"),
    (MANY, "spec.maxFailedIndexes: Required value: must be specified when completions is above "
     "100000"),
    ({**MANY, "s.maxFailedIndexes": 1, "s.parallelism": 10_001},
     "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions "
     "are above 100000 and used with backoff limit per index"),
    ({**MANY, "s.maxFailedIndexes": 10_001},
     "spec.maxFailedIndexes: Invalid value: 10001: must be less than or equal to 10000 when "
     "completions are above 100000 and used with backoff limit per index"),
    ({"s.backoffLimitPerIndex": 1},
     "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"),
    ({"s.successPolicy": {"rules": []}},
     'spec.successPolicy: Invalid value: {"rules":[]}: requires indexed completion mode'),
    ({"p.restartPolicy": "Always"},
     'p.restartPolicy: Required value: valid values: "OnFailure", "Never"'),
    ({"p.restartPolicy": "OnFailure", "s.podFailurePolicy": {"rules": []},
      "s.podReplacementPolicy": "Failed"},
     'p.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy '
     "is specified"),
)  # fmt: skip
JOB.create(
    "ValidateJob",
    ({**INDEXED, "metadata.name": "a" * 62, "s.manualSelector": True},
     f'metadata.name: Invalid value: "{"a" * 62}": will not able to create pod with invalid DNS '
     f"label: {'a' * 62}-2"),
)  # fmt: skip
JOB.create(
    "validatePodReplacementPolicy",
    ({"s.podReplacementPolicy": "X"},
     'spec.podReplacementPolicy: Unsupported value: "X": supported values: "Failed", '
     '"TerminatingOrFailed"'),
    ({"s.podFailurePolicy": {"rules": []}, "s.podReplacementPolicy": "TerminatingOrFailed"},
     'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: '
     '"Failed"'),
)  # fmt: skip
RULE = "spec.podFailurePolicy.rules[0]"
CODES = {"operator": "In", "values": [1]}
CONDITION = {"type": "DisruptionTarget", "status": "True"}


def rule(**fields: object) -> dict[str, object]:
    return {"s.podFailurePolicy": {"rules": [{"action": "FailJob", **fields}]}}


def codes(**fields: object) -> dict[str, object]:
    return rule(onExitCodes={**CODES, **fields})


JOB.create(
    "validatePodFailurePolicyRule",
    ({"s.podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": CODES}] * 21}},
     "spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items"),
    (rule(action="", onExitCodes=CODES),
     f'{RULE}.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'),
    (rule(action="FailIndex", onExitCodes=CODES),
     f'{RULE}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'),
    (rule(action="X", onExitCodes=CODES),
     f'{RULE}.action: Unsupported value: "X": supported values: "Count", "FailIndex", "FailJob", '
     '"Ignore"'),
    (rule(), f"{RULE}: Invalid value: specifying one of OnExitCodes and OnPodConditions is "
     "required"),
    (rule(onExitCodes=CODES, onPodConditions=[CONDITION]),
     f"{RULE}: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"),
)  # fmt: skip
X = f"{RULE}.onExitCodes"
JOB.create(
    "validatePodFailurePolicyRuleOnExitCodes",
    (codes(operator=""), f'{X}.operator: Required value: valid values: ["In" "NotIn"]'),
    (codes(operator="X"),
     f'{X}.operator: Unsupported value: "X": supported values: "In", "NotIn"'),
    (codes(containerName="x"),
     f'{X}.containerName: Invalid value: "x": must be one of the container or initContainer names '
     "in the pod template"),
    (codes(values=[]), f"{X}.values: Invalid value: []: at least one value is required"),
    (codes(values=list(range(1, 257))),
     f"{X}.values: Too many: 256: must have at most 255 items"),
    (codes(values=[0]), f"{X}.values[0]: Invalid value: 0: must not be 0 for the In operator"),
    (codes(values=[1, 1]), f"{X}.values[1]: Duplicate value: 1"),
    (codes(values=[2, 1]), f"{X}.values: Invalid value: [2,1]: must be ordered"),
)  # fmt: skip
C = f"{RULE}.onPodConditions"
JOB.create(
    "validatePodFailurePolicyRuleOnPodConditions",
    (rule(onPodConditions=[CONDITION] * 21), f"{C}: Too many: 21: must have at most 20 items"),
    (rule(onPodConditions=[{**CONDITION, "type": "a b"}]),
     f'{C}[0].type: Invalid value: "a b": {KEY}'),
    (rule(onPodConditions=[{**CONDITION, "status": "X"}]),
     f'{C}[0].status: Unsupported value: "X": supported values: "False", "True", "Unknown"'),
    (rule(onPodConditions=[{**CONDITION, "status": ""}]),
     f'{C}[0].status: Required value: valid values: ["False" "True" "Unknown"]'),
)  # fmt: skip
S = "spec.successPolicy.rules"


def success(**fields: object) -> dict[str, object]:
    return {**INDEXED, "s.successPolicy": {"rules": [fields]}}


JOB.create(
    "validateSuccessPolicy",
    ({**INDEXED, "s.successPolicy": {"rules": []}},
     f"{S}: Required value: at least one rules must be specified when the successPolicy is "
     "specified"),
    ({**INDEXED, "s.successPolicy": {"rules": [{"succeededCount": 1}] * 21}},
     f"{S}: Too many: 21: must have at most 20 items"),
    (success(), f"{S}[0]: Required value: at least one of succeededCount or succeededIndexes must "
     "be specified"),
    (success(succeededIndexes="x"),
     f'{S}[0].succeededIndexes: Invalid value: "x": error parsing succeededIndexes: cannot convert '
     'string to integer for index: "x"'),
    (success(succeededIndexes="0,9"),
     f'{S}[0].succeededIndexes: Invalid value: "0,9": error parsing succeededIndexes: too large '
     'index: "9"'),
    (success(succeededCount=-1), f"{S}[0].succeededCount: {NEGATIVE}"),
    (success(succeededCount=4),
     f"{S}[0].succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of "
     "specified completions)"),
    (success(succeededIndexes="0-1", succeededCount=3),
     f"{S}[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of "
     "indexes in the specified succeededIndexes field)"),
)  # fmt: skip
JOB.update(
    "ValidateJobSpecUpdate",
    ({"s.completions": 2}, {"s.completions": 3},
     f"spec.completions: Invalid value: 3: {IMMUTABLE}"),
    (INDEXED, {**INDEXED, "s.completions": 4, "s.parallelism": 1},
     "spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism"),
    ({}, {"s.selector": {"matchLabels": {"job-name": "a"}}},
     f'spec.selector: Invalid value: {{"matchLabels":{{"job-name":"a"}}}}: {IMMUTABLE}'),
    ({}, {"p.containers.0.image": "j"}, "spec.template: Invalid value: {…"),
    ({"s.suspend": True}, {"s.suspend": True, "p.containers.0.image": "j"},
     "spec.template.spec: Invalid value: {…"),
    ({"s.suspend": True},
     {"s.suspend": True, "p.containers.0.resources": {"limits": {"cpu": "1"}}}),
    (INDEXED, {"s.completions": 3}, f'spec.completionMode: Invalid value: "NonIndexed": '
     f"{IMMUTABLE}"),
    ({}, {**rule(onExitCodes=CODES)}, "spec.podFailurePolicy: Invalid value: {…"),
    (PER_INDEX, {**PER_INDEX, "s.backoffLimitPerIndex": 2},
     f"spec.backoffLimitPerIndex: Invalid value: 2: {IMMUTABLE}"),
    ({}, {"s.managedBy": "a.b/c"}, f'spec.managedBy: Invalid value: "a.b/c": {IMMUTABLE}'),
    (INDEXED, success(succeededCount=1), "spec.successPolicy: Invalid value: {…"),
)  # fmt: skip


def now(*kinds: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": "True"} for kind in kinds]


START, END = "2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z"
DONE = {"t.conditions": now("Complete"), "t.startTime": START, "t.completionTime": END}
FAILED = {"t.conditions": now("Failed"), "t.startTime": START}
COND = "status.conditions: Invalid value: cannot"
JOB.status(
    "validateJobStatus",
    *(({}, {f"t.{field}": -1}, f"status.{field}: {NEGATIVE}")
      for field in ("active", "ready", "terminating")),
    *(({}, {f"t.{field}": -1}, f"status.{field}: {NEGATIVE}",
       f"status.{field}: Invalid value: -1: cannot decrease the {field} counter")
      for field in ("succeeded", "failed")),
    ({}, {"t.uncountedTerminatedPods": {"succeeded": [""]}},
     'status.uncountedTerminatedPods.succeeded[0]: Invalid value: "": must not be empty'),
    ({}, {"t.uncountedTerminatedPods": {"succeeded": ["x"], "failed": ["x"]}},
     'status.uncountedTerminatedPods.failed[0]: Duplicate value: "x"'),
    ({}, {**DONE, "t.conditions": now("Complete", "Failed")},
     f"{COND} set Complete=True and Failed=true conditions"),
    ({}, {**DONE, "t.conditions": now("Complete", "FailureTarget")},
     f"{COND} set Complete=True and FailureTarget=true conditions"),
    ({}, {**FAILED, "t.conditions": now("Failed", "SuccessCriteriaMet")},
     f"{COND} set SuccessCriteriaMet=True and Failed=true conditions"),
    ({}, {"t.completionTime": END},
     f'status.completionTime: Invalid value: "{END}": cannot set completionTime when there is no '
     "Complete=True condition"),
    ({}, {"t.conditions": now("Complete"), "t.startTime": START},
     "status.completionTime: Required value: completionTime is required for Complete jobs"),
    ({}, {**DONE, "t.startTime": END, "t.completionTime": START},
     f'status.completionTime: Invalid value: "{START}": completionTime cannot be set before '
     "startTime"),
    ({}, {**FAILED, "t.active": 1},
     "status.active: Invalid value: 1: active>0 is invalid for finished job"),
    ({}, {"t.conditions": now("Failed")},
     "status.startTime: Required value: startTime is required for finished job"),
    ({}, {**FAILED, "t.uncountedTerminatedPods": {"failed": ["x"]}},
     'status.uncountedTerminatedPods: Invalid value: {"failed":["x"]}: uncountedTerminatedPods '
     "needs to be empty for finished job"),
    ({}, {**FAILED, "t.terminating": 1},
     "status.terminating: Invalid value: 1: terminating>0 is invalid for finished job"),
    (INDEXED, {**INDEXED, "t.completedIndexes": "1,1"},
     'status.completedIndexes: Invalid value: "1,1": error parsing completedIndexes: '
     "non-increasing order, previous: 1, current: 1"),
    (PER_INDEX, {**PER_INDEX, "t.failedIndexes": "9"},
     'status.failedIndexes: Invalid value: "9": error parsing failedIndexes: too large index: '
     '"9"'),
    ({}, {"t.completedIndexes": "0"},
     'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when '
     "non-indexed completion mode"),
    ({}, {"t.failedIndexes": "0"},
     'status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when '
     "backoffLimitPerIndex is null"),
    (PER_INDEX, {**PER_INDEX, "t.failedIndexes": "0-1", "t.completedIndexes": "1-2"},
     'status.failedIndexes: Invalid value: "0-1": failedIndexes and completedIndexes overlap at '
     "index: 1"),
    ({}, {"t.ready": 1}, "status.ready: Invalid value: 1: cannot set more ready pods than active"),
)  # fmt: skip
JOB.status(
    "ValidateJobStatusUpdate",
    (FAILED, {"t.startTime": START}, f"{COND} disable the terminal Failed=True condition"),
    ({"t.failed": 2}, {"t.failed": 1},
     "status.failed: Invalid value: 1: cannot decrease the failed counter"),
    ({"t.succeeded": 2}, {"t.succeeded": 1},
     "status.succeeded: Invalid value: 1: cannot decrease the succeeded counter"),
    (DONE, {**DONE, "t.completionTime": "2024-01-01T00:02:00Z"},
     'status.completionTime: Invalid value: "2024-01-01T00:02:00Z": completionTime cannot be '
     "mutated"),
    ({"t.startTime": START}, {},
     "status.startTime: Required value: startTime cannot be removed for unsuspended job"),
    ({"t.conditions": now("SuccessCriteriaMet")}, {},
     f"{COND} disable the SuccessCriteriaMet=True condition"),
    (DONE, {**DONE, "t.conditions": now("Complete", "SuccessCriteriaMet")},
     f"{COND} set SuccessCriteriaMet=True for Job already has Complete=true conditions"),
)  # fmt: skip

CRON = Examples(
    CRON_JOBS,
    {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": POD}}}}},
    {"s.": "spec.", "j.": "spec.jobTemplate.spec."},
)


def when(schedule: str, problem: str) -> tuple[dict[str, object], str]:
    return {"s.schedule": schedule}, f'spec.schedule: Invalid value: "{schedule}": {problem}'


CRON.create(
    "validateScheduleFormat",
    ({"s.schedule": ""}, "spec.schedule: Required value"),
    when("* * *", "expected exactly 5 fields, found 3: [* * *]"),
    when("60 * * * *", "end of range (60) above maximum (59): 60"),
    when("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
    when("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
    when("*/0 * * * *", "step of range should be a positive number: */0"),
    when("* * * * 7", "end of range (7) above maximum (6): 7"),
    when("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing \\"x\\": invalid syntax'
         .replace("\\", "")),
    when("1-2-3 * * * *", "too many hyphens: 1-2-3"),
    when("*/2/3 * * * *", "too many slashes: */2/3"),
    when("@sometimes", "unrecognized descriptor: @sometimes"),
    when("TZ=UTC * * * * *", "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"),
)  # fmt: skip
CRON.create(
    "validateTimeZone",
    ({"s.timeZone": ""},
     'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'),
    ({"s.timeZone": "Local"},
     'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in '
     "https://www.iana.org/time-zones",
     'spec.timeZone: Invalid value: "Local": unknown time zone Local'),
    ({"s.timeZone": "X/Y"}, 'spec.timeZone: Invalid value: "X/Y": unknown time zone X/Y'),
)  # fmt: skip
CRON.create(
    "validateCronJobSpec",
    ({"s.startingDeadlineSeconds": -1}, f"spec.startingDeadlineSeconds: {NEGATIVE}"),
    *(({f"s.{field}": -1}, f"spec.{field}: {NEGATIVE}")
      for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")),
    ({"s.concurrencyPolicy": ""}, "spec.concurrencyPolicy: Required value"),
    ({"s.concurrencyPolicy": "X"},
     'spec.concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", '
     '"Replace"'),
)  # fmt: skip
CRON.create(
    "ValidateJobTemplateSpec",
    ({"j.parallelism": -1}, f"j.parallelism: {NEGATIVE}"),
    ({"j.selector": {}}, "j.selector: Invalid value: {}: `selector` will be auto-generated"),
    ({"j.manualSelector": True},
     'j.manualSelector: Unsupported value: true: supported values: "nil", "false"'),
)  # fmt: skip
CRON.create(
    "ValidateCronJobCreate",
    ({"metadata.name": "a" * 53},
     f'metadata.name: Invalid value: "{"a" * 53}": must be no more than 52 characters'),
)  # fmt: skip
TZ = {"s.schedule": "TZ=UTC * * * * *"}
CRON.update(
    "ValidateCronJobUpdate",
    (TZ, {**TZ, "s.timeZone": "Etc/UTC"},
     'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use both timeZone field and TZ or '
     "CRON_TZ in schedule"),
)  # fmt: skip
