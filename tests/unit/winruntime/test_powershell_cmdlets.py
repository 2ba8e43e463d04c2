"""Cmdlets and types by their output."""
# ruff: noqa: E501 - a case is one script on one line

from __future__ import annotations

import pytest

CASES = {
    # objects
    "5, 3, 9 | Sort-Object -Descending": "9\n5\n3",
    "'b', 'A', 'c' | sort": "A\nb\nc",
    "@{n=2}, @{n=1} | Sort-Object { $_.n } | % { $_.n }": "1\n2",
    "1..10 | Select-Object -Skip 2 -First 3": "3\n4\n5",
    "1..10 | Select-Object -Last 2": "9\n10",
    "(1..4 | Measure-Object -Sum -Average).Sum": "10",
    "('a b', 'c' | Measure-Object -Word).Words": "3",
    "'x', 'y', 'x' | Group-Object | % { \"$($_.Name)=$($_.Count)\" }": "x=2\ny=1",
    "1..3 | ForEach-Object -Begin { $s = 0 } -Process { $s += $_ } -End { $s }": "6",
    "'ab', 'c' | ForEach-Object Length": "2\n1",
    "1..6 | Where-Object { $_ -gt 4 }; @{a=1}, @{a=2} | ? a -eq 2 | % { $_.a }": "5\n6\n2",
    "1, 1, 2 | Select-Object -Unique": "1\n2",
    "1 | Add-Member x y -ErrorAction Stop 2>$null; 'no'": None,
    "$o = New-Object psobject -Property @{A = 1}; $o | Add-Member B 2; $o.A + $o.B": "3",
    "$o = [pscustomobject]@{n = 2}; $o | Add-Member ScriptMethod Twice { $this.n * 2 }; $o.Twice()":
        "4",
    # output
    "[pscustomobject]@{Name = 'a'; Size = 10}, [pscustomobject]@{Name = 'bcd'; Size = 2}":
        "Name Size\n---- ----\na      10\nbcd     2",
    "[pscustomobject]@{Name = 'a'; Size = 10} | Format-List": "Name : a\nSize : 10",
    "1, 2 | Out-String": "1\n2",
    "Write-Host a b -Separator '-'; Write-Host (1, 2)": "a-b\n1 2",
    "Write-Warning w; Write-Verbose v; $VerbosePreference = 'Continue'; Write-Verbose v":
        "WARNING: w\nVERBOSE: v",
    # data
    "@{a = 1; b = @('x', $null, $true)} | ConvertTo-Json -Compress": '{"a":1,"b":["x",null,true]}',
    "@{a = @{b = 1}} | ConvertTo-Json": '{\n    "a":  {\n              "b":  1\n          }\n}',
    "('{\"x\": [1, {\"y\": 2}]}' | ConvertFrom-Json).x[1].y": "2",
    "'a,b', '1,2' | ConvertFrom-Csv | % { $_.b }": "2",
    "'one', 'two' | Select-String '^t'": "two",
    # dates
    "(Get-Date '2024-02-29 13:05:09').ToString('yyyy/MM/dd hh:mm:ss tt')": "2024/02/29 01:05:09 PM",
    "Get-Date 2024-01-31 -Format 'ddd d MMM yyyy'": "Wed 31 Jan 2024",
    "(Get-Date 2024-01-31).AddMonths(1).Day": "29",
    "((Get-Date 2024-01-02) - (Get-Date 2024-01-01)).TotalHours": "24",
    "[timespan]'01:30:00' | % TotalMinutes; (New-TimeSpan -Minutes 90).ToString()": "90\n01:30:00",
    "[datetime]::ParseExact": "",
    # types
    "[Math]::Round(2.5); [Math]::Round(3.14159, 2); [Math]::Floor(-1.5); [Math]::Pow(2, 10)":
        "2\n3.14\n-2\n1024",
    "[Convert]::ToString(10, 2); [Convert]::ToInt32('ff', 16)": "1010\n255",
    "[Text.Encoding]::UTF8.GetString([Text.Encoding]::UTF8.GetBytes('hé'))": "hé",
    "[Convert]::ToBase64String([byte[]](1, 2, 3))": "AQID",
    "[Environment]::MachineName -eq $env:COMPUTERNAME; [Environment]::UserName":
        "True\nContainerAdministrator",
    "[string]::IsNullOrEmpty(''); 'a-b'.Split('-')[1]; 'abc'.Substring(1, 1); 'x'.PadLeft(3, '.')":
        "True\nb\nb\n..x",
    "$l = New-Object System.Collections.ArrayList; [void]$l.Add(5); $l.Add(6) | Out-Null; $l.Count":
        "2",
    "$d = New-Object 'System.Collections.Generic.Dictionary[string,int]'; $d['a'] = 1; $d.ContainsKey('A')":
        "False",
    "$q = New-Object System.Collections.Queue; $q.Enqueue(1); $q.Enqueue(2); $q.Dequeue(); $q.Count":
        "1\n1",
    "([regex]'(?<n>\\d+)').Match('a12').Groups['n'].Value; [regex]::Replace('aXb', 'x', '-')":
        "12\naXb",
    "([uri]'http://h:81/a/b?c=1').Port; ([uri]'http://h/a%20b').LocalPath": "81\n/a b",
    "([ipaddress]'10.0.0.1').AddressFamily; [version]'1.10' -gt [version]'1.9'": "InterNetwork\nTrue",
    "(1).GetType().Name; 'a'.GetType().FullName; @().GetType().Name; 1.5.GetType().Name":
        "Int32\nSystem.String\nObject[]\nDouble",
    "[Console]::WriteLine('{0}-{1}', 1, 2); [Console]::Out.Write('x')": "1-2\nx",
    "[int]'2.5'; [int]3.5; [int]::MaxValue; 1.0; 1e20; 0.1 + 0.2": "2\n4\n2147483647\n1\n1E+20\n0.3",
    "$h = @{}; $h['x']++; $h.x += 4; $h.x; $h.Keys.Count": "5\n1",
    "$s = New-Object IO.StreamReader([IO.MemoryStream]::new([byte[]](97, 98))); $s.ReadToEnd()": "ab",
    # the session
    "Set-Alias say Write-Output; say hi": "hi",
    "Invoke-Expression '1 + 1'": "2",
    "(Get-Command Get-Date).Name; Get-Command nosuch -EA SilentlyContinue": "Get-Date",
    "Set-Variable v 3; Get-Variable v -ValueOnly": "3",
    "function f { $args[1] }; f a b; & { param($x, $y = 2) $x + $y } 5": "b\n7",
    "$x = 5; & { $x = 6 }; $x; . { $x = 7 }; $x": "5\n7",
    "function f([switch]$On, [int]$N) { \"$On $N\" }; f -On:$false 3; f 4 -On": "False 3\nTrue 4",
}  # fmt: skip
FILES = {
    "Set-Content C:\\data\\a.txt 'one', 'two'; Add-Content c:\\DATA\\A.TXT three; "
    "(Get-Content C:\\data\\a.txt).Count; Get-Content C:\\data\\a.txt -Tail 1": "3\nthree",
    "'x' | Out-File C:\\data\\b.txt -Encoding ascii; Test-Path C:\\Data\\B.txt; "
    "Test-Path C:\\nope": "True\nFalse",
    "New-Item -ItemType Directory C:\\data\\d | Out-Null; 'q' > C:\\data\\d\\e.txt; "
    "Get-ChildItem C:\\data -Recurse -Name": "d\ne.txt",
    "Set-Location C:\\data; 'z' | Set-Content r.txt; (Get-Item .\\r.txt).FullName; $pwd.Path":
        "C:\\data\\r.txt\nC:\\data",
    "'z' | Set-Content C:\\data\\r.txt; Copy-Item C:\\data\\r.txt C:\\data\\s.txt; "
    "Remove-Item C:\\data\\r.txt; (Get-ChildItem C:\\data\\*.txt).Name": "s.txt",
    "[IO.File]::WriteAllText('C:\\data\\t', 'abc'); (Get-Item C:\\data\\t).Length; "
    "[IO.Path]::GetExtension('a.b.c')": "3\n.c",
    "Join-Path C:\\a b; Split-Path C:\\a\\b; Split-Path C:\\a\\b -Leaf": "C:\\a\\b\nC:\\a\nb",
    "'1' | Set-Content C:\\data\\n.ps1; 'param($p) \"got $p\"' | Set-Content C:\\data\\n.ps1; "
    "& C:\\data\\n.ps1 5": "got 5",
    "Set-Content C:\\data\\h 'abc' -NoNewline; (Get-FileHash C:\\data\\h -Algorithm MD5).Hash":
        "900150983CD24FB0D6963F7D28E17F72",
}  # fmt: skip


@pytest.mark.parametrize("script", [*CASES, *FILES])
def test_output(powershell, script: str):
    result = powershell(script)
    wanted = {**CASES, **FILES}[script]
    if wanted is None:
        assert result.code == 1
        return
    assert result.err == ""
    lines = [line.rstrip() for line in result.out.strip("\n").split("\n")]
    assert "\n".join(lines) == wanted


def test_first_stops_what_feeds_it(powershell):
    script = "function count { $i = 0; while ($true) { $i++; $i } }; count | Select-Object -First 2"
    assert powershell(script).out == "1\n2\n"


def test_output_is_written_as_it_comes(powershell):
    script = '1..2 | % { Write-Host "h$_"; Write-Output "o$_" }'
    assert powershell(script).out == "h1\no1\nh2\no2\n"


def test_adapters_have_a_link_local_address_first(powershell):
    script = (
        "$ip = (Get-NetAdapter | Get-NetIPAddress); $ip[0].IPAddress; "
        "(Get-NetAdapter)[0].Name; ($ip | ? AddressFamily -eq IPv4).Count -ge 1"
    )
    lines = powershell(script).out.split("\n")
    assert lines[0].startswith("fe80:")
    assert "%" in lines[0]
    assert lines[1:3] == ["vEthernet (Ethernet)", "True"]
