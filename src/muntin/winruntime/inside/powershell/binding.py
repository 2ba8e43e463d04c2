"""Arguments to parameters: names may be cut short, positions fill what names left over."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import types
from . import values as v
from .errors import NetError, PSError

COMMON = (
    "ErrorAction|EA:string ErrorVariable|EV:string WarningAction|WA:string Verbose? Debug? "
    "OutVariable|OV:string InformationAction:string WarningVariable:string"
)


class Param(NamedTuple):
    """One parameter of a cmdlet."""

    name: str
    aliases: tuple[str, ...]
    kind: str
    position: int | None
    mandatory: bool
    rest: bool
    pipeline: bool


class Arg(NamedTuple):
    """One argument after evaluation; ``name`` None where it was given by position."""

    name: str | None
    value: Any
    has_value: bool
    text: str


_parsed: dict[str, tuple[Param, ...]] = {}


def params_of(spec: str) -> tuple[Param, ...]:
    """The parameters that a spec such as ``Path|PSPath:string[]:0! Raw?`` describes.

    Flags after the second colon: a digit is the position, ``!`` mandatory, ``*`` takes the
    remaining arguments, ``<`` takes pipeline input when not given.
    """
    found = _parsed.get(spec)
    if found is None:
        found = tuple(_param(token) for token in f"{spec} {COMMON}".split())
        _parsed[spec] = found
    return found


def _param(token: str) -> Param:
    if token.endswith("?"):
        names = token[:-1].split("|")
        return Param(
            names[0], tuple(a.lower() for a in names[1:]), "switch", None, False, False, False
        )
    head, _, tail = token.partition(":")
    kind, _, flags = tail.partition(":")
    names = head.split("|")
    digits = [int(c) for c in flags if c.isdigit()]
    return Param(
        names[0], tuple(a.lower() for a in names[1:]), kind or "object",
        digits[0] if digits else None, "!" in flags, "*" in flags, "<" in flags,
    )  # fmt: skip


def find_param(params: tuple[Param, ...], name: str, command: str) -> Param:
    """The parameter that a (shortened) name means.

    Raises:
        PSError: none, or more than one.
    """
    lower = name.lower()
    for param in params:
        if param.name.lower() == lower or lower in param.aliases:
            return param
    starts = [param for param in params if param.name.lower().startswith(lower)]
    if len(starts) == 1:
        return starts[0]
    if starts:
        listing = " ".join(f"-{param.name}" for param in starts)
        raise _binding_error(
            f"Parameter cannot be processed because the parameter name '{name}' is ambiguous. "
            f"Possible matches include: {listing}.",
            "AmbiguousParameter",
            command,
        )
    raise _binding_error(
        f"A parameter cannot be found that matches parameter name '{name}'.",
        "NamedParameterNotFound",
        command,
    )


def bind(command: str, spec: str, args: list[Arg], *, has_input: bool) -> dict[str, Any]:
    """Parameter names (lower case) to values.

    Raises:
        PSError: an argument fits nowhere, cannot be converted, or a mandatory one is missing.
    """
    params = params_of(spec)
    bound: dict[str, Any] = {}
    loose: list[Any] = []
    pending = list(args)
    while pending:
        arg = pending.pop(0)
        if arg.name is None:
            loose.append(arg.value)
            continue
        param = find_param(params, arg.name, command)
        if param.name.lower() in bound:
            raise _binding_error(
                f"Cannot bind parameter because parameter '{param.name}' is specified more than "
                "once.",
                "ParameterAlreadyBound",
                command,
            )
        if param.kind == "switch":
            bound[param.name.lower()] = v.truth(arg.value) if arg.has_value else True
            continue
        if not arg.has_value:
            if not pending or pending[0].name is not None:
                raise _binding_error(
                    f"Missing an argument for parameter '{param.name}'. Specify a parameter of "
                    f"type '{_shown_type(param.kind)}' and try again.",
                    "MissingArgument",
                    command,
                )
            arg = pending.pop(0)
        bound[param.name.lower()] = convert(param, arg.value, command)
    _by_position(command, params, loose, bound)
    _check_mandatory(command, params, bound, has_input)
    return bound


def _by_position(
    command: str, params: tuple[Param, ...], loose: list[Any], bound: dict[str, Any]
) -> None:
    ordered = sorted(
        (p for p in params if p.position is not None and p.name.lower() not in bound),
        key=lambda p: p.position or 0,
    )
    for param in ordered:
        if not loose:
            return
        if param.rest:
            bound[param.name.lower()] = loose[0] if len(loose) == 1 else list(loose)
            return
        bound[param.name.lower()] = convert(param, loose.pop(0), command)
    if loose:
        raise _binding_error(
            "A positional parameter cannot be found that accepts argument "
            f"'{v.to_text(loose[0])}'.",
            "PositionalParameterNotFound",
            command,
        )


def _check_mandatory(
    command: str, params: tuple[Param, ...], bound: dict[str, Any], has_input: bool
) -> None:
    missing = [
        param.name
        for param in params
        if param.mandatory
        and param.name.lower() not in bound
        and not (param.pipeline and has_input)
    ]
    if missing:
        raise _binding_error(
            "Cannot process command because of one or more missing mandatory parameters: "
            f"{' '.join(missing)}.",
            "MissingMandatoryParameter",
            command,
        )


def convert(param: Param, value: Any, command: str) -> Any:
    """``value`` as the parameter's kind."""
    kind = param.kind
    try:
        if kind == "string":
            return v.to_text(value)
        if kind == "string[]":
            return [v.to_text(item) for item in v.listed(value)]
        if kind == "int":
            return v.to_int(value)
        if kind == "long":
            return v.to_int(value, *v.INT64, "Int64")
        if kind == "double":
            return float(v.to_number(value, "Double"))
        if kind == "object[]":
            return list(v.listed_bytes(value))
        if kind in ("datetime", "timespan", "uri"):
            return types.cast(value, types.get(kind))
    except (PSError, NetError) as err:
        raise PSError(
            f"Cannot bind parameter '{param.name}'. {err.message}",
            "CannotConvertArgumentNoMessage",
            "InvalidArgument",
            activity=command,
            exception="ParameterBindingException",
        ) from err
    if kind == "script" and not isinstance(value, v.ScriptBlock):
        raise PSError(
            f"Cannot bind parameter '{param.name}'. Cannot convert the \"{v.to_text(value)}\" "
            f'value of type "{v.type_name(value)}" to type '
            '"System.Management.Automation.ScriptBlock".',
            "CannotConvertArgumentNoMessage",
            "InvalidArgument",
            activity=command,
            exception="ParameterBindingException",
        )
    return value


def qualified(error_id: str, command: str) -> str:
    """The error's id with the class of the cmdlet, as PowerShell qualifies it."""
    if "," in error_id:
        return error_id
    verb, dash, noun = command.partition("-")
    if not dash or noun.startswith(("Net", "Dns")):
        return f"{error_id},{command}"
    return f"{error_id},Microsoft.PowerShell.Commands.{verb}{noun}Command"


def _shown_type(kind: str) -> str:
    names = {
        "int": "System.Int32", "long": "System.Int64", "double": "System.Double",
        "object": "System.Object", "object[]": "System.Object[]", "string[]": "System.String[]",
        "script": "System.Management.Automation.ScriptBlock",
    }  # fmt: skip
    return names.get(kind, "System.String")


def _binding_error(message: str, error_id: str, command: str) -> PSError:
    return PSError(
        message, qualified(error_id, command), "InvalidArgument", activity=command,
        exception="ParameterBindingException",
    )  # fmt: skip
