#!/bin/bash
# get-nvjitlink.sh [--here] VERSION...   fetches NVIDIA's nvJitLink of these CUDA versions (12.4) from PyPI's wheels
#
# Where: $JITWARM_NVJITLINK/VERSION, by default ~/.cache/jitwarm/nvjitlink/VERSION. A version that is there is not fetched again; it is
# always complete. Nothing is installed. Prints the path of each library.
# --here: fetches nothing; also looks into /usr/local/cuda-VERSION.
#
# Exit status: 0 all of them are there; 64 wrong usage; 3 failed, or not here.
set -euo pipefail

self=$(basename "$0")
store=${JITWARM_NVJITLINK:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/nvjitlink}
here=
[ "${1:-}" != --here ] || { here=1; shift; }
case ${1:-} in
-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
"" | -*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
esac

library_in() { find -L "$@" -name 'libnvJitLink.so.*' 2>/dev/null | sort | head -1 | grep .; }
new=
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
fetch()
{
	local version=$1 package=nvidia-nvjitlink
	case $version in
	*) [[ $version =~ ^[0-9]+\.[0-9]+$ ]] ||
		{ echo "$self: '$version' is not a CUDA version (like 12.4)" >&2; exit 64; } ;;
	esac
	[ "${version%%.*}" -ge 13 ] || package=$package-cu${version%%.*} # PyPI's names, up to CUDA 12
	mkdir -p "$store"
	new=$(mktemp -d "$store/.new-XXXXXX")
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 -d "$new" "$package==$version.*" >&2 ||
		{ echo "$self: nvJitLink $version cannot be fetched" >&2; return 3; }
	python3 -m zipfile -e "$new"/*.whl "$new" && rm "$new"/*.whl && chmod 755 "$new"
	mv -T "$new" "$store/$version" 2>/dev/null || [ -d "$store/$version" ] # another run was faster
}
for version in "$@"; do
	library_in "$store/$version" && continue
	if [ -n "$here" ]; then
		library_in "/usr/local/cuda-$version/lib64" || exit 3
		continue
	fi
	fetch "$version"
	library_in "$store/$version" || { echo "$self: $version: the wheel holds no nvJitLink" >&2; exit 3; }
done
