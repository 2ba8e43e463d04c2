"""Validation of what a pod says of Windows: its operating system, users, host processes.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateWindows, validateLinux,
validateWindowsSecurityContextOptions, validateWindowsHostProcessPod).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from muntin.model import names
from muntin.model.gates import Version
from muntin.model.validation.findings import Findings, Object, shown
from muntin.model.windows import Feature, gate, holds_in_api

_SYSTEMS = ("linux", "windows")
# The rows of what a pod for Windows cannot have, in upstream's order.
_NOT_IN_PODS = (
    Feature.FORBIDS_PSC_APPARMORPROFILE,
    Feature.FORBIDS_PSC_SELINUXOPTIONS,
    Feature.FORBIDS_HOSTUSERS,
    Feature.FORBIDS_HOSTPID,
    Feature.FORBIDS_HOSTIPC,
    Feature.FORBIDS_PSC_SECCOMPPROFILE,
    Feature.FORBIDS_PSC_FSGROUP,
    Feature.FORBIDS_PSC_FSGROUPCHANGEPOLICY,
    Feature.FORBIDS_PSC_SYSCTLS,
    Feature.FORBIDS_SHAREPROCESSNAMESPACE,
    Feature.FORBIDS_PSC_RUNASUSER,
    Feature.FORBIDS_PSC_RUNASGROUP,
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPS,
    Feature.FORBIDS_PSC_SUPPLEMENTALGROUPSPOLICY,
    Feature.FORBIDS_PSC_SELINUXCHANGEPOLICY,
)
_NOT_IN_CONTAINERS = (
    Feature.FORBIDS_CTR_APPARMORPROFILE,
    Feature.FORBIDS_CTR_SELINUXOPTIONS,
    Feature.FORBIDS_CTR_SECCOMPPROFILE,
    Feature.FORBIDS_CTR_CAPABILITIES,
    Feature.FORBIDS_CTR_READONLYROOTFILESYSTEM,
    Feature.FORBIDS_CTR_PRIVILEGED,
    Feature.FORBIDS_CTR_ALLOWPRIVILEGEESCALATION,
    Feature.FORBIDS_CTR_PROCMOUNT,
    Feature.FORBIDS_CTR_RUNASUSER,
    Feature.FORBIDS_CTR_RUNASGROUP,
)
_FLAGS = ("hostPID", "hostIPC", "sysctls")  # set is what is true, or not empty
_FORBIDDEN = "Forbidden: "

SPEC_BYTES = 64 * 1024
_DOMAIN_LENGTH, _USER_LENGTH = 256, 104
_control = re.compile(r"[\x00-\x1f\x7f-\x9f]").search
_netbios = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}').fullmatch
_DNS_LABEL = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_dns = re.compile(rf"{_DNS_LABEL}(\.{_DNS_LABEL})*").fullmatch
_dots = re.compile(r"[. ]+").fullmatch
_bad_user = re.compile(r'["/\\:;|=,+*?<>@\[\]]').search


def each_container(spec: Object, path: str) -> Iterator[tuple[str, Object]]:
    """(path, container) of all kinds of containers."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        for index, row in enumerate(spec.get(field) or ()):
            yield f"{path}.{field}[{index}]", row


def operating_system(spec: Object, path: str, found: Findings) -> None:
    """``os.name``, and the fields that are meant for another system."""
    system = spec.get("os")
    if system is None:
        return
    name = system.get("name")
    if not name:
        found.required(f"{path}.os.name")
    elif name not in _SYSTEMS:
        found.not_supported(f"{path}.os", name, _SYSTEMS)
    elif name == "windows":
        _windows_pod(spec, path, found)
    else:
        _linux_pod(spec, path, found)


@cache
def _forbidden(features: tuple[Feature, ...], kubernetes: Version) -> list[tuple[bool, str, str]]:
    """Of each field: whether it is in a security context, its name, what is said of it."""
    found = []
    for feature in features:
        if holds_in_api(feature, kubernetes):
            holder, _, field = gate(feature).applies_to[0].rpartition(".")
            message = gate(feature).message.removeprefix(_FORBIDDEN)
            found.append((holder.endswith("securityContext"), field, message))
    return found


def _windows_pod(spec: Object, path: str, found: Findings) -> None:
    context = spec.get("securityContext") or {}
    for is_security, field, message in _forbidden(_NOT_IN_PODS, found.kubernetes):
        holder, where = (context, f"{path}.securityContext") if is_security else (spec, path)
        value = holder.get(field)
        if value if field in _FLAGS else value is not None:
            found.forbidden(f"{where}.{field}", message)
    of_containers = _forbidden(_NOT_IN_CONTAINERS, found.kubernetes)
    for here, row in each_container(spec, path):
        security = row.get("securityContext") or {}
        for _, field, message in of_containers:
            if security.get(field) is not None:
                found.forbidden(f"{here}.securityContext.{field}", message)


def _linux_pod(spec: Object, path: str, found: Findings) -> None:
    message = gate(Feature.POD_OS_LINUX_WINDOWSOPTIONS).message.removeprefix(_FORBIDDEN)
    for here, row in ((path, spec), *each_container(spec, path)):
        if (row.get("securityContext") or {}).get("windowsOptions") is not None:
            found.forbidden(f"{here}.securityContext.windowsOptions", message)


def windows_options(holder: Object, path: str, found: Findings) -> None:
    """``windowsOptions`` of a pod or of one of its containers, whatever the pod's system."""
    context = holder.get("securityContext")
    options = context.get("windowsOptions") if context else None
    if options is not None:
        _options(options, f"{path}.securityContext.windowsOptions", found)


def _options(options: Object, path: str, found: Findings) -> None:
    name = options.get("gmsaCredentialSpecName")
    if name is not None:
        problems = names.dns1123_subdomain(name)
        found.each_invalid(f"{path}.gmsaCredentialSpecName", name, problems)
    content = options.get("gmsaCredentialSpec")
    if content is not None:
        here = f"{path}.gmsaCredentialSpec"
        if not content:
            found.invalid(here, content, "gmsaCredentialSpec cannot be an empty string")
        elif len(content.encode()) > SPEC_BYTES:
            found.invalid(here, content, gate(Feature.GMSA_CREDSPEC_VALIDATION).message)
    user = options.get("runAsUserName")
    if user is not None:
        words = gate(Feature.RUNASUSERNAME_VALIDATION).message
        for problem in run_as_user_name(user):
            found.invalid(f"{path}.runAsUserName", user, words.format(problem=problem))


def run_as_user_name(value: str) -> list[str]:
    """What is wrong with ``value`` as ``DOMAIN\\USER`` or ``USER``."""
    if not value:
        return ["runAsUserName cannot be an empty string"]
    if _control(value):
        return ["runAsUserName cannot contain control characters"]
    if value.count("\\") > 1:
        return ["runAsUserName cannot contain more than one backslash"]
    domain, backslash, user = value.rpartition("\\")
    found = []
    if len(domain) >= _DOMAIN_LENGTH:
        found.append("runAsUserName's Domain length must be under 256 characters")
    if backslash and not _netbios(domain) and not _dns(domain):
        found.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    return found + _user_problems(user)


def _user_problems(user: str) -> list[str]:
    prefix = "runAsUserName's User"
    if not user:
        return [f"{prefix} cannot be empty"]
    found = []
    if len(user) > _USER_LENGTH:
        found.append(f"{prefix} length must not be longer than {_USER_LENGTH} characters")
    if _dots(user):
        found.append(f"{prefix} cannot contain only periods or spaces")
    if _bad_user(user):
        found.append(f'{prefix} cannot contain the following characters: "/\\:;|=,+*?<>@[]')
    return found


def _host_process_of(holder: Object) -> Any:
    options = (holder.get("securityContext") or {}).get("windowsOptions") or {}
    return options.get("hostProcess")


def host_process(spec: Object, path: str, found: Findings) -> None:
    """A pod runs either all its containers in host processes, or none."""
    of_pod = _host_process_of(spec)
    effective = []
    for here, row in each_container(spec, path):
        own = _host_process_of(row)
        if of_pod is not None and own is not None and own != of_pod:
            found.invalid(
                f"{here}.securityContext.windowsOptions.hostProcess",
                own,
                "pod hostProcess value must be identical if both are specified, was "
                f"{shown(of_pod)}",
            )
        effective.append(bool(of_pod if own is None else own))
    if not any(effective):
        return
    if not all(effective):
        found.invalid(
            path,
            "",
            gate(Feature.HOSTPROCESS_ALL_OR_NONE).message,
        )
    if not spec.get("hostNetwork"):
        found.invalid(
            f"{path}.hostNetwork",
            bool(spec.get("hostNetwork")),
            gate(Feature.HOSTPROCESS_NEEDS_HOSTNETWORK).message,
        )
