#!/bin/bash
# get-drivers.sh VERSION...   fetches NVIDIA's user-space driver of these versions and unpacks it
# get-drivers.sh --list       lists the available versions ("*": already here)
# get-drivers.sh --tested     fetches those that the tests are run with (tests/phantom/drivers.txt)
#
# The packages come from the non-free component of Debian, with apt in a private state folder: the system's package
# sources and lists stay as they are. The mirror is the one that this machine's own apt sources name. Nothing is
# installed, and no rights are needed. Where: $JITWARM_DRIVERS/VERSION, by default ~/.cache/jitwarm/drivers/VERSION.
# A version that is there is not fetched again; it is always complete. Several of these scripts may run at once: one works,
# the others wait.   --quiet: prints nothing unless it fails.
#
# Exit status: 0 all of them are there; 64 wrong usage; 2 cannot be had here (no apt, no Debian mirror, a version that
# is not offered); 3 failed (no network, a broken download, no space).
set -euo pipefail

self=$(basename "$0")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
store=${JITWARM_DRIVERS:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/drivers}
state=$store/.apt
# A branch's packages begin alike; libcuda itself is PREFIX-cuda1, or libcuda1 where the prefix is libnvidia.
prefixes=(libnvidia libnvidia-tesla{,-418,-450,-460,-470,-535,-550} libnvidia-legacy-390xx)
parts=(ptxjitcompiler1 nvvm4 gpucomp fatbinaryloader)
suites=(bookworm bookworm-backports trixie sid experimental)
security_suites=(bookworm-security)
lists_good_for_minutes=720

say() { [ -n "$quiet" ] || echo "$*"; }
warn() { echo "$self: $*" >&2; }
fail() { warn "$2"; exit "$1"; }
usage() { sed -n '2,4s/^# //p' "$0" >&2; exit 64; }

# A folder gets its name only when it is whole, so the two files that nothing works without are proof enough.
have()
{
	local file
	for file in "libcuda.so.$1" "libnvidia-ptxjitcompiler.so.$1"; do
		[ -d "$store/$1" ] && [ -n "$(find "$store/$1" -name "$file" -size +0 -print -quit)" ] || return 1
	done
}

# ---- arguments

asked=() list='' quiet=''
for argument in "$@"; do
	case $argument in
	-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
	--list) list=1 ;;
	--quiet) quiet=1 ;;
	--tested) mapfile -t -O ${#asked[@]} asked < <(grep -oE '^[0-9.]+' "$here/../tests/phantom/drivers.txt") ;;
	-*) usage ;;
	*[!0-9.]* | "") warn "'$argument' is not a driver's version (like 550.163.01)"; exit 64 ;;
	*) asked+=("$argument") ;;
	esac
done
[ -n "$list" ] || [ ${#asked[@]} -gt 0 ] || usage

wanted=()
missing() { local v; wanted=(); for v in ${asked[@]+"${asked[@]}"}; do have "$v" || wanted+=("$v"); done; }
missing
[ -n "$list" ] || [ ${#wanted[@]} -gt 0 ] || exit 0

# ---- apt, for us alone

for tool in apt-get apt-cache dpkg-deb flock; do
	command -v "$tool" >/dev/null || fail 2 "drivers are fetched from Debian's packages, and this machine has no $tool"
done
mkdir -p "$store" 2>/dev/null && [ -w "$store" ] || fail 3 "$store: cannot be written"
exec 9>"$store/.lock"
flock -n 9 || { warn "waiting for another run of this script"; flock 9; }
missing # the other one may have fetched them
[ -n "$list" ] || [ ${#wanted[@]} -gt 0 ] || exit 0

# shellcheck source=scripts/debian.sh
. "$here/debian.sh"
mirror=$(debian_mirror) security=$(debian_security_mirror) keyring=$(debian_keyring)
[ -n "$mirror" ] || fail 2 "no Debian mirror in this machine's apt sources"

mkdir -p "$state"/{lists/partial,cache/archives/partial,debs}
: >"$state/status"
for suite in "${suites[@]}"; do
	echo "deb [arch=amd64${keyring:+ signed-by=$keyring}] $mirror $suite non-free"
done >"$state/sources.list"
for suite in "${security_suites[@]}"; do
	echo "deb [arch=amd64${keyring:+ signed-by=$keyring}] ${security:-$mirror-security} $suite non-free"
done >>"$state/sources.list"
options=(-o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State=$state"
	-o "Dir::State::Lists=$state/lists" -o "Dir::State::Status=$state/status" -o "Dir::Cache=$state/cache"
	-o APT::Architecture=amd64 -o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1
	-o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)

have_lists() { [ -n "$(find "$state/lists" -maxdepth 1 -name '*Packages*' "$@" -print -quit)" ]; }
if ! have_lists -mmin "-$lists_good_for_minutes"; then
	say "reading Debian's package lists"
	if ! apt-get "${options[@]}" -o APT::Update::Error-Mode=any -qq update >"$state/update.log" 2>&1; then
		have_lists || fail 3 "cannot read package lists from $mirror (no network?): $(grep -m1 '^[EW]:' "$state/update.log" || true)"
		warn "some package lists could not be read; going on with those at hand ($state/update.log)"
	fi
fi

cuda_package() { [ "$1" = libnvidia ] && echo libcuda1 || echo "$1-cuda1"; }
# Lines "FULL-VERSION SUITE" of one package
offered() { apt-cache "${options[@]}" madison "$1" | awk -F'|' '{ gsub(/ /, "", $2); split($3, a, " "); print $2, a[2] }'; }

if [ -n "$list" ]; then
	for prefix in "${prefixes[@]}"; do offered "$(cuda_package "$prefix")"; done | sort -V -u | while read -r full suite; do
		version=${full%-*}
		printf '%s %-14s %-28s %s\n' "$(have "$version" && echo '*' || echo ' ')" "$version" "$full" "$suite"
	done
fi

# ---- fetch: download (apt checks sizes and hashes against the signed lists), unpack beside, look, rename

new=
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
trap 'exit 130' INT TERM

fetch()
{
	local version=$1 prefix=$2 full=$3 package deb
	new=$store/.new
	rm -rf "$new" "$state"/debs/*
	mkdir -p "$new"
	for package in "$(cuda_package "$prefix")" "${parts[@]/#/$prefix-}"; do
		offered "$package" | awk '{ print $1 }' | grep -qxF "$full" || continue # not every branch has every package
		if ! (cd "$state/debs" && apt-get "${options[@]}" -qq download "$package=$full") >"$state/download.log" 2>&1; then
			warn "$version: cannot download $package $full: $(grep -m1 '^[EW]:' "$state/download.log" || tail -1 "$state/download.log")"
			return 3
		fi
	done
	for deb in "$state"/debs/*.deb; do
		dpkg-deb -x "$deb" "$new" || { warn "$version: $(basename "$deb") cannot be unpacked (broken, or no space in $store)"; return 3; }
	done
	rm -rf "${store:?}/$version" "$state"/debs/*
	mv "$new" "$store/$version"
	have "$version" && return
	rm -rf "${store:?}/$version"
	warn "$version: its packages have no libcuda and ptxjitcompiler of this version"
	return 2
}

status=0
for version in ${wanted[@]+"${wanted[@]}"}; do
	full=''
	for prefix in "${prefixes[@]}"; do
		full=$(offered "$(cuda_package "$prefix")" | awk -v v="$version-" 'index($1, v) == 1 && !found { found = 1; print $1 }')
		[ -z "$full" ] || break
	done
	if [ -z "$full" ]; then
		warn "$version is not offered by Debian's suites (see $self --list)"
		[ $status -ne 0 ] || status=2
		continue
	fi
	if fetch "$version" "$prefix" "$full"; then
		say "$version: $store/$version"
	else
		code=$?
		[ $status -eq 3 ] || status=$code
	fi
done
exit $status
