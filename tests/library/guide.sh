#!/bin/bash
# guide.sh   every program of docs/library.md compiles against the installed library without a warning
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk -v to="$work" '/^```c$/ { file = sprintf("%s/%d.c", to, ++count); next } /^```$/ { file = "" } file { print > file }' "$root/docs/library.md"
[ "$(find "$work" -name '*.c' | wc -l)" -ge 4 ] || { echo "hardly a program in docs/library.md"; exit 1; }
status=0
for program in "$work"/*.c; do
	PKG_CONFIG_PATH=$PREFIX/$LIBDIR/pkgconfig
	export PKG_CONFIG_PATH
	# shellcheck disable=SC2046
	"$CC" -std=c11 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags jitwarm) -c "$program" -o "$work/o" || { cat "$program"; status=1; }
done
exit $status
