#!/usr/bin/env bash
# package.sh [-o FOLDER] [--sign KEY --url URL] [TARGET...]   builds the packages that users install, into dist (or FOLDER)
# package.sh installer URL PUBLIC-KEY VERSION                 prints install.sh of one release; PUBLIC-KEY is the last line of minisign's .pub file
#
# --sign   a secret key of minisign: signs SHA256SUMS, and makes install.sh, which fetches from URL (VERSION in it is replaced) and checks
#          that signature
#
# TARGET: x86_64 (default), aarch64, x86_64-musl or aarch64-musl (scripts/build-linux.sh), windows (scripts/build-windows.sh; needs
# nsis, wixl and msitools), deb (packages for this machine's release of Debian, from the last commit in a folder of its own; needs
# debhelper, and what packaging/debian/control names), rpm and conda (of x86_64's archive in the folder, which is made before where it
# is missing; rpm needs rpmbuild; JITWARM_URL is the project's address). Of each:
#
#   jitwarm-VERSION-linux-MACHINE.tar.zst, .tar.gz  program, man pages, completions, licences
#   jitwarm-VERSION-py3-none-PLATFORM.whl       the wheel: program and Python API
#   the name of a package and .spdx.json        what was linked in (SPDX)
#   jitwarm_VERSION_ARCH.deb                    the command
#   jitwarm-VERSION-1.x86_64.rpm                the command, for any release with glibc 2.17 or newer
#   jitwarm-VERSION-windows-x64.zip, -setup.exe, .msi   scripts/package-windows.sh says more; signed where JITWARM_PFX names a key
#   scoop, winget                               manifests, where --url, JITWARM_URL and JITWARM_PUBLISHER are given
#   jitwarm-VERSION-….conda                     of x86_64's archive, by rattler-build, which comes from pip
#   SHA256SUMS                                  of all that is in the folder
#
# The same commit gives the same bytes in any folder, but for signed programs.
set -euo pipefail

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 64; }
wrong() { echo "package.sh: $*" >&2; exit 64; }
installer() { # URL PUBLIC-KEY VERSION
	# What would end a word of the script is in none of them.
	[[ $1 =~ ^https?://[A-Za-z0-9._~:/%@+-]+$ ]] || wrong "not a plain address: $1"
	[[ $2 =~ ^RW[A-Za-z0-9+/]{54}$ ]] || wrong "not a public key of minisign: $2"
	[[ $3 =~ ^[0-9]+(\.[0-9]+)*$ ]] || wrong "not a version: $3"
	sed -e "s|^base=.*|base=\${JITWARM_BASE_URL:-${1//VERSION/$3}}|" -e "s|^public_key=.*|public_key=\${JITWARM_PUBLIC_KEY:-$2}|" \
		-e "s|^version=.*|version=\${JITWARM_VERSION:-$3}|" "$(dirname "$0")/../packaging/install.sh"
}
if [ "${1-}" = installer ]; then
	[ $# = 4 ] || usage
	installer "${@:2}"
	exit
fi
out=dist key='' url='' targets=()
while [ $# -gt 0 ]; do
	case $1 in -o | --sign | --url) [ -n "${2-}" ] || wrong "$1 wants a value" ;; esac
	case $1 in
	-o) out=$(realpath -m "$2"); shift ;;
	--sign) key=$(realpath "$2"); shift ;;
	--url) url=$2; shift ;;
	x86_64 | aarch64 | x86_64-musl | aarch64-musl | windows | deb | rpm | conda) targets+=("$1") ;;
	-*) usage ;;
	*) wrong "no target $1; --help names them" ;;
	esac
	shift
done
[ ${#targets[@]} -gt 0 ] || targets=(x86_64)
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=${JITWARM_PACKAGE_VERSION:-$(sed -nE 's/^#define JW_VERSION_(MAJOR|MINOR|PATCH) +([0-9]+)$/\2/p' include/jitwarm/version.h | paste -sd.)} # another one: for trials of upgrades
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Before anything is built: what is wrong with the key or the address would end it an hour later
if [ -n "$key" ]; then
	[ -f "$key" ] || wrong "there is no key $key"
	[ -n "$url" ] || wrong "--sign needs --url: the address where install.sh will find the release"
	command -v minisign >/dev/null || { echo "package.sh: minisign is missing: apt-get install minisign" >&2; exit 3; }
	minisign -R -s "$key" -p "$work/key.pub" >/dev/null || wrong "$key is not a secret key of minisign, or its password is another one"
	installer "$url" "$(tail -n 1 "$work/key.pub")" "$version" >"$work/install.sh"
fi

pack_linux() { # TARGET
	local build=build/linux-$1 name=jitwarm-$version-linux-$1 platform=manylinux_2_17_$1.manylinux2014_$1 root archive runs
	case $1 in *-musl) platform=musllinux_1_2_${1%-musl} ;; esac
	scripts/build-linux.sh --machine "$1" -B "$build"
	# The help texts are those of every machine.
	runs=$build/jitwarm
	if [ "$1" != "$(uname -m)" ]; then
		runs=build/linux-$(uname -m)/jitwarm
		scripts/build-linux.sh --machine "$(uname -m)" -B "${runs%/*}"
	fi
	root=$work/$name archive=$out/$name.tar.zst
	mkdir -p "$root"/{bin,share/man/man1,share/man/ko/man1,share/doc/jitwarm,share/jitwarm} \
		"$root"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
	install -m 755 "$build/jitwarm" "$root/bin/jitwarm"
	scripts/make-documents.sh man "$runs" "$root/share/man/man1"
	cp docs/man/jitwarm.1 "$root/share/man/man1/"
	scripts/make-documents.sh man "$runs" "$root/share/man/ko/man1" ko
	cp docs/man/ko/jitwarm.1 "$root/share/man/ko/man1/"
	cp data/completions/jitwarm.bash "$root/share/bash-completion/completions/jitwarm"
	cp data/completions/jitwarm.zsh "$root/share/zsh/site-functions/_jitwarm"
	cp data/completions/jitwarm.fish "$root/share/fish/vendor_completions.d/"
	cp -r data/schemas "$root/share/jitwarm/"
	cat LICENSE packaging/licences/*.txt packaging/linux/licences.txt >"$root/share/doc/jitwarm/LICENSE"
	cp README.md CHANGELOG.md "$build/libraries.txt" "$root/share/doc/jitwarm/" # of the libraries rpm and conda make their SBOM
	find "$root" -type d -exec chmod 755 {} + -o -type f ! -path "$root/bin/*" -exec chmod 644 {} +
	tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$name" |
		zstd -q -19 -T1 >"$archive"
	zstd -qdc "$archive" | gzip -9n >"${archive%.zst}.gz" # for install.sh: not every system has zstd
	scripts/make-sbom.py "$build/libraries.txt" "$archive" >"$archive.spdx.json"
	wheel "$build/libraries.txt" "$root/bin/jitwarm" "$platform"
	printf 'package: %s (%d bytes; program %d bytes)\n' "$archive" "$(stat -c %s "$archive")" "$(stat -c %s "$root/bin/jitwarm")"
}
wheel() { # LIBRARIES PROGRAM PLATFORM
	local made
	made=$(scripts/make-wheel.py "$2" "$3" "$out")
	scripts/make-sbom.py "$1" "$made" >"$made.spdx.json"
	echo "package: $made ($(stat -c %s "$made") bytes)"
}
pack_deb() {
	local tree=$work/jitwarm-$version made
	command -v dh >/dev/null || { echo "package.sh: debhelper is missing: apt-get install debhelper" >&2; exit 3; }
	debian_tree "$tree" "$version"
	if ! (cd "$tree" && DEB_BUILD_OPTIONS="noautodbgsym parallel=${JITWARM_JOBS:-2}" dpkg-buildpackage -b -us -uc) >"$work/deb.log" 2>&1; then
		tail -n 30 "$work/deb.log" >&2
		echo "package.sh: the Debian packages could not be built" >&2
		exit 3
	fi
	(cd "$work" && printf "package: %s\n" *.deb)
	for made in "$work"/*.deb; do
		linked "$made" >"$work/linked"
		mv "$made" "$out/"
		scripts/make-sbom.py "$work/linked" "$out/${made##*/}" >"$out/${made##*/}.spdx.json"
	done
}
# The source packages of what a Debian package depends on, in the versions that it was built with
linked() { # DEB
	printf 'shared, by Debian:'
	dpkg-deb -f "$1" Depends | tr ',' '\n' | sed -E 's/^ *([a-z0-9.+-]+).*/\1/' |
		xargs dpkg-query -W -f ' ${source:Package}=${source:Version}\n' | LC_ALL=C sort -u | tr -d '\n'
	echo
}
# of_archive ARCHIVE PACKAGE: the SBOM of a package that has the program of that archive
of_archive() {
	tar -xzOf "$1" --wildcards '*/share/doc/jitwarm/libraries.txt' >"$work/linked" && scripts/make-sbom.py "$work/linked" "$2" >"$2.spdx.json"
}

pack_rpm() {
	local archive=$out/jitwarm-$version-linux-x86_64.tar.gz top=$work/rpm packager
	command -v rpmbuild >/dev/null || { echo "package.sh: rpmbuild is missing: apt-get install rpm" >&2; exit 3; }
	[ -f "$archive" ] || pack_linux x86_64
	packager=${JITWARM_MAINTAINER:-$(git log -1 --format='%an <%ae>')}
	mkdir -p "$top/SOURCES"
	cp "$archive" "$top/SOURCES/"
	{
		cat packaging/rpm/jitwarm.spec
		printf '\n%%changelog\n* %s %s - %s-1\n- CHANGELOG.md says what is new\n' "$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')" "$packager" "$version"
	} >"$top/jitwarm.spec"
	if ! rpmbuild --define "_topdir $top" --define "jitwarm_version $version" --define "packager $packager" ${JITWARM_URL:+--define "jitwarm_url $JITWARM_URL"} \
		--define "_buildhost reproducible" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --target x86_64 -bb "$top/jitwarm.spec" >"$work/rpm.log" 2>&1; then
		tail -n 30 "$work/rpm.log" >&2
		echo "package.sh: the RPM package could not be built" >&2
		exit 3
	fi
	cp "$top"/RPMS/x86_64/*.rpm "$out/"
	of_archive "$archive" "$out/jitwarm-$version-1.x86_64.rpm"
	echo "package: $out/jitwarm-$version-1.x86_64.rpm"
}

pack_conda() {
	local tools=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/conda archive=$out/jitwarm-$version-linux-x86_64.tar.gz
	[ -f "$archive" ] || pack_linux x86_64
	if [ ! -x "$tools/bin/python" ] || ! "$tools/bin/python" -c 'import rattler_build' 2>/dev/null; then
		python3 -m venv "$tools" && "$tools/bin/pip" install -q py-rattler-build==0.73.0 >"$work/conda.log" 2>&1 ||
			{ tail -n 5 "$work/conda.log" >&2; echo "package.sh: rattler-build cannot be had" >&2; exit 3; }
	fi
	JITWARM_VERSION=$version JITWARM_ARCHIVE=$archive "$tools/bin/python" scripts/make-conda.py "$work/conda" "$out" >"$work/conda.log" 2>&1 ||
		{ tail -n 30 "$work/conda.log" >&2; echo "package.sh: the conda package could not be built" >&2; exit 3; }
	of_archive "$archive" "$(sed -nE '$s/^package: (.*) \([0-9]+ bytes\)$/\1/p' "$work/conda.log")"
	tail -n 1 "$work/conda.log"
}
pack_windows() {
	local made libraries=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/windows/current/complete manifests=()
	scripts/build-windows.sh
	wheel "$libraries" build/windows/jitwarm.exe win_amd64
	[ -z "$url" ] || [ -z "${JITWARM_URL:-}" ] || [ -z "${JITWARM_PUBLISHER:-}" ] ||
		manifests=(--url "$url" --homepage "$JITWARM_URL" --publisher "$JITWARM_PUBLISHER")
	scripts/package-windows.sh --installers -o "$out" ${JITWARM_PFX:+--sign "scripts/package-windows.sh sign"} "${manifests[@]}"
	for made in "$out/jitwarm-$version-windows-x64"{.zip,-setup.exe,.msi}; do scripts/make-sbom.py "$libraries" "$made" >"$made.spdx.json"; done
}

for target in "${targets[@]}"; do
	case $target in
	deb) pack_deb ;;
	rpm) pack_rpm ;;
	windows) pack_windows ;;
	conda) pack_conda ;;
	*) pack_linux "$target" ;;
	esac
done

[ -z "$key" ] || cp "$work/install.sh" "$out/install.sh"
# A signature of the former list would have install.sh refuse the new one
if [ -z "$key" ] && [ -e "$out/SHA256SUMS.minisig" ]; then
	rm "$out/SHA256SUMS.minisig"
	echo "package.sh: SHA256SUMS is not signed any more: --sign KEY --url URL, with the last target, signs it" >&2
fi
(cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%f\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS)
[ -z "$key" ] || minisign -S -s "$key" -m "$out/SHA256SUMS" -t "jitwarm $version"
