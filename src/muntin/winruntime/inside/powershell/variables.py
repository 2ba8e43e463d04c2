"""``$name``: ordinary variables by scope, the automatic ones, and ``$env:``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import nodes as n
from . import types
from . import values as v
from .errors import PSError

if TYPE_CHECKING:
    from .evaluator import Evaluator

EDITION = "MuntinSubset"
VERSION = "0.1.0"
READ_ONLY = frozenset(
    {"true", "false", "null", "pid", "host", "psversiontable", "home", "error", "?"}
)
REFUSED_SCOPES = frozenset({"using", "workflow"})


class Variables:
    """Reads and writes variables for one evaluator."""

    def __init__(self, evaluator: Evaluator) -> None:
        """The automatic variables start with what PowerShell gives them."""
        self.ev = evaluator
        self.errors = v.ArrayList()
        self.exit_code: Any = None
        scope = evaluator.scope
        for name, value in (
            ("ErrorActionPreference", "Continue"),
            ("ProgressPreference", "Continue"),
            ("VerbosePreference", "SilentlyContinue"),
            ("WarningPreference", "Continue"),
            ("DebugPreference", "SilentlyContinue"),
            ("InformationPreference", "SilentlyContinue"),
            ("ConfirmPreference", "High"),
            ("args", []),
        ):
            scope.set(name, value)
        self.automatic: dict[str, Any] = {
            "true": lambda: True,
            "false": lambda: False,
            "null": lambda: None,
            "?": lambda: self.ev.ok,
            "error": lambda: self.errors,
            "lastexitcode": lambda: self.exit_code,
            "pid": os.getpid,
            "home": lambda: self.ev.host.variable("USERPROFILE"),
            "pwd": self._location,
            "psversiontable": _version_table,
            "host": _host_object,
            "psscriptroot": lambda: self.ev.source.folder,
            "pscommandpath": lambda: self.ev.source.file,
            "myinvocation": self._invocation,
            "psitem": lambda: self.ev.scope.get("_"),
            "executioncontext": lambda: None,
        }

    def get(self, node: n.Variable) -> Any:
        """The value of the variable; $null where it is not set."""
        name = node.name.lower()
        if node.scope in ("", "local", "private"):
            automatic = self.automatic.get(name)
            if automatic is not None:
                return automatic()
            return self.ev.scope.get(name)
        if node.scope in ("global", "script"):
            automatic = self.automatic.get(name)
            return automatic() if automatic else self.ev.scope.named(node.scope).values.get(name)
        if node.scope == "env":
            return self.ev.host.variable(node.name)
        if node.scope == "variable":
            return self.ev.scope.get(name)
        if node.scope == "function":
            return self.ev.scope.function(name)
        raise self._no_scope(node)

    def set(self, node: n.Variable, value: Any) -> Any:
        """Assign; a variable declared with a type converts. Gives the value stored."""
        name = node.name.lower()
        if node.scope == "env":
            self.ev.host.set_variable(node.name, v.to_text(value))
            return value
        if node.scope == "function" and isinstance(value, v.ScriptBlock):
            self.ev.scope.functions[name] = value
            return value
        if node.scope not in ("", "local", "private", "global", "script", "variable"):
            raise self._no_scope(node)
        if name == "null":
            return value  # thrown away
        if name in READ_ONLY:
            raise PSError(
                f"Cannot overwrite variable {node.name} because it is read-only or constant.",
                "VariableNotWritable", "WriteError", node.name, target_type="String",
                exception="SessionStateUnauthorizedAccessException",
            )  # fmt: skip
        if name == "lastexitcode":
            self.exit_code = value
            return value
        scope = self.ev.scope.named(node.scope)
        wanted = scope.types.get(name)
        if wanted is not None:
            value = types.cast(value, wanted)
        scope.set(node.name, value)
        return value

    def _no_scope(self, node: n.Variable) -> PSError:
        if node.scope in REFUSED_SCOPES:
            message = (
                f"The variable scope '${node.scope}:' is not supported by this "
                "subset of PowerShell."
            )
            return PSError(message, "NotSupportedBySubset", "NotImplemented", fatal=True)
        return PSError(
            f"Cannot find drive. A drive with the name '{node.scope}' does not exist.",
            "DriveNotFound", "ObjectNotFound", node.scope, target_type="String",
            exception="DriveNotFoundException",
        )  # fmt: skip

    def _location(self) -> v.PSObject:
        place = v.PSObject(
            "System.Management.Automation.PathInfo",
            Path=self.ev.host.location,
            ProviderPath=self.ev.host.location,
        )
        place.text = self.ev.host.location
        return place

    def _invocation(self) -> v.PSObject:
        source = self.ev.source
        command = v.PSObject(Name=source.file.rsplit("\\", 1)[-1], Path=source.file)
        command.text = source.text if not source.file else source.file
        return v.PSObject(
            "System.Management.Automation.InvocationInfo",
            MyCommand=command,
            ScriptName=source.file,
            PSScriptRoot=source.folder,
            BoundParameters=v.Hashtable(),
        )


def _version_table() -> v.Hashtable:
    """What this is, under a name of its own: no Microsoft edition and no Microsoft version."""
    table = v.Hashtable()
    for name, value in (
        ("PSEdition", EDITION),
        ("PSVersion", VERSION),
        ("Implementation", "Muntin's subset of the PowerShell language; not a Microsoft product"),
        ("LanguageLevel", "5.1 (subset)"),
        ("Platform", "Win32NT"),
    ):
        table.set(name, value)
    return table


def _host_object() -> v.PSObject:
    """$Host."""
    return v.PSObject(
        "System.Management.Automation.Internal.Host.InternalHost",
        Name="MuntinHost",
        Version=VERSION,
        CurrentCulture="en-US",
        CurrentUICulture="en-US",
    )
