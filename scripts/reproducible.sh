#!/usr/bin/env bash
# reproducible.sh FOLDER [TARGET...]   builds the packages of FOLDER once more, elsewhere, and compares them byte for byte
#
# scripts/package.sh has made those in FOLDER from the last commit. TARGET is one of its targets (default: all). Here they are built in a clone whose folder has
# a longer name, in another time zone and language, with another umask and without ccache. It names files that differ, and in an archive
# its members.
# Exit status: 0; 1 something differs or was not built; 64 wrong usage.
set -uo pipefail

[ $# -ge 1 ] && [ -d "$1" ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
first=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
shift
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${release_targets[@]}")
for target in "${targets[@]}"; do [[ " ${release_targets[*]} " = *" $target "* ]] || { echo "reproducible.sh: no target $target: ${release_targets[*]}" >&2; exit 64; }; done
work=$(mktemp -d -p "${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm" ".again-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 same=0

# again TARGET: builds it in the clone
again() {
	umask 077
	[ -d "$work/a clone/tree" ] || git clone -q . "$work/a clone/tree" || return 1
	cd "$work/a clone/tree" && env -u CMAKE_C_COMPILER_LAUNCHER CCACHE_DISABLE=1 TZ=Pacific/Auckland LC_ALL=C.UTF-8 LANGUAGE=ko scripts/package.sh -o "$work/dist" "$1"
}
files_of() { # ARCHIVE: its files' sums
	local folder
	folder=$(mktemp -d -p "$work")
	case $1 in
	*.tar.*) tar -C "$folder" -xf "$1" ;;
	*.deb) dpkg-deb -R "$1" "$folder" ;;
	*.whl | *.zip | *.conda) python3 -I -m zipfile -e "$1" "$folder" ;;
	*.msi) msiextract -C "$folder" "$1" >/dev/null && msiinfo export "$1" Property >"$folder/Property" ;;
	*) return ;;
	esac
	(cd "$folder" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
	rm -rf "$folder"
}
declare -A compared
# compare TARGET: compares the new files of the second folder
compare() {
	local file name before=$same
	for file in "$work"/dist/*; do
		name=${file##*/}
		[ -f "$file" ] && [ "$name" != SHA256SUMS ] && [ -z "${compared[$name]-}" ] || continue
		compared[$name]=1
		if cmp -s "$first/$name" "$file"; then
			same=$((same + 1))
			continue
		fi
		failed=1
		[ -f "$first/$name" ] || { echo "reproducible.sh: $first has no $name: scripts/package.sh -o makes it first"; continue; }
		echo "reproducible.sh: $name differs: $(cmp "$first/$name" "$file" 2>&1 | sed 's/.* differ: //')"
		diff <(files_of "$first/$name") <(files_of "$file") | sed -n 's/^[<>] [0-9a-f]*  /    /p' | sort -u | head -n 20
	done
	echo "reproducible.sh: $1: $((same - before)) files are the same"
}
for target in "${targets[@]}"; do
	(again "$target") >"$work/log" 2>&1 || { tail -n 20 "$work/log"; echo "reproducible.sh: $target: not built"; failed=1; }
	compare "$target"
done
[ $same -gt 0 ] || failed=1
exit $failed
