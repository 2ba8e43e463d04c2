"""Which cmdlets there are, with their parameters, and which are refused by name.

``style`` is ``each`` (called for every input, or once without any) or ``all`` (called once with
all input). The parameter notation is ``binding.params_of``'s.
"""

from __future__ import annotations

from typing import NamedTuple


class Cmdlet(NamedTuple):
    """One cmdlet: where its code is, its parameters, how it takes input, its aliases."""

    name: str
    module: str
    params: str
    style: str = "each"
    aliases: str = ""

    @property
    def function(self) -> str:
        """The function of the module that runs it."""
        return self.name.lower().replace("-", "_")


ROWS: tuple[Cmdlet, ...] = (
    # objects in a pipeline
    Cmdlet("ForEach-Object", "objects", "Process|MemberName:object[]:0! Begin:script End:script "
           "ArgumentList:object[]:1 InputObject", aliases="% foreach"),
    Cmdlet("Where-Object", "objects", "FilterScript|Property:object:0! Value:object:1 EQ|CEQ? NE? "
           "GT? GE? LT? LE? Like? NotLike? Match? NotMatch? Contains? In? Not?", aliases="? where"),
    Cmdlet("Select-Object", "objects", "Property:object[]:0 First:int Last:int Skip:int Unique? "
           "ExpandProperty:string ExcludeProperty:string[] Index:object[]", aliases="select"),
    Cmdlet("Sort-Object", "objects", "Property:object[]:0 Descending? Unique? CaseSensitive?",
           "all", "sort"),
    Cmdlet("Group-Object", "objects", "Property:object[]:0 NoElement? AsHashTable? AsString?",
           "all", "group"),
    Cmdlet("Measure-Object", "objects", "Property:string:0 Sum? Average? Maximum? Minimum? Line? "
           "Word? Character?", "all", "measure"),
    Cmdlet("Tee-Object", "objects", "FilePath:string:0 Variable:string Append?", "all", "tee"),
    Cmdlet("Compare-Object", "objects", "ReferenceObject:object[]:0! DifferenceObject:object[]:1! "
           "IncludeEqual? ExcludeDifferent?", aliases="compare diff"),
    Cmdlet("Get-Member", "objects", "Name:string:0 MemberType:string", "all", "gm"),
    Cmdlet("New-Object", "objects", "TypeName:string:0 ArgumentList|Args:object[]:1 "
           "Property:object ComObject:string"),
    Cmdlet("Add-Member", "objects", "MemberType|Type:string:0 Name:string:1 Value:object:2 "
           "NotePropertyName:string NotePropertyValue:object PassThru? Force? InputObject"),
    Cmdlet("Get-Random", "objects", "Maximum:object:0 Minimum:object InputObject:object[]:1 "
           "Count:int SetSeed:int", "all"),
    Cmdlet("Get-Unique", "objects", "AsString?", "all", "gu"),
    # output
    Cmdlet("Write-Output", "output", "InputObject:object:0*< NoEnumerate?", aliases="echo write"),
    Cmdlet("Write-Host", "output", "Object:object:0*< NoNewline? Separator:object "
           "ForegroundColor:string BackgroundColor:string"),
    Cmdlet("Write-Error", "output", "Message|Exception:object:0< Category:string ErrorId:string "
           "TargetObject:object"),
    Cmdlet("Write-Warning", "output", "Message:string:0<"),
    Cmdlet("Write-Verbose", "output", "Message:string:0<"),
    Cmdlet("Write-Debug", "output", "Message:string:0<"),
    Cmdlet("Write-Information", "output", "MessageData:object:0< Tags:string[]:1"),
    Cmdlet("Write-Progress", "output", "Activity:string:0 Status:string:1 Id:int:2 "
           "PercentComplete:int SecondsRemaining:int CurrentOperation:string ParentId:int "
           "Completed?"),
    Cmdlet("Out-Null", "output", "InputObject"),
    Cmdlet("Out-Host", "output", "InputObject Paging?", "all", "oh"),
    Cmdlet("Out-Default", "output", "InputObject", "all"),
    Cmdlet("Out-String", "output", "Width:int Stream? InputObject", "all"),
    Cmdlet("Out-File", "output", "FilePath|Path:string:0! Encoding:string:1 Append? Force? "
           "NoNewline? NoClobber? Width:int InputObject", "all"),
    Cmdlet("Format-Table", "output", "Property:object[]:0 AutoSize? Wrap? HideTableHeaders?",
           "all", "ft"),
    Cmdlet("Format-List", "output", "Property:object[]:0 Force?", "all", "fl"),
    Cmdlet("Format-Wide", "output", "Property:object:0 Column:int AutoSize?", "all", "fw"),
    Cmdlet("Read-Host", "output", "Prompt:object:0 AsSecureString?"),
    Cmdlet("Clear-Host", "output", "", aliases="cls clear"),
    # text and data
    Cmdlet("ConvertTo-Json", "data", "InputObject:object:0 Depth:int Compress?", "all"),
    Cmdlet("ConvertFrom-Json", "data", "InputObject:object:0", "all"),
    Cmdlet("ConvertTo-Csv", "data", "InputObject Delimiter:string NoTypeInformation?", "all"),
    Cmdlet("ConvertFrom-Csv", "data", "InputObject:object[]:0 Delimiter:string Header:string[]",
           "all"),
    Cmdlet("Select-String", "data", "Pattern:string[]:0! Path:string[]:1 SimpleMatch? "
           "CaseSensitive? Quiet? NotMatch? AllMatches?", "all", "sls"),
    Cmdlet("ConvertFrom-StringData", "data", "StringData:string:0<"),
    # files
    Cmdlet("Get-Content", "files", "Path|PSPath|LiteralPath:string[]:0!< Raw? "
           "TotalCount|First|Head:int Tail|Last:int Encoding:string Wait? ReadCount:long "
           "Delimiter:string",
           aliases="gc cat type"),
    Cmdlet("Set-Content", "files", "Path|LiteralPath:string:0! Value:object[]:1 Encoding:string "
           "NoNewline? Force?", "all", "sc"),
    Cmdlet("Add-Content", "files", "Path|LiteralPath:string:0! Value:object[]:1 Encoding:string "
           "NoNewline? Force?", "all", "ac"),
    Cmdlet("Clear-Content", "files", "Path:string[]:0! Force?", aliases="clc"),
    Cmdlet("Test-Path", "files", "Path|LiteralPath:string[]:0!< PathType|Type:string IsValid?"),
    Cmdlet("New-Item", "files", "Path:string:0 Name:string ItemType|Type:string Value:object "
           "Force?", aliases="ni"),
    Cmdlet("Remove-Item", "files", "Path|LiteralPath|PSPath:string[]:0!< Recurse? Force? "
           "Include:string[] Exclude:string[] Confirm? Filter:string",
           aliases="ri rm del erase rd rmdir"),
    Cmdlet("Get-ChildItem", "files", "Path|LiteralPath:string[]:0 Filter:string:1 Recurse|S? "
           "File|AF? Directory|AD? Name? Force? Include:string[] Exclude:string[] Depth:int "
           "Hidden?",
           aliases="gci ls dir"),
    Cmdlet("Get-Acl", "security", "Path|LiteralPath|PSPath:string[]:0<"),
    Cmdlet("Get-Item", "files", "Path|LiteralPath|PSPath:string[]:0!< Force?", aliases="gi"),
    Cmdlet("Copy-Item", "files", "Path|LiteralPath:string[]:0!< Destination:string:1 Recurse? "
           "Force? PassThru?", aliases="copy cp cpi"),
    Cmdlet("Move-Item", "files", "Path|LiteralPath:string[]:0!< Destination:string:1 Force? "
           "PassThru?", aliases="move mv mi"),
    Cmdlet("Rename-Item", "files", "Path:string:0! NewName:string:1! Force? PassThru?",
           aliases="ren rni"),
    Cmdlet("Get-Location", "files", "", aliases="gl pwd"),
    Cmdlet("Set-Location", "files", "Path|LiteralPath:string:0 PassThru?", aliases="cd chdir sl"),
    Cmdlet("Push-Location", "files", "Path:string:0", aliases="pushd"),
    Cmdlet("Pop-Location", "files", "", aliases="popd"),
    Cmdlet("Join-Path", "files", "Path:string[]:0! ChildPath:string:1! Resolve?"),
    Cmdlet("Split-Path", "files", "Path:string[]:0!< Parent? Leaf? Qualifier? NoQualifier? "
           "IsAbsolute?"),
    Cmdlet("Resolve-Path", "files", "Path:string[]:0!<", aliases="rvpa"),
    Cmdlet("Get-FileHash", "files", "Path:string[]:0!< Algorithm:string"),
    # the session
    Cmdlet("Get-Date", "session", "Date:datetime:0 Format:string UFormat:string Year:int Month:int "
           "Day:int Hour:int Minute:int Second:int"),
    Cmdlet("Start-Sleep", "session", "Seconds:double:0 Milliseconds|ms:int", aliases="sleep"),
    Cmdlet("New-TimeSpan", "session", "Start:datetime:0 End:datetime:1 Days:int Hours:int "
           "Minutes:int Seconds:int"),
    Cmdlet("Get-Variable", "session", "Name:string:0 ValueOnly? Scope:string", aliases="gv"),
    Cmdlet("Set-Variable", "session", "Name:string:0! Value:object:1 Scope:string Force? "
           "Option:string", aliases="sv set"),
    Cmdlet("New-Variable", "session", "Name:string:0! Value:object:1 Scope:string Force? "
           "Option:string", aliases="nv"),
    Cmdlet("Remove-Variable", "session", "Name:string[]:0! Force?", aliases="rv"),
    Cmdlet("Get-Command", "session", "Name:string[]:0 CommandType|Type:string All?",
           aliases="gcm"),
    Cmdlet("Set-Alias", "session", "Name:string:0! Value:string:1! Force? Scope:string "
           "Option:string",
           aliases="sal"),
    Cmdlet("New-Alias", "session", "Name:string:0! Value:string:1! Force? Scope:string "
           "Option:string",
           aliases="nal"),
    Cmdlet("Get-Alias", "session", "Name:string:0", aliases="gal"),
    Cmdlet("Invoke-Expression", "session", "Command:string:0!<", aliases="iex"),
    Cmdlet("Measure-Command", "session", "Expression:script:0!"),
    Cmdlet("Get-Host", "session", ""),
    Cmdlet("Get-Culture", "session", ""),
    Cmdlet("New-Guid", "session", ""),
    Cmdlet("Get-ExecutionPolicy", "session", "Scope:string:0"),
    Cmdlet("Set-ExecutionPolicy", "session", "ExecutionPolicy:string:0! Scope:string:1 Force?"),
    # processes
    Cmdlet("Get-Process", "processes", "Name|ProcessName:string[]:0 Id|PID:int",
           aliases="gps ps"),
    Cmdlet("Stop-Process", "processes", "Id:object[]:0 Name:string[] Force? PassThru?",
           aliases="kill spps"),
    Cmdlet("Start-Process", "processes", "FilePath:string:0! ArgumentList|Args:string[]:1 Wait? "
           "NoNewWindow? PassThru? WindowStyle:string WorkingDirectory:string", aliases="start "
           "saps"),
    # jobs
    Cmdlet("Start-Job", "jobs", "ScriptBlock|Command:script:0 Name:string "
           "FilePath|LiteralPath:string ArgumentList|Args:object[] "
           "InitializationScript:script:1", aliases="sajb"),
    Cmdlet("Get-Job", "jobs", "Id:object[]:0 Name:string[] State:string[]", aliases="gjb"),
    Cmdlet("Wait-Job", "jobs", "Job:object[]:0 Id:object[] Name:string[] Any? "
           "Timeout|TimeoutSec:int", "all", "wjb"),
    Cmdlet("Receive-Job", "jobs", "Job:object[]:0 Id:object[] Name:string[] Keep? Wait? "
           "AutoRemoveJob?", "all", "rcjb"),
    Cmdlet("Stop-Job", "jobs", "Job:object[]:0 Id:object[] Name:string[] PassThru?", "all",
           "spjb"),
    Cmdlet("Remove-Job", "jobs", "Job:object[]:0 Id:object[] Name:string[] Force|F?", "all",
           "rjb"),
    # network
    Cmdlet("Get-NetAdapter", "network", "Name:string[]:0 InterfaceIndex|ifIndex:int Physical?"),
    Cmdlet("Get-NetIPAddress", "network", "IPAddress:string[]:0 InterfaceIndex|ifIndex:int "
           "InterfaceAlias:string AddressFamily:string"),
    Cmdlet("Get-NetIPConfiguration", "network", "InterfaceIndex:int All? Detailed?",
           aliases="gip"),
    Cmdlet("Get-NetRoute", "network", "DestinationPrefix:string:0 InterfaceIndex|ifIndex:int "
           "AddressFamily:string"),
    Cmdlet("Get-DnsClientServerAddress", "network", "InterfaceIndex:int InterfaceAlias:string "
           "AddressFamily:string"),
    Cmdlet("Test-NetConnection", "network", "ComputerName:string:0 Port|RemotePort:int "
           "CommonTCPPort:string:1 InformationLevel:string", aliases="tnc"),
    Cmdlet("Test-Connection", "network", "ComputerName:string[]:0! Count:int Quiet? "
           "BufferSize:int Delay:int"),
    Cmdlet("Resolve-DnsName", "network", "Name:string:0!< Type:string:1 Server:string[] DnsOnly? "
           "NoHostsFile? QuickTimeout? TcpOnly?"),
    Cmdlet("Invoke-WebRequest", "webcmdlets", "Uri:string:0! Method:string Headers:object "
           "Body:object ContentType:string UseBasicParsing? TimeoutSec:int OutFile:string "
           "UserAgent:string MaximumRedirection:int PassThru? DisableKeepAlive? InFile:string",
           aliases="iwr curl wget"),
    Cmdlet("Invoke-RestMethod", "webcmdlets", "Uri:string:0! Method:string Headers:object "
           "Body:object ContentType:string UseBasicParsing? TimeoutSec:int OutFile:string "
           "UserAgent:string MaximumRedirection:int DisableKeepAlive? InFile:string",
           aliases="irm"),
)  # fmt: skip

CMDLETS: dict[str, Cmdlet] = {row.name.lower(): row for row in ROWS}
ALIASES: dict[str, str] = {
    alias: row.name for row in ROWS for alias in row.aliases.split() if alias
}

REFUSED_NAMES = [
    "Add-Computer",
    "Add-Type",
    "Checkpoint-Computer",
    "Clear-EventLog",
    "Clear-History",
    "Connect-PSSession",
    "ConvertFrom-SecureString",
    "ConvertTo-Html",
    "ConvertTo-SecureString",
    "ConvertTo-Xml",
    "Debug-Process",
    "Disable-PSRemoting",
    "Enable-PSRemoting",
    "Enter-PSSession",
    "Exit-PSSession",
    "Export-Clixml",
    "Export-Csv",
    "Export-ModuleMember",
    "Format-Custom",
    "Get-CimInstance",
    "Get-ComputerInfo",
    "Get-Counter",
    "Get-Credential",
    "Get-Event",
    "Get-EventLog",
    "Get-Help",
    "Get-History",
    "Get-HotFix",
    "Get-ItemProperty",
    "Get-ItemPropertyValue",
    "Get-LocalUser",
    "Get-Module",
    "Get-NetFirewallRule",
    "Get-PSDrive",
    "Get-PSProvider",
    "Get-PSSession",
    "Get-Service",
    "Get-TraceSource",
    "Get-Transaction",
    "Get-UICulture",
    "Get-WinEvent",
    "Get-WindowsFeature",
    "Get-WmiObject",
    "Import-Clixml",
    "Import-Csv",
    "Import-Module",
    "Install-Module",
    "Install-WindowsFeature",
    "Invoke-CimMethod",
    "Invoke-Command",
    "Invoke-Item",
    "Invoke-WmiMethod",
    "Limit-EventLog",
    "New-CimSession",
    "New-EventLog",
    "New-ItemProperty",
    "New-LocalUser",
    "New-Module",
    "New-NetFirewallRule",
    "New-PSDrive",
    "New-PSSession",
    "New-Service",
    "New-WebServiceProxy",
    "Out-GridView",
    "Out-Printer",
    "Register-EngineEvent",
    "Register-ObjectEvent",
    "Register-ScheduledTask",
    "Register-WmiEvent",
    "Remove-ItemProperty",
    "Remove-Module",
    "Remove-PSDrive",
    "Rename-Computer",
    "Restart-Computer",
    "Restart-Service",
    "Resume-Service",
    "Send-MailMessage",
    "Set-Acl",
    "Set-AuthenticodeSignature",
    "Set-Date",
    "Set-ItemProperty",
    "Set-NetFirewallProfile",
    "Set-PSBreakpoint",
    "Set-PSDebug",
    "Set-Service",
    "Set-StrictMode",
    "Set-TimeZone",
    "Show-Command",
    "Start-Service",
    "Start-Transaction",
    "Start-Transcript",
    "Stop-Computer",
    "Stop-Service",
    "Stop-Transcript",
    "Suspend-Service",
    "Trace-Command",
    "Unblock-File",
    "Unregister-Event",
    "Update-Help",
    "Wait-Event",
    "Wait-Process",
    "Write-EventLog",
]
REFUSED: dict[str, str] = {name.lower(): name for name in REFUSED_NAMES} | {
    "gwmi": "Get-WmiObject",
    "gcim": "Get-CimInstance",
    "gsv": "Get-Service",
    "icm": "Invoke-Command",
    "ipmo": "Import-Module",
    "epcsv": "Export-Csv",
    "ipcsv": "Import-Csv",
    "gp": "Get-ItemProperty",
    "sp": "Set-ItemProperty",
    "man": "Get-Help",
    "help": "Get-Help",
    "history": "Get-History",
    "h": "Get-History",
}
