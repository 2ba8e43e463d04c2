"""What this subset of PowerShell has and what it refuses, as one table.

``docs/reference/powershell.md`` is generated from it. ``example`` runs as ``-Command``: a
supported row's output is ``expected``, a refused row ends in exit 1 and names what it refused.
"""

from __future__ import annotations

from typing import NamedTuple

from .cmdlets.table import REFUSED_NAMES, ROWS
from .parser import STATEMENTS
from .types import TYPES


class Construct(NamedTuple):
    """One row of the table."""

    area: str
    name: str
    example: str
    expected: str
    refused: bool = False


def _yes(area: str, name: str, example: str, expected: str) -> Construct:
    return Construct(area, name, example, expected)


def _no(
    area: str, name: str, example: str, expected: str = "not supported by this subset"
) -> Construct:
    return Construct(area, name, example, expected, True)


CONSTRUCTS: tuple[Construct, ...] = (
    _yes("Text", "line comment", "1 # one", "1"),
    _yes("Text", "block comment", "<# a\nb #> 2", "2"),
    _yes("Text", "literal string", "'a''b $x'", "a'b $x"),
    _yes("Text", "expandable string", "$x = 3; \"x=$x $($x + 1) ${x}y `$x\"", "x=3 4 3y $x"),
    _yes("Text", "literal here-string", "@'\na $b\n'@", "a $b"),
    _yes("Text", "expandable here-string", "$b = 1\n@\"\na $b\n\"@", "a 1"),
    _yes("Text", "numbers with suffixes", "1kb; 0x10; 1.5; 1e3", "1024\n16\n1.5\n1000"),
    _yes("Text", "backtick at a line's end", "1 + `\n2", "3"),
    _yes("Values", "arrays", "$a = 1, 2, 3; $a.Count; $a[-1]; @().Count", "3\n3\n0"),
    _yes("Values", "hashtables", "$h = @{a = 1; 'b' = 2}; $h.a + $h['B']; $h.Count", "3\n2"),
    _yes("Values", "[ordered] hashtables", "([ordered]@{z = 1; a = 2}).Keys", "z\na"),
    _yes("Values", "[pscustomobject]", "$o = [pscustomobject]@{n = 'x'}; $o.N", "x"),
    _yes("Values", "script blocks", "$s = { param($n) $n * 2 }; & $s 4", "8"),
    _yes("Values", "casts", "[int]'5' + 1; [string]7; [bool]0", "6\n7\nFalse"),
    _yes("Values", "typed variables", "[int]$i = '5'; $i + 1", "6"),
    _yes("Variables", "scopes", "$global:x = 1; function f { $script:x = 2 }; f; $x", "2"),
    _yes("Variables", "environment", "$env:FOO = 'bar'; \"$env:foo\"", "bar"),
    _yes("Variables", "several at once", "$a, $b = 1, 2, 3; $a; $b", "1\n2\n3"),
    _yes("Variables", "compound assignment", "$x = 1; $x += 2; $x *= 3; $x++; $x", "10"),
    _yes("Variables", "splatting", "$p = @{Seconds = 0}; Start-Sleep @p; 'ok'", "ok"),
    _yes("Variables", "automatic", "$null -eq $nothing; $true; $args.Count", "True\nTrue\n0"),
    _no("Variables", "$using: scope", "$using:x"),
    _yes("Operators", "arithmetic", "7 / 2; 7 % 4; 2 * 'ab'.Length; 1..3", "3.5\n3\n4\n1\n2\n3"),
    _yes("Operators", "comparison", "'A' -eq 'a'; 'A' -ceq 'a'; 3 -gt 2; 1,2,3 -ge 2",
         "True\nFalse\nTrue\n2\n3"),
    _yes("Operators", "-like and -match", "'abc' -like 'a*'; 'x12' -match '(\\d+)'; $Matches[1]",
         "True\nTrue\n12"),
    _yes("Operators", "-replace, -split, -join",
         "'a1b' -replace '\\d', '-'; ('a,b' -split ',') -join '+'", "a-b\na+b"),
    _yes("Operators", "-contains and -in", "1,2 -contains 2; 3 -notin 1,2", "True\nTrue"),
    _yes("Operators", "-f", "'{0:N2} {1,4}|{2:D3}' -f 1234.5, 'x', 7", "1,234.50    x|007"),
    _yes("Operators", "logic", "$true -and -not $false; !$true -or $false; 1 -xor 1",
         "True\nFalse\nFalse"),
    _yes("Operators", "bits", "6 -band 3; 6 -bor 1; 1 -shl 4; -bnot 0", "2\n7\n16\n-1"),
    _yes("Operators", "-is and -as", "1 -is [int]; '5' -as [int]", "True\n5"),
    _yes("Statements", "if", "if (0) { 1 } elseif (1) { 2 } else { 3 }", "2"),
    _yes("Statements", "while, break, continue",
         "$i = 0; while ($true) { $i++; if ($i -eq 2) { continue }; if ($i -gt 3) { break }; $i }",
         "1\n3"),
    _yes("Statements", "do while, do until", "$i = 0; do { $i++ } until ($i -ge 3); $i", "3"),
    _yes("Statements", "for", "for ($i = 0; $i -lt 2; $i++) { $i }", "0\n1"),
    _yes("Statements", "foreach", "foreach ($x in 'a', 'b') { \"<$x>\" }", "<a>\n<b>"),
    _yes("Statements", "labels",
         ":o foreach ($a in 1, 2) { foreach ($b in 1, 2) { continue o }; 9 }; 'end'",
         "end"),
    _yes("Statements", "switch",
         "switch (2) { 1 { 'one' } { $_ -gt 1 } { 'many' } default { 'none' } }",
         "many"),
    _yes("Statements", "switch -regex, -wildcard", "switch -wildcard ('abc') { 'a*' { 'yes' } }",
         "yes"),
    _no("Statements", "switch -file", "switch -file x.txt { 1 { 2 } }"),
    _yes("Statements", "try, catch, finally", "try { 1 / 0 } catch { 'caught' } finally { 'done' }",
         "caught\ndone"),
    _yes("Statements", "catch by type",
         "try { [int]::Parse('x') } catch [System.FormatException] { 'format' }", "format"),
    _yes("Statements", "throw", "try { throw 'bad' } catch { \"$_\" }", "bad"),
    _yes("Statements", "functions",
         "function add($a, $b = 2) { return $a + $b }; add 1; add 1 -b 5",
         "3\n6"),
    _yes("Statements", "param with attributes",
         "function f { [CmdletBinding()] param([Parameter(Mandatory = $true)][string]$N, "
         "[ValidateSet('a', 'b')]$K = 'a', [switch]$S) \"$N $K $S\" }; f -N x -S",
         "x a True"),
    _yes("Statements", "begin, process, end",
         "function f { begin { 'b' } process { $_ } end { 'e' } }; 1, 2 | f", "b\n1\n2\ne"),
    _yes("Statements", "filter", "filter twice { $_ * 2 }; 1, 2 | twice", "2\n4"),
    _yes("Statements", "exit", "exit 0", ""),
    _no("Statements", "trap", "trap { 1 }"),
    _no("Statements", "class", "class A { $x }"),
    _no("Statements", "enum", "enum E { A }"),
    _no("Statements", "using", "using namespace System"),
    _no("Statements", "data", "data { 1 }"),
    _no("Statements", "workflow", "workflow w { 1 }"),
    _no("Statements", "configuration", "configuration c { 1 }"),
    _no("Statements", "parallel", "parallel { 1 }"),
    _no("Statements", "sequence", "sequence { 1 }"),
    _no("Statements", "inlinescript", "inlinescript { 1 }"),
    _no("Statements", "define", "define { 1 }"),
    _no("Statements", "from", "from { 1 }"),
    _no("Statements", "var", "var { 1 }"),
    _no("Statements", "dynamicparam", "function f { dynamicparam { 1 } }"),
    _no("Statements", "foreach -parallel", "foreach -parallel ($x in 1) { $x }"),
    _no("Statements", "other parameter attributes",
        "function f { param([ValidateCount(1, 2)]$x) }"),
    _yes("Commands", "pipelines", "1..5 | Where-Object { $_ % 2 } | ForEach-Object { $_ * 10 }",
         "10\n30\n50"),
    _yes("Commands", "call and dot operators", "& { 1 }; . { $v = 5 }; $v", "1\n5"),
    _yes("Commands", "shortened parameter names", "1..3 | Select-Object -F 1", "1"),
    _yes("Commands", "redirection", "Get-Item C:\\nowhere 2>$null; 'x' > $null; 'still'", "still"),
    _yes("Commands", "2>&1", "(Get-Item C:\\nowhere 2>&1).Exception.Message",
         "Cannot find path 'C:\\nowhere' because it does not exist."),
    _no("Commands", "redirection to stderr", "'x' 1>&2"),
    _no("Commands", "stop-parsing token", "cmd --% /c ver"),
    _no("Commands", "&& and ||", "1 && 2", "not a valid statement separator in this version"),
    _no("Commands", "background &", "Get-Date &", "The ampersand (&) character is not allowed"),
    _yes("Objects", "methods and properties", "'abc'.ToUpper(); 'abc'.Length", "ABC\n3"),
    _yes("Objects", "static members", "[Math]::Max(2, 3); [string]::Join('-', 1, 2)", "3\n1-2"),
    _yes("Objects", "New-Object and ::new()",
         "(New-Object Text.StringBuilder).Append('x').ToString(); [Random]::new(1).GetType().Name",
         "x\nRandom"),
    _yes("Objects", "member enumeration", "('a', 'bcd').Length; ('a', 'bcd').ToUpper()",
         "2\nA\nBCD"),
    _yes("Objects", "calculated properties",
         "1, 2 | Select-Object @{n = 'd'; e = { $_ * 2 }} | ForEach-Object { $_.d }", "2\n4"),
    _no("Objects", "COM objects", "New-Object -ComObject WScript.Shell"),
    _no("Objects", "HttpListener https prefixes",
        "$l = New-Object System.Net.HttpListener; $l.Prefixes.Add('https://*:443/'); $l.Start()"),
    _no("Objects", "HttpListener.GetContextAsync",
        "(New-Object System.Net.HttpListener).GetContextAsync()"),
    _no("Objects", "types that cannot be made", "New-Object System.Math"),
)  # fmt: skip


def page() -> str:
    """The reference page, Markdown."""
    lines = [
        "# powershell.exe in containers",
        "",
        "<!-- generated by scripts/gen_powershell_doc.py; do not edit -->",
        "",
        "No real PowerShell can be had from package registries, so the base image carries a subset",
        "of the language, made for this project. It is not a product of Microsoft and does not",
        "report a Microsoft version: `$PSVersionTable` says `PSEdition MuntinSubset`.",
        "What it does not have it refuses by name, with exit code 1.",
        "Error records have PowerShell's shape but are not wrapped at the console's width;",
        "output is UTF-8 with `\\r\\n` line ends.",
        "",
        "## Language",
        "",
    ]
    area = ""
    for row in CONSTRUCTS:
        if row.area != area:
            area = row.area
            lines += ["", f"### {area}", "", "| construct | | example |", "|---|---|---|"]
        example = row.example.replace("|", "\\|").replace("\n", " ⏎ ")
        lines.append(f"| {row.name} | {'refused' if row.refused else 'supported'} | `{example}` |")
    lines += ["", "## Keywords", "", _keywords(), "", "## Cmdlets", ""]
    lines += ["| cmdlet | aliases | parameters |", "|---|---|---|"]
    for cmdlet in sorted(ROWS, key=lambda one: one.name):
        aliases = " ".join(f"`{one}`" for one in cmdlet.aliases.split())
        lines.append(f"| {cmdlet.name} | {aliases} | {_parameters(cmdlet.params)} |")
    lines += ["",
        "Every cmdlet also takes `-ErrorAction`, `-ErrorVariable`, `-OutVariable` and the other",
              "common parameters.", "", "## Cmdlets refused by name", "",
              ", ".join(sorted(REFUSED_NAMES)) + ".", "", "## Types", ""]  # fmt: skip
    names = [f"`{row.full}`" for row in TYPES]
    lines += ["Known to `[Name]` and `New-Object`; any other ends in `Unable to find type`.", ""]
    return "\n".join([*lines, ", ".join(names) + ".", ""])


def _keywords() -> str:
    known = sorted(word for word, method in STATEMENTS.items() if method)
    refused = sorted(word for word, method in STATEMENTS.items() if not method)
    return f"Supported: {', '.join(known)}. Refused by name: {', '.join(refused)}."


def _parameters(spec: str) -> str:
    names = [token.rstrip("?").split(":")[0].split("|")[0] for token in spec.split()]
    return " ".join(f"`-{name}`" for name in names)
