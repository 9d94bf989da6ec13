#!/bin/bash
# with-simdriver.sh [-B BUILD-FOLDER] [-w] [-u USER] GPUS -- CMD...
#
# Runs CMD under the simulated driver (tests/simdriver), with a GPU for each name in GPUS, for example sm_86,sm_89.
#
#   -B FOLDER  the build whose driver is used; default: the newest one under build/ that has it
#   -w         CMD is a Windows program, to be run by Wine in a prefix of the build's own
#   -u USER    with -w: the Windows user's name, of any letters (a prefix for each); default: jitwarm
#
# tests/simdriver/README.md lists the variables for faults, costs and the log. Exit status: that of CMD; 77 if Wine is
# wanted and missing.
set -euo pipefail

# The tests start this script thousands of times: with a complete path, it starts no program but CMD.
case ${BASH_SOURCE[0]} in
/*) root=${BASH_SOURCE[0]%/*/*} ;;
*) root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) ;;
esac
usage() { sed -n '2s/^# /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 64; }
fail() { echo "with-simdriver.sh: $*" >&2; exit 1; }

build= wine= user=jitwarm
while getopts B:wu: option; do
	case $option in
	B) build=$OPTARG ;;
	w) wine=yes ;;
	u) user=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -ge 3 ] && [ "$2" = -- ] || usage
gpus=$1
shift 2

library=tests/simdriver/lib/libcuda.so.1
[ -z "$wine" ] || library=tests/simdriver/lib/nvcuda.dll
if [ -z "$build" ]; then
	newest=$(ls -t "$root"/build/*/"$library" 2>/dev/null | head -1) || true
	[ -n "$newest" ] || fail "no build of $library under $root/build: build first, or name the folder with -B"
	build=${newest%/"$library"}
fi
[[ $build == /* ]] || build=$(cd "$build" 2>/dev/null && pwd) || fail "no such build folder: $build"
[ -e "$build/$library" ] || fail "$build/$library is missing: build the target simdriver"

# jitwarm reads this instead of the PCI bus: it has the same device ids and bus addresses as the driver.
pci= position=0
known=$(<"$root/tests/simdriver/gpus.inc")
for name in ${gpus//,/ }; do
	[[ $known =~ (^|$'\n')"GPU(${name#sm_}, 0x"([0-9a-f]+), ]] || fail "no such GPU: $name"
	position=$((position + 1))
	printf -v pci '%s10de:%s@0000:%02x:00.0' "${pci:+$pci,}" "${BASH_REMATCH[2]}" "$position"
done
# Modules compiled before must not come back in a test that compiles on purpose; tests of the store set this to 1.
export JITWARM_STORE=${JITWARM_STORE-0}
export SIMDRIVER_GPUS=$gpus JITWARM_PCI_DEVICES=$pci

# Faults of the kind ":once" leave their marks here; the driver makes the folder if needed.
if [ -z "${SIMDRIVER_STATE:-}" ]; then
	export SIMDRIVER_STATE=$build/tests/simdriver/state/$$
	[ -d "${SIMDRIVER_STATE%/*}" ] || mkdir -p "${SIMDRIVER_STATE%/*}"
	[ ! -e "$SIMDRIVER_STATE" ] || rm -rf "$SIMDRIVER_STATE"
fi

if [ -z "$wine" ]; then
	export LD_LIBRARY_PATH=$build/tests/simdriver/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	exec "$@"
fi

command -v wine > /dev/null || { echo "with-simdriver.sh: wine is not installed" >&2; exit 77; }
# A program and Wine's server wait for each other thousands of times a second. On one processor, that takes half of the processor time of
# two. So each user has one processor: two of the tests' users the first, the others another.
mapfile -t processors < <(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status | tr , '\n' |
	while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
case $user in
김지원 | 박서준) turn=0 ;;
*) turn=1 ;;
esac
taskset -cp "${processors[turn % ${#processors[@]}]}" $$ > /dev/null
# The user's name is Wine's USER, read in the locale's encoding. Debuggers and installers that Wine would start are off. "n" selects our
# nvcuda.dll, never Wine's own; "n,b" prefers the tests' schtasks.exe and the programs in $WINE_NATIVE_FIRST to Wine's, as on Windows, which
# has no built-in libraries.
export USER=$user LC_ALL=C.UTF-8 WINEDEBUG=${WINEDEBUG:--all} WINEPREFIX=$build/wine/$user
export WINEDLLOVERRIDES="nvcuda=n;schtasks.exe=n,b;winedbg.exe,winemenubuilder.exe,mscoree,mshtml=${WINE_NATIVE_FIRST:+;$WINE_NATIVE_FIRST=n,b}"
system=$WINEPREFIX/drive_c/windows/system32
mkdir -p "$build/wine"
{
	flock 9
	if [ ! -e "$WINEPREFIX/ready" ]; then
		rm -rf "$WINEPREFIX"
		timeout 600 wine wineboot -i && timeout 300 wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f &&
			timeout 300 wineserver -w || fail "Wine could not make $WINEPREFIX"
		touch "$WINEPREFIX/ready"
	fi > /dev/null 2>&1 < /dev/null
	if ! cmp -s "$build/$library" "$system/nvcuda.dll"; then
		cp "$build/$library" "$system/nvcuda.dll.new"
		mv -f "$system/nvcuda.dll.new" "$system/nvcuda.dll"
	fi
} 9> "$build/wine/lock"

# Wine's server stays for a while after its last program, and a program that starts just when it ends would fail. Wine's services, which its
# first program starts, stay as long and keep that program's output open, so the first program is one whose output nobody reads.
if ! wineserver -k0 > /dev/null 2>&1; then
	wineserver -p60 > /dev/null 2>&1 < /dev/null || true
	wine cmd /c exit > /dev/null 2>&1 < /dev/null || true
fi

# These variables name Unix files, which Windows programs find on drive Z.
for name in SIMDRIVER_STATE SIMDRIVER_GATE SIMDRIVER_LOG CUDA_CACHE_PATH JITWARM_STATE VIRTUAL_ENV CONDA_PREFIX; do
	value=${!name:-}
	case $value in /*) export "$name=Z:${value//\//\\}" ;; esac
done
exec wine "$@"
