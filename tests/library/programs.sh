#!/bin/bash
# programs.sh shared|static|cmake-shared|cmake-static   builds the examples and programs of ours against the installed library in
# this way, and runs them under the simulated driver
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
way=$1 kind=${1#cmake-}
library=$BUILD/tests/framework/libsample_framework.so
[ -e "$library" ] || { echo "skipped: $library is not built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=(examples/installer_step examples/startup_check examples/count_modules tests/library/clash tests/library/generations)

export PKG_CONFIG_PATH=$PREFIX/$LIBDIR/pkgconfig
case $way in
shared | static)
	package=jitwarm
	[ $way = shared ] || package=jitwarm-static
	for program in "${programs[@]}"; do
		# shellcheck disable=SC2046
		"$CC" -std=c11 -Wall -Wextra -Werror "$root/$program.c" -o "$work/${program##*/}" \
			$(pkg-config --cflags --libs $package) "-Wl,-rpath,$PREFIX/$LIBDIR" || exit 1
	done ;;
*)
	cp -r "$root/examples" "$work/source" && cp "$here"/*.c "$work/source" || exit 1
	sed -i 's/count_modules)$/count_modules clash generations)/' "$work/source/CMakeLists.txt"
	cmake -S "$work/source" -B "$work" -DKIND="$kind" -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_C_COMPILER="$CC" >"$work/log" 2>&1 &&
		cmake --build "$work" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; } ;;
esac

unset "${!CUDA_@}" "${!SIMDRIVER_@}" 2>/dev/null
export HOME=$work/home JITWARM_STATE=$work/state CUDA_CACHE_PATH=$work/cache JITWARM_SYSTEM_ROOT=$work/machine
mkdir -p "$HOME" "$JITWARM_SYSTEM_ROOT/proc"
printf 'MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n' >"$JITWARM_SYSTEM_ROOT/proc/meminfo"
status=0
# expect STATUS PATTERN PROGRAM [ARGUMENT...]
expect() {
	local wanted=$1 pattern=$2 got=0
	shift 2
	timeout 120 "$root/scripts/with-simdriver.sh" -B "$BUILD" sm_86 -- "$work/$1" "${@:2}" >"$work/out" 2>&1 || got=$?
	[ $got = "$wanted" ] && grep -qE "$pattern" "$work/out" ||
		{ echo "$*: status $got (expected $wanted), and not “$pattern”:"; cat "$work/out"; status=1; }
}
linked=$(ldd "$work/clash" | grep -c libjitwarm)
[ "$linked" = $([ "$kind" = shared ] && echo 1 || echo 0) ] || { echo "clash is linked in another way"; status=1; }
expect 0 '[1-9][0-9]* containers, 3 calls' clash "$library"

expect 0 'will compile [1-9][0-9]* modules first' startup_check "$library"

# JW_ERR_USAGE is 1: one generation where no worker is named, two where the worker is the program itself.
generations() { # COUNT MODE PATTERN STATUS
	rm -f "$work/generations.log"
	expect "$4" "$3" generations "$work/generations.log" "$2"
	local count
	count=$(stat -c %s "$work/generations.log")
	[ "$count" = "$1" ] || { echo "$2: $count generations, not $1"; status=1; }
}
generations 1 none '^open: 1 no worker is named: ' 1
generations 2 itself 'a worker starts no workers' 1
generations 2 right '^end$' 0

expect 0 'modules to compile' count_modules sm_86 "$library"
expect 0 '^[1-9][0-9]* modules compiled, 0 were there already, 0 failed' installer_step "$library"
expect 0 '^warm$' startup_check "$library"
expect 0 '^0 modules compiled, [1-9][0-9]* were there already' installer_step "$library"
rm -rf "$CUDA_CACHE_PATH"
expect 0 'will compile [1-9][0-9]* modules' startup_check "$library"
exit $status
