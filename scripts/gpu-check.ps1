<#
.SYNOPSIS
What only a real Windows with an NVIDIA GPU can tell of jitwarm's assumptions (docs/contributing/gpu-check.md).
.DESCRIPTION
Runs jitwarm.exe in folders of its own: neither the driver's cache nor jitwarm's state of this account is read or written, and no
task or setting is made, unless -Account is given. Shows what is as expected and what DIFFERS, and writes everything to a JSON file,
which has no names of accounts.

    powershell -ExecutionPolicy Bypass -File gpu-check.ps1 -Library C:\path\to\library.dll [-Start "python train.py"]

Exit status: 0 all is as expected; 1 something differs; 2 no driver, no GPU or no jitwarm.exe; 64 wrong use.
.PARAMETER Library
A library or wheel with device code, which jitwarm primes.
.PARAMETER Start
A command that starts a program which loads it: run cold and primed.
.PARAMETER Account
Also checks the logon task, tune, redirection, Ctrl-C, denied folders, Pythons, long paths, an offline share and uninstall, one line
each, in some minutes. The task runs once and primes the library into this account's cache; task and settings are taken back. Run it as a
standard user and from an elevated console, which adds the machine's settings.
.PARAMETER Jitwarm
The program (default: jitwarm.exe beside this script, else by Path).
.PARAMETER Json
The file (default: gpu-check-windows.json).
#>
param(
    [string]$Library,
    [string]$Start,
    [string]$Jitwarm,
    [string]$Json = 'gpu-check-windows.json',
    [switch]$Account
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$facts = [ordered]@{ schema = 'jitwarm.gpu-check-windows/1' }
$objections = New-Object System.Collections.Generic.List[string]

function Show([string]$name, $value) { '{0,-28} {1}' -f $name, $value | Out-Host }
function Differs([string]$what) {
    $objections.Add($what)
    Show 'DIFFERS' $what
}

if (-not $Jitwarm) {
    $beside = Join-Path $PSScriptRoot 'jitwarm.exe'
    $Jitwarm = if (Test-Path -LiteralPath $beside) { $beside } else { 'jitwarm.exe' }
}
if (-not (Get-Command $Jitwarm -ErrorAction SilentlyContinue)) {
    'gpu-check.ps1: no jitwarm.exe beside this script or in Path: -Jitwarm names it' | Out-Host
    exit 2
}
if ($Library -and -not (Test-Path -LiteralPath $Library)) {
    "gpu-check.ps1: $Library does not exist" | Out-Host
    exit 64
}
if (($Start -or $Account) -and -not $Library) {
    'gpu-check.ps1: -Start and -Account need -Library' | Out-Host
    exit 64
}
if ($Library) { $Library = (Resolve-Path -LiteralPath $Library).ProviderPath }
$Jitwarm = (Get-Command $Jitwarm).Source
$elevated = ([Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()).IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)

# All files lie below a folder of this script's own.
$work = Join-Path ([IO.Path]::GetTempPath()) ('jitwarm-check-' + [Guid]::NewGuid().ToString('N'))
$null = New-Item -ItemType Directory -Path $work
$former = @{}
foreach ($name in 'CUDA_CACHE_PATH', 'JITWARM_STATE', 'CUDA_CACHE_DISABLE', 'CUDA_CACHE_MAXSIZE', 'JITWARM_STORE', 'JITWARM_LANGUAGE') {
    $former[$name] = [Environment]::GetEnvironmentVariable($name)
}
# The script looks for words in the answers, so they are English.
$env:JITWARM_LANGUAGE = 'en'

# Drops a program's messages, which Windows PowerShell may take for an error of this script that ends it.
function Invoke-Native {
    $ErrorActionPreference = 'Continue'
    $program, $rest = $args
    & $program @rest 2>$null
}
# Runs jitwarm with --json, and returns its status, its document and its seconds.
function Invoke-Jitwarm([string[]]$words) {
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $text = Invoke-Native $Jitwarm @words --json | Out-String
    $status = $LASTEXITCODE
    $document = $null
    try { $document = $text | ConvertFrom-Json } catch { $document = $null }
    [pscustomobject]@{ status = $status; document = $document; seconds = [Math]::Round($watch.Elapsed.TotalSeconds, 3) }
}
function Use-Cache([string]$name) {
    $folder = Join-Path $work $name
    $null = New-Item -ItemType Directory -Force -Path $folder
    $env:CUDA_CACHE_PATH = $folder
    $folder
}
# Returns the entries of a cache: all files except its index.
function Get-Entries([string]$folder) {
    @(Get-ChildItem -LiteralPath $folder -Recurse -File | Where-Object { $_.Name -ne 'index' -and $_.DirectoryName -ne $folder })
}
function Start-Program([string]$name, [string]$folder) {
    $ErrorActionPreference = 'Continue' # messages of the program
    $before = @(Get-Entries $folder).Count
    $watch = [Diagnostics.Stopwatch]::StartNew()
    cmd.exe /d /c $Start *> $null
    $seconds = [Math]::Round($watch.Elapsed.TotalSeconds, 3)
    $added = @(Get-Entries $folder).Count - $before
    Show $name "$seconds s, $added entries added"
    [ordered]@{ seconds = $seconds; added = $added; status = $LASTEXITCODE }
}

# ---- with -Account: changes of this account, which are undone

# Returns the exit status; -1: it had not ended by then.
function Wait-Ended($process, [int]$seconds) {
    if ($process.WaitForExit($seconds * 1000)) { return $process.ExitCode }
    $process.Kill()
    -1
}
function Row([string]$name, [bool]$good, [string]$what) {
    $facts.account[$name] = [ordered]@{ good = $good; what = $what }
    if ($good) { Show $name $what } else { Differs "${name}: $what" }
}
function Skip([string]$name, [string]$why) {
    $facts.account[$name] = [ordered]@{ good = $null; what = $why }
    Show $name "not checked: $why"
}
# If a check fails, that is its row's answer, and the other checks go on.
function Check([string]$name, [scriptblock]$body) {
    try { & $body } catch { Row $name $false $_.Exception.Message }
}
function Get-Registry([string]$key) {
    $file = Join-Path $work 'registry.reg'
    $null = Invoke-Native reg.exe export $key $file /y
    [Convert]::ToBase64String([IO.File]::ReadAllBytes($file))
}
# Returns the leaves of an XML text as "path=value", sorted.
function Get-Leaves([xml]$document) {
    $all = New-Object System.Collections.Generic.List[string]
    foreach ($node in $document.SelectNodes('//*[not(*)]')) {
        $path = $node.LocalName
        for ($up = $node.ParentNode; $up -is [Xml.XmlElement]; $up = $up.ParentNode) { $path = "$($up.LocalName)/$path" }
        $all.Add("$path=$($node.InnerText)")
    }
    @($all | Sort-Object)
}
function Get-Task([string]$name) {
    $text = Invoke-Native schtasks.exe /query /tn $name /xml | Out-String
    if ($LASTEXITCODE -ne 0) { return $null }
    $text
}

function Test-Task([string]$name) {
    $null = Invoke-Native $Jitwarm startup enable $Library
    $sent = Get-Content -Raw -LiteralPath (Join-Path $env:JITWARM_STATE 'startup-task.xml')
    $queried = Get-Task $name
    $missing = @(Get-Leaves $sent | Where-Object { (Get-Leaves $queried) -notcontains $_ })
    Row 'task, sent and queried' ($missing.Count -eq 0) "$($missing.Count) values differ $($missing -join ' ')"
    $settings = ([xml]$queried).Task.Settings
    Row 'task on battery' ($settings.DisallowStartIfOnBatteries -eq 'true') "DisallowStartIfOnBatteries $($settings.DisallowStartIfOnBatteries)"
    # A program of the console's subsystem (3) would open a window.
    $bytes = [IO.File]::ReadAllBytes(([xml]$queried).Task.Actions.Exec.Command)
    $subsystem = [BitConverter]::ToUInt16($bytes, [BitConverter]::ToInt32($bytes, 60) + 92)
    $null = Invoke-Native schtasks.exe /run /tn $name
    $windows = 0
    $seen = $false
    for ($i = 0; $i -lt 50; $i++) {
        $running = @(Get-Process -Name jitwarmw -ErrorAction SilentlyContinue)
        if ($running.Count) { $seen = $true }
        $windows += @($running | Where-Object { $_.MainWindowHandle -ne [IntPtr]::Zero }).Count
        Start-Sleep -Milliseconds 100
    }
    Row 'task without a window' ($subsystem -eq 2 -and $windows -eq 0) "subsystem $subsystem, $windows windows, seen running: $seen"
    # The program is enabled in another folder, which is moved; enabling it again there repairs the task.
    $old = Join-Path $work 'old'
    $new = Join-Path $work 'new'
    $null = New-Item -ItemType Directory -Path $old
    Copy-Item (Join-Path (Split-Path $Jitwarm) 'jitwarm*.exe') $old
    $null = Invoke-Native (Join-Path $old 'jitwarm.exe') startup enable $Library
    Move-Item $old $new
    $null = Invoke-Native (Join-Path $new 'jitwarm.exe') startup enable $Library
    $status = $LASTEXITCODE
    $command = ([xml](Get-Task $name)).Task.Actions.Exec.Command
    Row 'task of a moved program' ($status -eq 0 -and $command -eq (Join-Path $new 'jitwarmw.exe')) "status $status, starts $command"
    $said = Invoke-Native $Jitwarm startup disable | Out-String
    Row 'startup disable' ($said -match 'removed' -and -not (Get-Task $name)) ($said.Trim() -replace '\s+', ' ')
}

function Test-Tune([string]$scope, [string]$key) {
    $before = Get-Registry $key
    $path = (Get-ItemProperty "Registry::$key").PSObject.Properties['CUDA_CACHE_PATH']
    $null = Invoke-Native $Jitwarm tune --apply --scope $scope --max-size 4GiB
    $status = $LASTEXITCODE
    $now = Get-ItemProperty "Registry::$key"
    $only = "$($now.PSObject.Properties['CUDA_CACHE_PATH'])" -eq "$path"
    $null = Invoke-Native $Jitwarm tune --undo --scope $scope
    $same = (Get-Registry $key) -eq $before
    Row "tune --scope $scope" ($status -eq 0 -and $only -and $same) "status $status, only what was asked for: $only, undone: $same"
}

function Test-Redirection {
    $file = Join-Path $work 'redirected.txt'
    $hangul = -join [char[]](0xC0AC, 0xC6A9, 0xBC95) # the first word of the Korean help
    $env:JITWARM_LANGUAGE = 'ko'
    try {
        foreach ($page in 949, 65001) {
            cmd.exe /d /c "chcp $page >nul & `"$Jitwarm`" prime --help > `"$file`""
            $text = [IO.File]::ReadAllText($file, (New-Object Text.UTF8Encoding $false, $true))
            Row "redirected by cmd, $page" $text.StartsWith($hangul) 'UTF-8'
            foreach ($shell in 'powershell.exe', 'pwsh.exe') {
                if (-not (Get-Command $shell -ErrorAction SilentlyContinue)) {
                    Skip "redirected by $shell, $page" 'not installed'
                    continue
                }
                $line = "[Console]::OutputEncoding = [Text.Encoding]::UTF8; & '$Jitwarm' prime --help > '$file'"
                cmd.exe /d /c "chcp $page >nul & $shell -NoProfile -Command `"$line`""
                Row "redirected by $shell, $page" ([IO.File]::ReadAllText($file)).StartsWith($hangul) 'with OutputEncoding set, as docs/windows.md says'
            }
        }
    } finally { $env:JITWARM_LANGUAGE = 'en' }
}

# Tests how a prime in a console of its own ends, and what it leaves.
function Test-End([string]$name, [string]$how) {
    $null = Use-Cache $name
    $null = Remove-Item -Recurse -Force (Join-Path $env:JITWARM_STATE 'runs') -ErrorAction SilentlyContinue
    $process = Start-Process -FilePath $Jitwarm -ArgumentList 'prime', '--no-store', "`"$Library`"" -PassThru -WindowStyle Minimized
    $null = $process.Handle # without this, there is no exit status
    Start-Sleep -Seconds 3
    if ($process.HasExited) {
        Skip $name "prime had ended: name a larger -Library"
        return
    }
    $worked = [JitwarmConsole]::End($process.Id, $how -eq 'close')
    $status = Wait-Ended $process 20
    $left = @(Get-Process -Name 'jitwarm', 'jitwarmw' -ErrorAction SilentlyContinue | Where-Object { $_.StartTime -ge $process.StartTime }).Count
    $verify = Invoke-Jitwarm @('cache', 'verify')
    Row $name ($worked -and $status -ne -1 -and $left -eq 0 -and $verify.status -eq 0) "status $status, $left processes left, cache verify $($verify.status)"
}
$console = @'
using System;
using System.Runtime.InteropServices;
public static class JitwarmConsole {
    [DllImport("kernel32.dll")] static extern bool FreeConsole();
    [DllImport("kernel32.dll")] static extern bool AttachConsole(uint process);
    [DllImport("kernel32.dll")] static extern IntPtr GetConsoleWindow();
    [DllImport("kernel32.dll")] static extern bool SetConsoleCtrlHandler(IntPtr handler, bool add);
    [DllImport("kernel32.dll")] static extern bool GenerateConsoleCtrlEvent(uint which, uint group);
    [DllImport("user32.dll")] static extern bool PostMessage(IntPtr window, uint message, IntPtr word, IntPtr more);
    // Ctrl-C in that process's console, or its window closed
    public static bool End(int process, bool close) {
        FreeConsole();
        if (!AttachConsole((uint)process)) { AttachConsole(uint.MaxValue); return false; }
        SetConsoleCtrlHandler(IntPtr.Zero, true);
        bool done = close ? PostMessage(GetConsoleWindow(), 0x10, IntPtr.Zero, IntPtr.Zero) : GenerateConsoleCtrlEvent(0, 0);
        System.Threading.Thread.Sleep(500);
        FreeConsole();
        AttachConsole(uint.MaxValue);
        SetConsoleCtrlHandler(IntPtr.Zero, false);
        return done;
    }
}
'@

function Test-Denied {
    $folder = Use-Cache 'denied'
    $account = [Security.Principal.WindowsIdentity]::GetCurrent().Name
    $null = Invoke-Native icacls.exe $folder /deny "${account}:(OI)(CI)(W,R,X)"
    try {
        $check = Invoke-Jitwarm @('check', $Library)
        Row 'denied cache' ($check.status -eq 2) "check ended with $($check.status)"
        $null = Invoke-Native $Jitwarm scan $folder
        Row 'denied folder' ($LASTEXITCODE -eq 3) "scan ended with $LASTEXITCODE"
    } finally { $null = Invoke-Native icacls.exe $folder /remove:d $account }
    $null = Invoke-Native $Jitwarm export --all -o (Join-Path $folder 'missing\a.jwpack')
    Row 'export to a missing folder' ($LASTEXITCODE -eq 3) "ended with $LASTEXITCODE"
}

function Test-Pythons {
    $venv = Join-Path $work 'venv'
    $pythons = [ordered]@{
        Store = Join-Path $env:LOCALAPPDATA 'Microsoft\WindowsApps\python.exe'
        py = 'py.exe'
        conda = if ($env:CONDA_PREFIX) { Join-Path $env:CONDA_PREFIX 'python.exe' } else { 'conda.exe' }
        venv = Join-Path $venv 'Scripts\python.exe'
    }
    if (Get-Command py.exe -ErrorAction SilentlyContinue) { $null = Invoke-Native py.exe -m venv --without-pip $venv }
    foreach ($name in $pythons.Keys) {
        $python = $pythons[$name]
        if (-not (Get-Command $python -ErrorAction SilentlyContinue)) {
            Skip "Python of $name" 'not installed'
            continue
        }
        $prefix = if ($python -eq 'conda.exe') { Invoke-Native conda.exe info --base } else { Invoke-Native $python -c 'import sys; print(sys.prefix)' }
        if ($LASTEXITCODE -ne 0 -or -not $prefix) {
            Skip "Python of $name" 'it does not start'
            continue
        }
        $check = Invoke-Jitwarm @('check', '--environment', $prefix.Trim())
        Row "Python of $name" (0, 1, 2 -contains $check.status) "check --environment of its prefix ended with $($check.status)"
    }
}

function Test-LongPath([string]$name) {
    $folder = '\\?\' + $work
    foreach ($i in 1..8) { $folder += '\' + ('long' * 10) }
    $null = [IO.Directory]::CreateDirectory($folder)
    $file = $folder + '\library.dll'
    [IO.File]::Copy($Library, $file, $true)
    $null = Invoke-Native $Jitwarm scan --target rtx3070 $file.Substring(4)
    Row $name ($LASTEXITCODE -eq 0) "scan of $($file.Length - 4) letters ended with $LASTEXITCODE"
}
function Test-LongPaths {
    $key = 'HKLM:\SYSTEM\CurrentControlSet\Control\FileSystem'
    $was = (Get-ItemProperty $key).PSObject.Properties['LongPathsEnabled']
    Test-LongPath "long path, switched $(if ($was -and $was.Value) { 'on' } else { 'off' })"
    if (-not $elevated) {
        Skip 'long path, switched over' 'wants an elevated console'
        return
    }
    try {
        Set-ItemProperty $key LongPathsEnabled ([int](-not ($was -and $was.Value))) -Type DWord
        Test-LongPath 'long path, switched over'
    } finally {
        if ($was) { Set-ItemProperty $key LongPathsEnabled $was.Value -Type DWord } else { Remove-ItemProperty $key LongPathsEnabled }
    }
}

# An address that no machine has (RFC 5737)
function Test-Share {
    $process = Start-Process -FilePath $Jitwarm -ArgumentList 'scan', '\\192.0.2.1\share\library.dll' -PassThru -WindowStyle Hidden
    $null = $process.Handle
    $status = Wait-Ended $process 120
    Row 'offline share' ($status -eq 3) "scan ended with $status (-1: not within two minutes)"
}

function Test-Uninstall([string]$name, [string]$key) {
    $before = Get-Registry $key
    $null = Invoke-Native $Jitwarm startup enable $Library
    $null = Invoke-Native $Jitwarm tune --apply --max-size 4GiB
    $null = Invoke-Native $Jitwarm uninstall
    $status = $LASTEXITCODE
    $same = (Get-Registry $key) -eq $before
    $left = @(Get-ChildItem -LiteralPath $env:JITWARM_STATE -Recurse -File -ErrorAction SilentlyContinue).Count
    Row 'uninstall' ($status -eq 0 -and $same -and -not (Get-Task $name) -and $left -eq 0) "status $status, registry as before: $same, task there: $([bool](Get-Task $name)), $left files of state left"
}

function Test-Account {
    $facts.account = [ordered]@{ elevated = $elevated }
    Show 'account' $(if ($elevated) { 'elevated' } else { 'standard' })
    $user = 'HKEY_CURRENT_USER\Environment'
    $name = (Invoke-Jitwarm @('startup', 'status')).document.items[0].where
    $there = [bool](Get-Task $name)
    $null = Use-Cache 'account'
    if ($there) { Skip 'task' 'this account has one: jitwarm startup disable first' } else { Check 'task' { Test-Task $name } }
    Check 'tune' { Test-Tune 'user' $user }
    if ($elevated) { Check 'tune, machine' { Test-Tune 'system' 'HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Session Manager\Environment' } }
    Check 'redirection' { Test-Redirection }
    Add-Type -TypeDefinition $console
    Check 'Ctrl-C' { Test-End 'Ctrl-C during prime' 'interrupt' }
    Check 'closed window' { Test-End 'window closed during prime' 'close' }
    Check 'denied' { Test-Denied }
    Check 'Pythons' { Test-Pythons }
    Check 'long paths' { Test-LongPaths }
    Check 'offline share' { Test-Share }
    $null = Use-Cache 'account'
    if ($there) { Skip 'uninstall' 'it would take that task away' } else { Check 'uninstall' { Test-Uninstall $name $user } }
}

try {
    $env:JITWARM_STATE = Join-Path $work 'state'
    $env:JITWARM_STORE = '0'
    $env:CUDA_CACHE_DISABLE = $null
    $env:CUDA_CACHE_MAXSIZE = $null

    # ---- Windows
    $system = Get-CimInstance Win32_OperatingSystem
    $facts.windows = [ordered]@{ version = $system.Version; build = $system.BuildNumber; language = (Get-Culture).Name
        code_page = [Text.Encoding]::Default.CodePage; powershell = $PSVersionTable.PSVersion.ToString(); cores = [Environment]::ProcessorCount }
    Show 'Windows' "$($system.Version), $([Environment]::ProcessorCount) cores"

    # ---- the driver, its library and the build stamp
    $null = Use-Cache 'status'
    $status = Invoke-Jitwarm @('status')
    $facts.status = $status.document
    if ($status.status -ge 2 -or -not $status.document) {
        'gpu-check.ps1: no driver or no GPU: jitwarm status says more' | Out-Host
        exit 2
    }
    $libraries = @(Get-ChildItem -Path (Join-Path $env:windir 'System32\nvcuda.dll'),
        (Join-Path $env:windir 'System32\DriverStore\FileRepository\nv*\nvcuda64.dll') -ErrorAction SilentlyContinue)
    $facts.libraries = @($libraries | ForEach-Object { [ordered]@{ name = $_.Name; version = $_.VersionInfo.FileVersion; bytes = $_.Length
                sha256 = (Get-FileHash -LiteralPath $_.FullName -Algorithm SHA256).Hash.ToLowerInvariant() } })
    foreach ($one in $facts.libraries) { Show $one.name $one.version }
    # The positions of the stamp's two forms in the library (docs/internals/windows.md, “What the stamp of a Windows driver would need”).
    $facts.stamps = @(foreach ($one in $libraries) {
            $text = [Text.Encoding]::GetEncoding(28591).GetString([IO.File]::ReadAllBytes($one.FullName))
            foreach ($match in [regex]::Matches($text, '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-3][0-9] 20[0-9]{2}(.{0,4}[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?)?', 'Singleline')) {
                [ordered]@{ library = $one.Name; offset = $match.Index; text = ($match.Value -replace '[^ -~]', '.') }
            }
        })

    if ($Library) {
        # ---- a cold start, a primed one, and the driver's entries
        $cold = Use-Cache 'cold'
        if ($Start) { $facts.cold_start = Start-Program 'cold start' $cold }
        $primed = Use-Cache 'primed'
        $prime = Invoke-Jitwarm @('prime', '--no-store', $Library)
        $facts.prime = [ordered]@{ status = $prime.status; seconds = $prime.seconds; document = $prime.document }
        Show 'prime' "$($prime.seconds) s, status $($prime.status), $(@(Get-Entries $primed).Count) entries"
        if ($prime.status -ne 0) { Differs "prime ended with $($prime.status)" }
        $check = Invoke-Jitwarm @('check', $Library)
        $facts.check = [ordered]@{ status = $check.status; seconds = $check.seconds }
        if ($check.status -ne 0) { Differs "check after prime ended with $($check.status)" }
        if ($Start) {
            $facts.primed_start = Start-Program 'primed start' $primed
            if ($facts.primed_start.added -gt 0) { Differs "the primed start compiled $($facts.primed_start.added) modules" }
        }
        # The first bytes of entries hold the key's head and stamp, and no code.
        $facts.entries = @(Get-Entries $primed | Select-Object -First 8 | ForEach-Object {
                $stream = [IO.File]::Open($_.FullName, 'Open', 'Read', 'ReadWrite, Delete')
                try {
                    $bytes = New-Object byte[] 64
                    $read = $stream.Read($bytes, 0, 64)
                } finally { $stream.Close() }
                [ordered]@{ name = "$($_.Directory.Name)\$($_.Name)"; bytes = $_.Length; head = [BitConverter]::ToString($bytes, 0, $read) }
            })
        $verify = Invoke-Jitwarm @('cache', 'verify')
        $facts.verify = [ordered]@{ status = $verify.status; document = $verify.document }
        if ($verify.status -ne 0) { Differs "cache verify ended with $($verify.status)" }

        # ---- replacing a file that another program has opened
        $entry = @(Get-Entries $primed | Select-Object -First 1)
        if ($entry.Count) {
            $open = [IO.File]::Open($entry[0].FullName, 'Open', 'Read', 'Read')
            try {
                $clear = Invoke-Jitwarm @('cache', 'clear', '--yes')
                $facts.clear_while_open = $clear.status
                Show 'clear, one entry open' "status $($clear.status)"
            } finally { $open.Close() }
        }
    }

    if ($Account) { Test-Account }

    # ---- the file system of the caches
    $drive = New-Object IO.DriveInfo ([IO.Path]::GetPathRoot($env:APPDATA))
    $facts.appdata = [ordered]@{ file_system = $drive.DriveFormat; kind = $drive.DriveType.ToString(); redirected = ($env:APPDATA -like '\\*')
        long_paths = (Get-ItemProperty 'HKLM:\SYSTEM\CurrentControlSet\Control\FileSystem' -Name LongPathsEnabled -ErrorAction SilentlyContinue | ForEach-Object { $_.LongPathsEnabled }) }
    $facts.objections = @($objections)
} finally {
    foreach ($name in $former.Keys) { [Environment]::SetEnvironmentVariable($name, $former[$name]) }
    Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
}

# No account's name leaves this machine. In the document, backslashes are doubled.
$text = ConvertTo-Json $facts -Depth 30
foreach ($folder in $env:USERPROFILE, $env:TEMP) {
    if ($folder) { $text = $text -replace [regex]::Escape(($folder -replace '\\', '\\')), 'HOME' }
}
[IO.File]::WriteAllText((Join-Path (Get-Location).ProviderPath $Json), $text, (New-Object Text.UTF8Encoding $false))
"written: $Json; $($objections.Count) differences" | Out-Host
exit [int]($objections.Count -gt 0)
