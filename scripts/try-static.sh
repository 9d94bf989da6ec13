#!/usr/bin/env bash
# try-static.sh   links the first program of docs/library.md with libjitwarm, and with all else statically, and runs it
#
# Few systems have static libraries of everything: the library, those behind it and the C library are those of build-linux.sh --machine
# x86_64-musl.
# Exit status: 0; 1 something failed.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/linux-x86_64-musl
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
store=$cache/linux/x86_64-musl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
scripts/build-linux.sh --machine x86_64-musl -B "$build"
export ZIG_GLOBAL_CACHE_DIR=$cache/zig/cache
cmake --build "$build" --target jitwarm jitwarm_static jitwarm_shared >"$work/log" 2>&1 && cmake --install "$build" --prefix "$work/prefix" >>"$work/log" 2>&1 ||
	{ tail -n 20 "$work/log" >&2; exit 1; }
awk '/^```c$/ { n++; next } /^```$/ { if (n == 1) exit } n == 1' docs/library.md >"$work/app.c"
# That compiler, without its -dynamic
sed 's/ -dynamic / /' "$store/tools/x86_64-linux-musl-clang" >"$work/cc" && chmod +x "$work/cc"
export PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$work/prefix/lib/pkgconfig:$store/current/lib/pkgconfig PATH=$work:$PATH
cd "$work"
# shellcheck disable=SC2046
cc -static app.c $(pkg-config --static --cflags --libs jitwarm)
! readelf -d a.out | grep -E 'NEEDED|INTERP' || { echo "try-static.sh: it is not static" >&2; exit 1; }
status=0
HOME=$work ./a.out || status=$?
[ $status = 2 ] || [ $status = 3 ] || [ $status = 0 ] || { echo "try-static.sh: the program ended with $status" >&2; exit 1; }
echo "try-static.sh: linked ($(stat -c %s a.out) bytes), and runs"
