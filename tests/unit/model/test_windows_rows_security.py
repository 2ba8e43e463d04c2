"""Rows of security contexts, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, security

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
NOWHERE = ("", EVERYWHERE, "")
# What the API refuses since it knows spec.os: 1.24, with the gate open by default.
SINCE_1_24 = ("", "1.24 17763 | 1.37 26100", "1.23 17763 | 1.20 17763 docker")
SINCE_1_30 = ("", "1.30 17763 | 1.37 26100", "1.29 17763 | 1.24 17763")
EXPECTED = {
    F.RUN_AS_USER: NOWHERE,
    F.RUN_AS_GROUP: NOWHERE,
    F.SUPPLEMENTAL_GROUPS: NOWHERE,
    F.FS_GROUP: NOWHERE,
    F.SELINUX_OPTIONS: NOWHERE,
    F.SECURITY_PROFILES: NOWHERE,
    F.CAPABILITIES: NOWHERE,
    F.PRIVILEGED: NOWHERE,
    F.PRIVILEGE_ESCALATION: NOWHERE,
    F.PROC_MOUNT: NOWHERE,
    F.SYSCTLS: NOWHERE,
    F.PSC_NONE_WORK: ("1.14 17763 docker | 1.37 26100", "", "1.13 17134 docker"),
    F.RUN_AS_NON_ROOT: ("1.20 17763 docker | 1.37 26100", "1.19 17763 docker | 1.14 17763", ""),
    F.NON_ROOT_IN_ANY_CASE: (
        "1.25 17763 | 1.37 26100",
        "1.24 17763 | 1.20 17763 docker",
        "1.19 17763 docker",
    ),
    F.FORBIDS_PSC_APPARMORPROFILE: SINCE_1_30,
    F.FORBIDS_PSC_SELINUXOPTIONS: SINCE_1_24,
    F.FORBIDS_HOSTUSERS: (
        "",
        "1.25 17763 +UserNamespacesSupport | 1.37 26100 +UserNamespacesSupport",
        "1.24 17763 +UserNamespacesSupport | 1.25 17763 -UserNamespacesSupport | 1.37 26100",
    ),
    F.FORBIDS_HOSTPID: SINCE_1_24,
    F.FORBIDS_HOSTIPC: SINCE_1_24,
    F.FORBIDS_PSC_SECCOMPPROFILE: SINCE_1_24,
    F.FORBIDS_PSC_FSGROUP: SINCE_1_24,
    F.FORBIDS_PSC_FSGROUPCHANGEPOLICY: SINCE_1_24,
    F.FORBIDS_PSC_SYSCTLS: SINCE_1_24,
    F.FORBIDS_SHAREPROCESSNAMESPACE: SINCE_1_24,
    F.FORBIDS_PSC_RUNASUSER: SINCE_1_24,
    F.FORBIDS_PSC_RUNASGROUP: SINCE_1_24,
    F.FORBIDS_PSC_SUPPLEMENTALGROUPS: SINCE_1_24,
    F.FORBIDS_PSC_SUPPLEMENTALGROUPSPOLICY: (
        "",
        "1.31 17763 +SupplementalGroupsPolicy | 1.37 26100 +SupplementalGroupsPolicy",
        "1.30 17763 +SupplementalGroupsPolicy | 1.31 17763",
    ),
    F.FORBIDS_PSC_SELINUXCHANGEPOLICY: (
        "",
        "1.32 17763 +SELinuxChangePolicy | 1.37 26100 +SELinuxChangePolicy",
        "1.31 17763 +SELinuxChangePolicy | 1.32 17763",
    ),
    F.FORBIDS_CTR_APPARMORPROFILE: SINCE_1_30,
    F.FORBIDS_CTR_SELINUXOPTIONS: SINCE_1_24,
    F.FORBIDS_CTR_SECCOMPPROFILE: SINCE_1_24,
    F.FORBIDS_CTR_CAPABILITIES: SINCE_1_24,
    F.FORBIDS_CTR_READONLYROOTFILESYSTEM: SINCE_1_24,
    F.FORBIDS_CTR_PRIVILEGED: SINCE_1_24,
    F.FORBIDS_CTR_ALLOWPRIVILEGEESCALATION: SINCE_1_24,
    F.FORBIDS_CTR_PROCMOUNT: (
        "",
        "1.24 17763 +ProcMountType | 1.37 26100 +ProcMountType",
        "1.23 17763 +ProcMountType | 1.24 17763",
    ),
    F.FORBIDS_CTR_RUNASUSER: SINCE_1_24,
    F.FORBIDS_CTR_RUNASGROUP: SINCE_1_24,
    F.FORBIDS_RESOURCES: ("", "1.34 17763 | 1.37 26100", "1.33 17763 | 1.20 17763"),
    F.POD_OS_LINUX_WINDOWSOPTIONS: SINCE_1_24,
    F.HOST_PROCESS: (
        "1.23 17763 | 1.23 17763 containerd=1.6.0 | 1.37 26100 | "
        "1.22 17763 +WindowsHostProcessContainers",
        "1.22 17763 | 1.23 17763 docker | 1.23 17763 containerd=1.5.9 | 1.24 17134 | "
        "1.21 17763 +WindowsHostProcessContainers",
        "",
    ),
    F.HOSTPROCESS_RUNASNONROOT: ("", "1.22 17763 | 1.37 26100", "1.21 17763 docker"),
    F.HOSTPROCESS_PSS: ("", "1.23 17763 | 1.37 26100", "1.22 17763"),
    F.HOSTPROCESS_ALLOW_PRIVILEGED: ("", "1.22 17763 | 1.37 26100", "1.21 17763"),
    F.PSS_RESTRICTED_WINDOWS_RELAX: ("1.25 17763 | 1.37 26100", "1.24 17763 | 1.20 17763", ""),
    F.SECRETS_FILE_ACL: (EVERYWHERE, "", ""),
    F.SECRETS_BITLOCKER: (EVERYWHERE, "", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(security.ROWS) == set(EXPECTED)
