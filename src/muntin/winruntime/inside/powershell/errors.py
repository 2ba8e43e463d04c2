"""What can go wrong in a script, and what leaves a block early.

A :class:`PSError` is a statement-terminating error: it is shown and the next statement runs,
unless a ``try`` surrounds it or ``fatal`` is set (``throw``, ``-ErrorAction Stop``, a refusal).
"""

from __future__ import annotations

from typing import Any

PARENTS = {
    "System.SystemException": "System.Exception",
    "System.Management.Automation.RuntimeException": "System.SystemException",
    "System.ArgumentException": "System.SystemException",
    "System.ArgumentNullException": "System.ArgumentException",
    "System.ArgumentOutOfRangeException": "System.ArgumentException",
    "System.ArithmeticException": "System.SystemException",
    "System.DivideByZeroException": "System.ArithmeticException",
    "System.OverflowException": "System.ArithmeticException",
    "System.FormatException": "System.SystemException",
    "System.InvalidCastException": "System.SystemException",
    "System.InvalidOperationException": "System.SystemException",
    "System.ObjectDisposedException": "System.InvalidOperationException",
    "System.IndexOutOfRangeException": "System.SystemException",
    "System.NotSupportedException": "System.SystemException",
    "System.UnauthorizedAccessException": "System.SystemException",
    "System.TimeoutException": "System.SystemException",
    "System.IO.IOException": "System.SystemException",
    "System.IO.FileNotFoundException": "System.IO.IOException",
    "System.IO.DirectoryNotFoundException": "System.IO.IOException",
    "System.ComponentModel.Win32Exception": "System.SystemException",
    "System.Net.HttpListenerException": "System.ComponentModel.Win32Exception",
    "System.Net.Sockets.SocketException": "System.ComponentModel.Win32Exception",
    "System.Net.ProtocolViolationException": "System.InvalidOperationException",
    "System.Net.WebException": "System.InvalidOperationException",
    "System.Management.Automation.CommandNotFoundException":
        "System.Management.Automation.RuntimeException",
    "System.Management.Automation.ItemNotFoundException":
        "System.Management.Automation.RuntimeException",
    "System.Management.Automation.ParameterBindingException":
        "System.Management.Automation.RuntimeException",
    "System.Management.Automation.MethodInvocationException":
        "System.Management.Automation.RuntimeException",
    "System.Management.Automation.ParseException":
        "System.Management.Automation.RuntimeException",
}  # fmt: skip


def ancestry(name: str) -> list[str]:
    """``name`` and the exception types it derives from, nearest first."""
    chain = [name]
    while chain[-1] in PARENTS:
        chain.append(PARENTS[chain[-1]])
    return [*chain, "System.Exception"] if chain[-1] != "System.Exception" else chain


class NetError(Exception):
    """A .NET exception thrown by one of the shims, before the evaluator gives it a place."""

    def __init__(self, type_name: str, message: str, **extra: Any) -> None:
        """``type_name`` is the exception's full name; ``extra`` become properties of it."""
        super().__init__(message)
        self.type_name = type_name
        self.message = message
        self.extra = extra


class Refusal(NetError):
    """Something that .NET or PowerShell has and this subset does not: ends the script."""

    def __init__(self, what: str) -> None:
        """``what`` begins the sentence."""
        super().__init__(
            "System.NotSupportedException", f"{what} not supported by this subset of PowerShell."
        )


class NetException:
    """The exception object that scripts see as ``$_.Exception``."""

    def __init__(
        self, type_name: str, message: str, inner: NetException | None = None, **extra: Any
    ) -> None:
        """``inner`` is the cause, as ``InnerException``."""
        self.net_name = type_name
        self.Message = message
        self.InnerException = inner
        self.HResult = -2146233087
        self.StackTrace = None
        self.Source = None
        for name, value in extra.items():
            setattr(self, name, value)

    def GetType(self) -> Any:
        """The type of the exception."""
        from .types import type_of_name

        return type_of_name(self.net_name)

    def ToString(self) -> str:
        """Type and message, as .NET writes them."""
        return f"{self.net_name}: {self.Message}"

    def GetBaseException(self) -> NetException:
        """The innermost cause."""
        return self.InnerException.GetBaseException() if self.InnerException else self


class PSError(Exception):
    """An error record on its way to a handler or to the error stream."""

    def __init__(
        self,
        message: str,
        error_id: str,
        category: str = "NotSpecified",
        target: str = "",
        *,
        target_type: str = "",
        activity: str = "",
        exception: str = "RuntimeException",
        fatal: bool = False,
        inner: NetException | None = None,
        node: Any = None,
        target_object: Any = None,
    ) -> None:
        """``exception`` may be short (of System.Management.Automation) or a full name."""
        super().__init__(message)
        self.message = message
        self.error_id = error_id
        self.category = category
        self.target = target
        self.target_type = target_type
        self.activity = activity
        full = exception if "." in exception else f"System.Management.Automation.{exception}"
        self.exception = NetException(full, message, inner)
        self.fatal = fatal
        self.node = node
        self.position: Any = None
        self.target_object = target_object
        self.thrown = False
        self.reported = False

    @property
    def exception_types(self) -> list[str]:
        """All type names that a ``catch [T]`` may name."""
        names = ancestry(self.exception.net_name)
        inner = self.exception.InnerException
        while inner is not None:
            names = ancestry(inner.net_name) + names
            inner = inner.InnerException
        return names


class ParseError(Exception):
    """A syntax error (or a refused construct) at ``start``..``end`` of the text."""

    def __init__(self, message: str, error_id: str, start: int, end: int) -> None:
        """``error_id`` is what PowerShell itself calls the error, where it has a name."""
        super().__init__(message)
        self.message = message
        self.error_id = error_id
        self.start = start
        self.end = max(end, start + 1)


class LoopExit(Exception):
    """``break`` or ``continue``, with the label it names (or '')."""

    def __init__(self, keyword: str, label: str) -> None:
        """``keyword`` is break or continue."""
        super().__init__(keyword)
        self.keyword = keyword
        self.label = label


class ReturnSignal(Exception):
    """``return``; its value was written to the output already."""


class ExitSignal(Exception):
    """``exit``."""

    def __init__(self, code: int) -> None:
        """``code`` is a 32-bit exit code."""
        super().__init__(code)
        self.code = code


class StopUpstream(Exception):
    """A pipeline element has seen enough (``Select-Object -First``)."""

    def __init__(self, owner: object) -> None:
        """``owner`` is the pipeline that ends."""
        super().__init__()
        self.owner = owner
