#!/bin/bash
# get-ptxas.sh VERSION...   fetches NVIDIA's ptxas of these CUDA versions (12.4, or 12.4.131) from PyPI's wheels
#
# Where: $JITWARM_PTXAS/VERSION/ptxas, by default ~/.cache/jitwarm/ptxas/VERSION/ptxas. A version that is there is
# not fetched again; it is always complete. Nothing is installed. Prints the path of each.
#
# Exit status: 0 all of them are there; 64 wrong usage; 3 failed.
set -euo pipefail

self=$(basename "$0")
store=${JITWARM_PTXAS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ptxas}
case ${1:-} in
-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
"" | -*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
esac

new=
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
fetch()
{
	local version=$1 wanted package
	case $version in
	*[!0-9.]* | *.*.*.* | .* | *.) echo "$self: '$version' is not a CUDA version (like 12.4)" >&2; exit 64 ;;
	*.*.*) wanted=$version ;;
	*.*) wanted="$version.*" ;;
	*) echo "$self: '$version' is not a CUDA version (like 12.4)" >&2; exit 64 ;;
	esac
	[ ! -x "$store/$version/ptxas" ] || return 0
	package=nvidia-cuda-nvcc
	[ "${version%%.*}" -ge 13 ] || package=$package-cu${version%%.*} # PyPI's names, up to CUDA 12
	mkdir -p "$store"
	new=$(mktemp -d "$store/.new-XXXXXX")
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 -d "$new" "$package==$wanted" >&2 ||
		{ echo "$self: ptxas $version cannot be fetched" >&2; return 3; }
	python3 - "$new" <<-'P' || { echo "$self: $version: the wheel holds no ptxas" >&2; return 3; }
		import glob, os, sys, zipfile
		folder = sys.argv[1]
		[wheel] = glob.glob(folder + "/*.whl")
		with zipfile.ZipFile(wheel) as archive:
		    [name] = [n for n in archive.namelist() if n.endswith("/bin/ptxas")]
		    with open(folder + "/ptxas", "wb") as file:
		        file.write(archive.read(name))
		os.remove(wheel)
	P
	chmod 755 "$new" "$new/ptxas"
	mv -T "$new" "$store/$version" 2>/dev/null || [ -x "$store/$version/ptxas" ] # another run was faster
}
for version in "$@"; do
	fetch "$version"
	echo "$store/$version/ptxas"
done
