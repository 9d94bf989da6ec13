#!/bin/bash
# The tests of this folder share these functions: . lib.sh BUILD-FOLDER. Each test is a list of steps; the first one that fails ends it.
set -euo pipefail

build=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
user=${JITWARM_WINE_USER:-김지원}
gpus=sm_86
home=$build/wine/$user/drive_c/users/$user
cache=$home/AppData/Roaming/NVIDIA/ComputeCache
# The test's own folder has letters that no western code page has.
work=$build/tests/windows/시험-$(basename "$0" .sh)
out=$work/stdout err=$work/stderr
status=0

# shellcheck source=/dev/null
. "$root/tests/documents/keep.sh"
command -v wine > /dev/null || { echo "wine is not installed"; exit 77; }
[ -e "$build/src/jitwarm.exe" ] || { echo "no jitwarm.exe in $build"; exit 77; }
rm -rf "$work"
mkdir -p "$work"

# The message goes to stderr, since `fail` also ends a $(json EXPRESSION).
fail() {
	{
		for file in "$out" "$err"; do
			[ ! -s "$file" ] || { echo "--- $(basename "$file")"; head -c 4000 "$file"; }
		done
		echo "FAILED: $(basename "$0"):${BASH_LINENO[${#BASH_LINENO[@]} - 2]}: $*"
	} >&2
	exit 1
}

# windows_path PATH: the Unix path as Windows programs under Wine see it
windows_path() { local path=Z:$1; printf '%s' "${path//\//\\}"; }

# under_build BUILD GPUS PROGRAM ARGUMENT...: puts the output into $out and $err, and the exit status into $status. A loaded Wine sometimes
# fails to start a program, with exit status 1 and without output; none of our programs ends like that, so this is tried again.
under_build() {
	local try
	for try in 1 2 3; do
		status=0
		timeout 300 "$root/scripts/with-simdriver.sh" -B "$1" -w -u "$user" "$2" -- "${@:3}" > "$out" 2> "$err" < /dev/null || status=$?
		[ "$status" = 1 ] || break
		[ ! -s "$out" ] && [ ! -s "$err" ] || grep -q '^ShellExecuteEx failed' "$out" "$err" || break
		echo "try $try: Wine did not start $3" >&2
	done
}
# under GPUS PROGRAM ARGUMENT...: the same with this build
under() { under_build "$build" "$@"; }

jitwarm() {
	under "$gpus" "$build/src/jitwarm.exe" "$@"
	keep_document "$out"
}

# exits STATUS WHAT...: the last command ended with STATUS
exits() {
	[ "$status" = "$1" ] || fail "exit status $status instead of $1: ${*:2}"
}

says() { grep -qF -- "$1" "$out" || fail "stdout does not say: $1"; }
complains() { grep -qF -- "$1" "$err" || fail "stderr does not say: $1"; }

# json EXPRESSION: prints it, with `d` as the document on stdout
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1], encoding="utf-8")); print(eval(sys.argv[2]))' "$out" "$1" || fail "no JSON with $1"; }
# json_is EXPRESSION VALUE
json_is() {
	local value
	value=$(json "$1")
	[ "$value" = "$2" ] || fail "$1 is $value instead of $2"
}

# fresh_user: as after the installation of Windows, without cache and state
fresh_user() {
	rm -rf "$home/AppData/Roaming/NVIDIA" "$home/AppData/Local/jitwarm"
}

# app: runs the test application; prints how many modules it had compiled
app() {
	under "$gpus" "$build/tests/framework/framework-app.exe"
	exits 0 framework-app
	sed -n 's/^compiled \([0-9]*\) of [0-9]*.*/\1/p' "$out"
}

# The tests' own Task Scheduler replaces Wine's, which keeps no trigger and shows nothing: tasks are files in $SCHTASKS_FOLDER.
system32=$build/wine/$user/drive_c/windows/system32
wine_schtasks=$system32/schtasks-wine.exe
restore_schtasks() { [ ! -e "$wine_schtasks" ] || mv -f "$wine_schtasks" "$system32/schtasks.exe"; }
restore_schtasks # a killed test may have left it
stand_in_for_schtasks() {
	tasks=$work/tasks
	mkdir -p "$tasks"
	export SCHTASKS_FOLDER
	SCHTASKS_FOLDER=$(windows_path "$tasks")
	trap restore_schtasks EXIT
	mv "$system32/schtasks.exe" "$wine_schtasks"
	cp "$build/tests/windows/schtasks.exe" "$system32/schtasks.exe"
}

sample_dll=$build/tests/framework/sample_framework.dll
has_command() { jitwarm "$@" --help; [ "$status" = 0 ]; }

# make_newer: makes a newer driver, an nvcuda.dll with another version and stamp, which replaces the build's while under_newer PROGRAM
# ARGUMENT... runs
newer=$work/newer
make_newer() {
	mkdir -p "$newer/tests/simdriver/lib"
	ln -s "$build/wine" "$newer/wine"
	python3 - "$build/tests/simdriver/lib/nvcuda.dll" "$newer/tests/simdriver/lib/nvcuda.dll" > "$out" 2> "$err" <<'PYTHON' || fail 'no newer driver'
import struct, sys
data = open(sys.argv[1], "rb").read()
assert data.count(b"Feb 29 202423:59") == 1 and data.count(b":58\0") >= 5
data = data.replace(b"Feb 29 202423:59", b"Mar  1 202510:20").replace(b":58\0", b":30\0")
version = struct.pack("<HHHH", 0, 32, 5161, 15)
assert version in data
data = data.replace(version, struct.pack("<HHHH", 0, 32, 6070, 15))  # 551.61 becomes 560.70
open(sys.argv[2], "wb").write(data)
PYTHON
}
under_newer() {
	SIMDRIVER_CUDA=12060 SIMDRIVER_STAMP='Mar  1 2025 10:20:30' under_build "$newer" "$gpus" "$@"
}
