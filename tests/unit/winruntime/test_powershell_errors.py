"""Error records: their text in full, and what they do to a script and its exit code."""

from __future__ import annotations

import errno

import pytest

from muntin.winruntime.inside.powershell.cmdlets.files import io_error

GOLDEN = {
    "Get-Foo": (
        "Get-Foo : The term 'Get-Foo' is not recognized as the name of a cmdlet, function, script "
        "file, or operable program. Check the spelling of the name, or if a path was included, "
        "verify that the path is correct and try again.\n"
        "At line:1 char:1\n+ Get-Foo\n+ ~~~~~~~\n"
        "    + CategoryInfo          : ObjectNotFound: (Get-Foo:String) [], "
        "CommandNotFoundException\n"
        "    + FullyQualifiedErrorId : CommandNotFoundException\n \n"
    ),
    "throw 'boom'": (
        "boom\nAt line:1 char:1\n+ throw 'boom'\n+ ~~~~~~~~~~~~\n"
        "    + CategoryInfo          : OperationStopped: (boom:String) [], RuntimeException\n"
        "    + FullyQualifiedErrorId : boom\n \n"
    ),
    "1 / 0": (
        "Attempted to divide by zero.\nAt line:1 char:1\n+ 1 / 0\n+ ~~~~~\n"
        "    + CategoryInfo          : NotSpecified: (:) [], RuntimeException\n"
        "    + FullyQualifiedErrorId : RuntimeException\n \n"
    ),
    "$x.Foo()": (
        "You cannot call a method on a null-valued expression.\n"
        "At line:1 char:1\n+ $x.Foo()\n+ ~~~~~~~~\n"
        "    + CategoryInfo          : InvalidOperation: (:) [], RuntimeException\n"
        "    + FullyQualifiedErrorId : InvokeMethodOnNull\n \n"
    ),
    "'a'.Foo()": (
        "Method invocation failed because [System.String] does not contain a method named 'Foo'.\n"
        "At line:1 char:1\n+ 'a'.Foo()\n+ ~~~~~~~~~\n"
        "    + CategoryInfo          : InvalidOperation: (Foo:String) [], RuntimeException\n"
        "    + FullyQualifiedErrorId : MethodNotFound\n \n"
    ),
    "Get-Content C:\\no.txt": (
        "Get-Content : Cannot find path 'C:\\no.txt' because it does not exist.\n"
        "At line:1 char:1\n+ Get-Content C:\\no.txt\n+ ~~~~~~~~~~~~~~~~~~~~~\n"
        "    + CategoryInfo          : ObjectNotFound: (C:\\no.txt:String) [Get-Content], "
        "ItemNotFoundException\n"
        "    + FullyQualifiedErrorId : PathNotFound,"
        "Microsoft.PowerShell.Commands.GetContentCommand\n \n"
    ),
    "[int]'abc'": (
        'Cannot convert value "abc" to type "System.Int32". Error: "Input string was not in a '
        "correct format.\"\nAt line:1 char:1\n+ [int]'abc'\n+ ~~~~~~~~~~\n"
        "    + CategoryInfo          : InvalidArgument: (:) [], RuntimeException\n"
        "    + FullyQualifiedErrorId : InvalidCastFromStringToInteger\n \n"
    ),
    "Start-Sleep -Foo 1": (
        "Start-Sleep : A parameter cannot be found that matches parameter name 'Foo'.\n"
        "At line:1 char:1\n+ Start-Sleep -Foo 1\n+ ~~~~~~~~~~~~~~~~~~\n"
        "    + CategoryInfo          : InvalidArgument: (:) [Start-Sleep], "
        "ParameterBindingException\n"
        "    + FullyQualifiedErrorId : NamedParameterNotFound,"
        "Microsoft.PowerShell.Commands.StartSleepCommand\n \n"
    ),
    "if ($a) { 1": (
        "At line:1 char:9\n+ if ($a) { 1\n+         ~\n"
        "Missing closing '}' in statement block or type definition.\n"
        "    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException\n"
        "    + FullyQualifiedErrorId : MissingEndCurlyBrace\n \n"
    ),
    "'abc": (
        "At line:1 char:1\n+ 'abc\n+ ~~~~\nThe string is missing the terminator: '.\n"
        "    + CategoryInfo          : ParserError: (:) [], ParentContainsErrorRecordException\n"
        "    + FullyQualifiedErrorId : TerminatorExpectedAtEndOfString\n \n"
    ),
}


@pytest.mark.parametrize("script", GOLDEN)
def test_record_text(powershell, script: str):
    result = powershell(script)
    assert result.err == GOLDEN[script]
    assert result.code == 1
    assert result.out == ""


def test_second_line_and_column(powershell):
    result = powershell("1\n  Get-Bar  # here")
    assert "At line:2 char:3\n+   Get-Bar  # here\n+   ~~~~~~~\n" in result.err


def test_long_line_is_cut_around_the_error(powershell):
    result = powershell("'" + "x" * 80 + "'; Get-Bar; '" + "y" * 80 + "'")
    line = next(one for one in result.err.split("\n") if one.startswith("+ ..."))
    assert line.endswith("...")
    assert "Get-Bar" in line
    assert len(line) < 80


@pytest.mark.parametrize(
    ("script", "code", "out"),
    [
        ("Get-Foo; 'next'", 0, "next\n"),
        ("'next'; Get-Foo", 1, "next\n"),
        ("throw 'x'; 'next'", 1, ""),
        ("$ErrorActionPreference = 'Stop'; Get-Foo; 'next'", 1, ""),
        ("Get-Item C:\\no -ErrorAction Stop; 'next'", 1, ""),
        ("Get-Item C:\\no -EA SilentlyContinue; 'next'", 0, "next\n"),
        ("try { Get-Item C:\\no -EA Stop } catch { $_.Exception.Message }", 0,
         "Cannot find path 'C:\\no' because it does not exist.\n"),
        ("try { Get-Foo } catch [Management.Automation.CommandNotFoundException] { 'nf' }", 0,
         "nf\n"),
        ("function f { exit 5 }; f; 'next'", 5, ""),
        ("exit 'x'", 0, ""),
        ("Get-Foo 2>$null; $Error.Count; $Error[0].CategoryInfo.Category", 0,
         "1\nObjectNotFound\n"),
        ("try { throw 'a' } catch { throw } finally { 'f' }", 1, "f\n"),
        ("1/0; $?", 0, "False\n"),
        ("Write-Error 'bad'; 'next'", 0, "next\n"),
        ("function f { f }; f", 1, ""),
    ],
)  # fmt: skip
def test_flow(powershell, script: str, code: int, out: str):
    result = powershell(script)
    assert (result.code, result.out) == (code, out)


def test_native_exit_codes(powershell):
    result = powershell(
        "tool.exe -x=1 a,b 'c d'; $LASTEXITCODE", programs={"tool.exe": (-5, b"hi\n")}
    )
    assert result.host.runs == [("C:\\tools\\tool.exe", ["-x=1", "a,b", "c d"])]
    assert result.out == "hi\n-5\n"
    assert result.code == 0
    assert powershell("tool.exe", programs={"tool.exe": (3, b"")}).code == 1
    assert (
        powershell("$x = tool.exe; $x[1]", programs={"tool.exe": (0, b"a\r\nb\r\n")}).out == "b\n"
    )


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_files_that_may_not_be_written_are_denied(number):
    problem = io_error(OSError(number, "x"), "C:\\data\\a")
    assert problem.message == "Access to the path 'C:\\data\\a' is denied."
    assert problem.type_name == "System.UnauthorizedAccessException"


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("Remove-Item C:\\data\\ro\\fscaps", "C:\\data\\ro\\fscaps"),
        ("Rename-Item C:\\data\\ro\\fscaps b", "C:\\data\\ro\\fscaps"),
        ("New-Item -ItemType Directory C:\\data\\ro\\new", "C:\\data\\ro\\new"),
        ("New-Item C:\\data\\ro\\new", "C:\\data\\ro\\new"),
    ],
)
def test_cmdlets_say_that_access_is_denied(powershell, drive_c, script, path):
    (drive_c / "data/ro").symlink_to("/sys/kernel")  # a folder that even root cannot change
    result = powershell(f"try {{ {script} }} catch {{ $_.Exception.Message }}; 'on'")
    assert result.out == f"Access to the path '{path}' is denied.\non\n"


def test_what_is_assigned_to_null_is_thrown_away(powershell):
    result = powershell("$null = 1; $null = Get-ChildItem C:\\data; [string]::IsNullOrEmpty($null)")
    assert (result.out, result.err) == ("True\n", "")
