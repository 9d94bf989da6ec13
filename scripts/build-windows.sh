#!/bin/bash
# build-windows.sh [--deps-only] [-B FOLDER] [-- CMAKE-OPTION...]
#
# Cross-builds one static jitwarm.exe for 64-bit Windows with Debian's mingw-w64, into build/windows (or FOLDER).
#
# The libraries come from Debian's source packages (scripts/libraries.sh), once. JITWARM_WINDOWS_REFRESH=1 asks Debian for
# newer versions; otherwise once a week.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/libraries.sh
. scripts/libraries.sh

triple=x86_64-w64-mingw32
# shellcheck disable=SC2034 # libraries.sh reads them
self=build-windows recipe=9 # raise it when build_* below or in libraries.sh changes
# shellcheck disable=SC2034
refresh=${JITWARM_WINDOWS_REFRESH:-}
store=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/windows
# shellcheck disable=SC2034
sources=(zlib libzstd lz4 cjson libarchive libsodium libuv1 cmocka)
# shellcheck disable=SC2034
tools=(gcc-mingw-w64-x86-64-win32 binutils-mingw-w64-x86-64 mingw-w64-x86-64-dev cmake ninja-build make pkg-config
	autoconf automake libtool dpkg-dev patch xz-utils)
toolchain=$PWD/cmake/mingw-w64.cmake
# shellcheck disable=SC2034
cc=$triple-gcc ar=$triple-ar ranlib=$triple-ranlib host=$triple

folder=build/windows deps_only=
while [ $# -gt 0 ]; do
	case $1 in
	--deps-only) deps_only=1 ;;
	-B) folder=$2; shift ;;
	--) shift; break ;;
	*) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 64 ;;
	esac
	shift
done

install_tools
compiler=$($triple-gcc -dumpfullversion) || die "$triple-gcc does not run"
need_libraries "gcc $compiler"
[ -z "$deps_only" ] || exit 0

mkdir -p "$folder"
log=$PWD/$folder/build.log
case $folder in /*) log=$folder/build.log ;; esac
: > "$log"
logged "$log" "configuring" cmake -S . -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
	-DCMAKE_BUILD_TYPE=RelWithDebInfo -DJITWARM_WERROR=ON "-DJITWARM_WINDOWS_PREFIX=$prefix" "$@"
if ! cmake --build "$folder" -j "$jobs" >> "$log" 2>&1; then
	grep -E -A4 'error|FAILED|undefined' "$log" | head -60 >&2
	die "the build failed; all of its output is in $log"
fi

# The program may only need libraries that every Windows has.
exe=$folder/src/jitwarm.exe
if [ -f "$exe" ]; then
	foreign=$($triple-objdump -p "$exe" | sed -n 's/^[[:space:]]*DLL Name: //p' |
		grep -viE '^(advapi32|bcrypt|crypt32|dbghelp|iphlpapi|kernel32|msvcrt|ntdll|ole32|psapi|setupapi|shell32|user32|userenv|uuid|version|ws2_32)\.dll$' || true)
	[ -z "$foreign" ] || die "jitwarm.exe needs more than Windows brings: $foreign"
	$triple-strip -o "$folder/jitwarm.exe" "$exe"
	# jitwarmw.exe has no console window; the logon task and installers use it.
	$triple-strip -o "$folder/jitwarmw.exe" "$folder/src/jitwarmw.exe"
	say "built $folder/jitwarm.exe ($(stat -c %s "$folder/jitwarm.exe") bytes), with what a debugger wants in $exe"
else
	say "built $folder"
fi
