#!/usr/bin/env bash
# release.sh [--key KEY | --no-sign] [-o FOLDER] VERSION   makes a release of the last commit, and does everything but publish it
# release.sh --dry-run [--no-sign] [-o FOLDER]             does so for the version in CHANGELOG.md; only FOLDER stays
# release.sh --rebuild [-o FOLDER]                         in a checkout of a release's tag: builds its files again, and compares them with
#                                                          those that the tag lists
#
# It works in a clone: the numbers go into include/jitwarm/version.h, the date into CHANGELOG.md; all packages are built (package.sh) and
# built again elsewhere (reproducible.sh); SHA256SUMS is signed; each package is installed from its file alone if that can be done here
# (Debian 12 and 13, musl, arm64 under an emulator, Wine), and there prints its version, scans and checks. Only if all of this passed, the
# commit and the tag vVERSION come into this repository, and the files into FOLDER (dist). The tag lists the files with their sums
# and the signature; the last line of the output says what is left to do.
#
# --key      minisign's secret key that belongs to public_key of packaging/release.conf. git signs the tag with its own (user.signingkey)
# --no-sign  signs neither the files nor the tag
# --dry-run  if packaging/release.conf lacks a value, an example replaces it; the key is made here
# Needs root. Last line: “stages: N passed, N failed, N skipped”. Exit status: 0; 1 a stage failed; 3 something is missing; 64 wrong usage.
# shellcheck disable=SC2317 # functions are called by name
set -uo pipefail

usage() { sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
wrong() { echo "release.sh: $*" >&2; exit 64; }
lacks() { echo "release.sh: $*" >&2; exit 3; }
key='' sign=1 dry='' rebuild='' out='' version=''
while [ $# -gt 0 ]; do
	case $1 in
	--key | -o) [ -n "${2-}" ] || wrong "$1 wants a value" ;;&
	--key) [ -f "$2" ] || wrong "there is no key $2"; key=$(realpath "$2"); shift ;;
	-o) out=$(realpath -m "$2"); shift ;;
	--no-sign) sign='' ;;
	--dry-run) dry=1 ;;
	--rebuild) rebuild=1 ;;
	-*) usage ;;
	*) [ -z "$version" ] || usage; version=$1 ;;
	esac
	shift
done
cd "$(dirname "$0")/.." || exit 1
repository=$PWD
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
out=${out:-$PWD/dist}
[ -z "$(ls -A "$out" 2>/dev/null)" ] || wrong "$out has files in it"
values=(homepage url publisher identifier maintainer public_key image)

# ---- --rebuild: the files of a tag once more

if [ -n "$rebuild" ]; then
	[ -z "$version$dry$key" ] || usage
	tag=$(git describe --exact-match --match 'v*' 2>/dev/null) || wrong "the last commit has no tag v…"
	listed=$(git tag -l --format='%(contents:body)' "$tag")
	scripts/setup.sh --windows --release || exit 3
	mkdir -p "$out"
	scripts/package.sh -o "$out" "${release_targets[@]}" || exit 1
	if ! diff <(grep -E '^[0-9a-f]{64}  ' <<<"$listed") "$out/SHA256SUMS"; then
		echo "release.sh: these files are not those that $tag lists: see scripts/reproducible.sh, and whether Debian has newer libraries" >&2
		exit 1
	fi
	sed -n '/^untrusted comment:/,$p' <<<"$listed" | grep . >"$out/SHA256SUMS.minisig" || lacks "$tag has no signature of minisign"
	minisign -Vq -P "$(release_value public_key)" -m "$out/SHA256SUMS" || exit 1
	echo "release.sh: the files of $tag are in $out"
	exit
fi

# ---- checks of errors that would end the release an hour later

[ -n "$version" ] || [ -z "$dry" ] || version=$(sed -nE '/^## /{s/^## ([^ ]+).*/\1/p;q}' CHANGELOG.md)
[[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || wrong "not a version, as in 1.2.3: “$version”"
numbers=("${BASH_REMATCH[@]:1}")
if [ -z "$dry" ]; then
	git diff --quiet HEAD || wrong "there are changes that are not committed"
	! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || wrong "there is a tag v$version"
	grep -qx "## $version (unreleased)" CHANGELOG.md || wrong "CHANGELOG.md has no heading “## $version (unreleased)”"
	for name in "${values[@]}"; do [ -n "$(release_value "$name")" ] || wrong "packaging/release.conf has no $name"; done
	[ -z "$sign" ] || [ -n "$key" ] || wrong "--key KEY or --no-sign"
fi
[ "$(id -u)" = 0 ] || lacks "it needs root, for the systems in which packages are tried"
scripts/setup.sh --tests --all --windows --release || exit 3
store=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
mkdir -p "$store"
work=$(mktemp -d "$store/.release-XXXXXX") || exit 1
server=''
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
export DISPLAY='' WINEDEBUG=${WINEDEBUG:--all}
if [ -n "$sign" ] && [ -n "$key" ]; then
	minisign -R -s "$key" -p "$work/key.pub" >/dev/null || wrong "$key is not a secret key of minisign, or its password is another one"
	[ "$(tail -n 1 "$work/key.pub")" = "$(release_value public_key)" ] || wrong "$key is not the key of public_key in packaging/release.conf"
elif [ -n "$dry" ]; then
	key=$work/key
	minisign -G -W -p "$work/key.pub" -s "$key" >/dev/null 2>&1 || lacks "minisign makes no key"
fi

# ---- the commit

git clone -q . "$work/clone" && cd "$work/clone" || exit 1
# trial.sh uses the phantom GPU for trials under NVIDIA's driver.
[ ! -d "$repository/build/release/tests/phantom" ] || { mkdir build && ln -s "$repository/build/release" build/release; }
who=(-c "user.name=$(git -C "$repository" config user.name || git log -1 --format=%an)" -c "user.email=$(git -C "$repository" config user.email || git log -1 --format=%ae)")
today=$(date -u +%Y-%m-%d)
for i in 0 1 2; do
	part=(MAJOR MINOR PATCH)
	sed -i -E "s/^(#define JW_VERSION_${part[i]}) .*/\1 ${numbers[i]}/" include/jitwarm/version.h
done
sed -i "s/^## $version (unreleased)\$/## $version ($today)/" CHANGELOG.md
grep -qE "^## $version \([0-9-]+\)\$" CHANGELOG.md || wrong "CHANGELOG.md has no heading for $version"
# A sentence that the pages have only from the first release on is a comment in them before.
sed -i '/^<!-- until the first release -->$/,/^<!-- from the first release on$/d; /^<!-- from the first release on$/d; /^from the first release on -->$/d' README*.md docs/install.md
if [ -n "$dry" ]; then
	example=(https://example.invalid/jitwarm https://example.invalid/jitwarm/vVERSION "Example Publisher" Example.jitwarm
		"Example Publisher <packages@example.invalid>" "$(tail -n 1 "$work/key.pub")" registry.example/jitwarm)
	for i in "${!values[@]}"; do
		[ -n "$(release_value "${values[i]}")" ] && [ "${values[i]}" != public_key ] || sed -i "s|^${values[i]}=.*|${values[i]}=${example[i]}|" packaging/release.conf
	done
fi
git "${who[@]}" commit -qam "Release $version" || exit 1

# ---- the files, each of which is tried

packages=$work/dist
built_twice() { scripts/reproducible.sh "$packages"; }
signature() {
	[ -n "$sign" ] || return 77
	minisign -S -s "$key" -m "$packages/SHA256SUMS" -t "jitwarm $version" && minisign -Vq -P "$(release_value public_key)" -m "$packages/SHA256SUMS"
}
# own_installer: install.sh as users get it, with another address
own_installer() {
	local prefix=$work/prefix
	[ -n "$sign" ] || return 77
	python3 -u -m http.server -b 127.0.0.1 -d "$packages" 0 >"$work/server" 2>&1 &
	server=$!
	until grep -q ' port ' "$work/server"; do kill -0 $server 2>/dev/null || return 1; sleep 0.1; done
	JITWARM_BASE_URL=http://127.0.0.1:$(sed -nE 's/.* port ([0-9]+) .*/\1/p' "$work/server") sh "$packages/install.sh" --prefix "$prefix" &&
		"$prefix/bin/jitwarm" --version && "$prefix/bin/jitwarm" scan build/linux-x86_64/tests/framework/libsample_framework.so --target sm_86 &&
		sh "$packages/install.sh" --prefix "$prefix" --uninstall
	local status=$?
	kill "$server" && server=''
	return $status
}
try() { scripts/try.sh "$1" "$packages${3-}" "build/linux-$2" "${@:4}"; }
stage "packages" scripts/package.sh -o "$packages" "${release_targets[@]}" || { stages_end; exit 1; }
stage "built twice" built_twice
stage "signature" signature
stage "install.sh" own_installer
stage "deb" try deb x86_64 '' bookworm trixie
stage "rpm" try rpm x86_64
stage "conda" try conda x86_64
stage "archive" try archive x86_64 "/jitwarm-$version-linux-x86_64.tar.zst" bookworm trixie
for kind in install wheel; do
	stage "$kind" try $kind x86_64 '' bookworm trixie
	stage "$kind, musl" try $kind x86_64-musl '' musl
	stage "$kind, arm64" try $kind aarch64 '' bookworm-arm64
	stage "$kind, musl on arm64" try $kind aarch64-musl '' musl-arm64
done
stage "Windows" scripts/try-windows-package.sh build/windows files "$packages"
stage "image" tests/fleet/image.sh build/linux-x86_64 "$packages/jitwarm-$version-image.tar"
stage "uvx and pip" tests/install/test_wheel.sh "$packages"
stage "manifests" tests/install/test_manifests.py "$packages"
stages_end || exit 1

# ---- the results that stay

rmdir "$out" 2>/dev/null
mkdir -p "${out%/*}" && mv "$packages" "$out" || exit 1
if [ -z "$dry" ]; then
	printf 'jitwarm %s\n\n' "$version" | cat - "$out/SHA256SUMS" "$out"/SHA256SUMS.minisi[g] >"$work/message" 2>/dev/null
	cd "$repository" && git fetch -q "$work/clone" HEAD &&
		git tag "$([ -n "$sign" ] && echo -s || echo -a)" --cleanup=verbatim -F "$work/message" "v$version" FETCH_HEAD && git merge -q --ff-only FETCH_HEAD || exit 1
	echo "release.sh: the files are in $out. To publish them: git push --atomic origin HEAD v$version"
	stages_end
fi
