# shellcheck shell=bash disable=SC2154
# Sourced by get-nvrtc.sh and get-nvjitlink.sh with their arguments: fetches a library of NVIDIA's from PyPI's wheels. They set:
#
#   store    where it goes, a folder for each version        package  of PyPI, without “-cu12”
#   library  its name in messages                            names    how `find` recognises its file

self=$(basename "$0")
here=
[ "${1:-}" != --here ] || { here=1; shift; }
case ${1:-} in
-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
"" | -*) sed -n '2s/^# /usage: /p' "$0" >&2; exit 64 ;;
esac

library_in() { find -L "$1" "${names[@]}" 2>/dev/null | sort | head -1 | grep .; }
new=
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
fetch() {
	local version=$1 wheel=$package
	[[ $version =~ ^[0-9]+\.[0-9]+$ ]] || { echo "$self: '$version' is not a CUDA version (like 12.4)" >&2; exit 64; }
	[ "${version%%.*}" -ge 13 ] || wheel=$package-cu${version%%.*} # PyPI's names, up to CUDA 12
	mkdir -p "$store"
	new=$(mktemp -d "$store/.new-XXXXXX")
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 -d "$new" "$wheel==$version.*" >&2 ||
		{ echo "$self: $library $version cannot be fetched" >&2; return 3; }
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
	library_in "$store/$version" || { echo "$self: $version: the wheel holds no $library" >&2; exit 3; }
done
