<#
.SYNOPSIS
What only a real Windows with an NVIDIA GPU can tell of jitwarm's assumptions (docs/gpu-check.md).
.DESCRIPTION
Runs jitwarm.exe in folders of its own: neither the driver's cache nor jitwarm's state of this account is read or written, and no
task or setting is made. Shows what is as expected and what DIFFERS, and writes everything to a JSON file, which has no names
of accounts.

    powershell -ExecutionPolicy Bypass -File gpu-check.ps1 -Library C:\path\to\library.dll [-Start "python train.py"]

Exit status: 0 all is as expected; 1 something differs; 2 no driver, no GPU or no jitwarm.exe; 64 wrong use.
.PARAMETER Library
A library or wheel with GPU code, which jitwarm primes.
.PARAMETER Start
A command that starts a program which loads it: run cold and primed.
.PARAMETER Jitwarm
The program (default: jitwarm.exe beside this script, else by Path).
.PARAMETER Json
The file (default: gpu-check-windows.json).
#>
param(
    [string]$Library,
    [string]$Start,
    [string]$Jitwarm,
    [string]$Json = 'gpu-check-windows.json'
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
if ($Start -and -not $Library) {
    'gpu-check.ps1: -Start needs -Library' | Out-Host
    exit 64
}
if ($Library) { $Library = (Resolve-Path -LiteralPath $Library).ProviderPath }
$Jitwarm = (Get-Command $Jitwarm).Source

# Everything happens below a folder of this script's own
$work = Join-Path ([IO.Path]::GetTempPath()) ('jitwarm-check-' + [Guid]::NewGuid().ToString('N'))
$null = New-Item -ItemType Directory -Path $work
$former = @{}
foreach ($name in 'CUDA_CACHE_PATH', 'JITWARM_STATE', 'CUDA_CACHE_DISABLE', 'CUDA_CACHE_MAXSIZE', 'JITWARM_STORE') {
    $former[$name] = [Environment]::GetEnvironmentVariable($name)
}

# Runs jitwarm with --json: its status, its document and its seconds
function Invoke-Jitwarm([string[]]$words) {
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $text = & $Jitwarm @words --json 2>$null | Out-String
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
# Entries of a cache: all files but its index
function Get-Entries([string]$folder) {
    @(Get-ChildItem -LiteralPath $folder -Recurse -File | Where-Object { $_.Name -ne 'index' -and $_.DirectoryName -ne $folder })
}
function Start-Program([string]$name, [string]$folder) {
    $before = @(Get-Entries $folder).Count
    $watch = [Diagnostics.Stopwatch]::StartNew()
    cmd.exe /d /c $Start *> $null
    $seconds = [Math]::Round($watch.Elapsed.TotalSeconds, 3)
    $added = @(Get-Entries $folder).Count - $before
    Show $name "$seconds s, $added entries added"
    [ordered]@{ seconds = $seconds; added = $added; status = $LASTEXITCODE }
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
    # Where the stamp's two forms lie in the library (docs/windows.md, “What the stamp of a Windows driver would need”)
    $facts.stamps = @(foreach ($one in $libraries) {
            $text = [Text.Encoding]::GetEncoding(28591).GetString([IO.File]::ReadAllBytes($one.FullName))
            foreach ($match in [regex]::Matches($text, '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-3][0-9] 20[0-9]{2}(.{0,4}[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?)?', 'Singleline')) {
                [ordered]@{ library = $one.Name; offset = $match.Index; text = ($match.Value -replace '[^ -~]', '.') }
            }
        })

    if ($Library) {
        # ---- cold, primed, and what the driver makes of it
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
        # The first bytes of entries hold the key: head and stamp, no code
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

        # ---- replacing a file that another program has open
        $entry = @(Get-Entries $primed | Select-Object -First 1)
        if ($entry.Count) {
            $open = [IO.File]::Open($entry[0].FullName, 'Open', 'Read', 'Read')
            try {
                $prune = Invoke-Jitwarm @('cache', 'prune', '--older-than', '0d', '--apply')
                $facts.prune_while_open = $prune.status
                Show 'prune, one entry open' "status $($prune.status)"
            } finally { $open.Close() }
        }
    }

    # ---- the file system below the caches
    $drive = New-Object IO.DriveInfo ([IO.Path]::GetPathRoot($env:APPDATA))
    $facts.appdata = [ordered]@{ file_system = $drive.DriveFormat; kind = $drive.DriveType.ToString(); redirected = ($env:APPDATA -like '\\*')
        long_paths = (Get-ItemProperty 'HKLM:\SYSTEM\CurrentControlSet\Control\FileSystem' -Name LongPathsEnabled -ErrorAction SilentlyContinue | ForEach-Object { $_.LongPathsEnabled }) }
    $facts.objections = @($objections)
} finally {
    foreach ($name in $former.Keys) { [Environment]::SetEnvironmentVariable($name, $former[$name]) }
    Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
}

# No name of an account leaves this machine: in the document, backslashes are twofold
$text = ConvertTo-Json $facts -Depth 30
foreach ($folder in $env:USERPROFILE, $env:TEMP) {
    if ($folder) { $text = $text -replace [regex]::Escape(($folder -replace '\\', '\\')), 'HOME' }
}
[IO.File]::WriteAllText((Join-Path (Get-Location).ProviderPath $Json), $text, (New-Object Text.UTF8Encoding $false))
"written: $Json; $($objections.Count) differences" | Out-Host
exit [int]($objections.Count -gt 0)
