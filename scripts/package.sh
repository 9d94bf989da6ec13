#!/usr/bin/env bash
# package.sh [-o FOLDER] [TARGET...]             builds the packages that users install, into dist (or FOLDER)
# package.sh installer URL PUBLIC-KEY VERSION    prints install.sh of one release; PUBLIC-KEY is the last line of minisign's .pub file
#
# scripts/release.sh builds all of them, signs them, and tries them. packaging/release.conf says who publishes them.
#
# TARGET: x86_64 (default), aarch64, x86_64-musl or aarch64-musl (scripts/build-linux.sh), windows (scripts/build-windows.sh; needs
# nsis, wixl and msitools), deb (for this machine's release of Debian; needs debhelper, and what packaging/debian/control names),
# source, and those that are made of others, which are built before if the folder lacks them: rpm (needs rpmbuild), conda and image.
# manifests are made of the folder's files, and need packaging/release.conf. deb and source are of the last commit. The files:
#
#   jitwarm-VERSION.tar.gz                      the source
#   jitwarm-VERSION-linux-MACHINE.tar.zst, .tar.gz  program, man pages, completions, licences
#   jitwarm-VERSION-py3-none-PLATFORM.whl       the wheel: program and Python API
#   the name of a package and .spdx.json        the libraries that it contains (SPDX)
#   jitwarm_VERSION_ARCH.deb                    the command
#   jitwarm-VERSION-1.x86_64.rpm                the command, for any release with glibc 2.17 or newer
#   jitwarm-VERSION-windows-x64.zip, -setup.exe, .msi   scripts/package-windows.sh says more; signed if JITWARM_PFX names a key
#   jitwarm-VERSION-….conda                     of x86_64's archive, by rattler-build, which comes from pip
#   jitwarm-VERSION-image.tar                   the container image of x86_64's and aarch64's programs (scripts/make-image.py)
#   jitwarm-VERSION-manifests.zip               for winget, Scoop, Homebrew and conda-forge (scripts/make-manifests.py)
#   install.sh                                  if packaging/release.conf has an address and a key
#   SHA256SUMS                                  the sums of all files in the folder
#
# The same commit gives the same bytes in any folder, except signed programs.
set -euo pipefail

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 64; }
wrong() { echo "package.sh: $*" >&2; exit 64; }
missing() { echo "package.sh: $*" >&2; exit 3; }
installer() { # URL PUBLIC-KEY VERSION
	# No value has a character that would end a word of the script.
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
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
out=dist targets=()
while [ $# -gt 0 ]; do
	case $1 in
	-o) [ -n "${2-}" ] || wrong "$1 wants a value"; out=$(realpath -m "$2"); shift ;;
	-*) usage ;;
	*) [[ " ${release_targets[*]} " = *" $1 "* ]] || wrong "no target $1; --help names them"; targets+=("$1") ;;
	esac
	shift
done
[ ${#targets[@]} -gt 0 ] || targets=(x86_64)
cd "$(dirname "$0")/.."
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(release_version)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# This comes before the builds, since a wrong address would end the script an hour later.
[ -z "$(release_value url)" ] || [ -z "$(release_value public_key)" ] || installer "$(release_value url)" "$(release_value public_key)" "$version" >"$work/install.sh"

pack_source() {
	local archive=$out/jitwarm-$version.tar.gz
	git archive --prefix="jitwarm-$version/" HEAD | gzip -9n >"$archive"
	echo "package: $archive ($(stat -c %s "$archive") bytes)"
}
pack_linux() { # TARGET
	local build=build/linux-$1 name=jitwarm-$version-linux-$1 platform=manylinux_2_17_$1.manylinux2014_$1 root archive runs
	case $1 in *-musl) platform=musllinux_1_2_${1%-musl} ;; esac
	scripts/build-linux.sh --machine "$1" -B "$build"
	# The help texts are the same on every machine.
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
	cp README.md CHANGELOG.md "$build/libraries.txt" "$root/share/doc/jitwarm/" # rpm and conda make their SBOM from the list of libraries
	find "$root" -type d -exec chmod 755 {} + -o -type f ! -path "$root/bin/*" -exec chmod 644 {} +
	tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$name" |
		zstd -q -19 -T1 >"$archive"
	zstd -qdc "$archive" | gzip -9n >"${archive%.zst}.gz" # install.sh takes this form, since some systems lack zstd
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
	command -v dh >/dev/null || missing "debhelper is missing: apt-get install debhelper"
	debian_tree "$tree" "$version"
	if ! (cd "$tree" && DEB_BUILD_OPTIONS="noautodbgsym parallel=${JITWARM_JOBS:-2}" dpkg-buildpackage -b -us -uc) >"$work/deb.log" 2>&1; then
		tail -n 30 "$work/deb.log" >&2
		missing "the Debian package could not be built"
	fi
	(cd "$work" && printf "package: %s\n" *.deb)
	for made in "$work"/*.deb; do
		linked "$made" >"$work/linked"
		mv "$made" "$out/"
		scripts/make-sbom.py "$work/linked" "$out/${made##*/}" >"$out/${made##*/}.spdx.json"
	done
}
# linked DEB: prints the source packages of the package's dependencies, in the versions with which it was built
linked() {
	printf 'shared, by Debian:'
	dpkg-deb -f "$1" Depends | tr ',' '\n' | sed -E 's/^ *([a-z0-9.+-]+).*/\1/' |
		xargs dpkg-query -W -f ' ${source:Package}=${source:Version}\n' | LC_ALL=C sort -u | tr -d '\n'
	echo
}
# of_archive ARCHIVE PACKAGE: writes the SBOM of a package that has the archive's program
of_archive() {
	tar -xzOf "$1" --wildcards '*/share/doc/jitwarm/libraries.txt' >"$work/linked" && scripts/make-sbom.py "$work/linked" "$2" >"$2.spdx.json"
}

pack_rpm() {
	local archive=$out/jitwarm-$version-linux-x86_64.tar.gz top=$work/rpm packager homepage
	command -v rpmbuild >/dev/null || missing "rpmbuild is missing: apt-get install rpm"
	[ -f "$archive" ] || pack_linux x86_64
	packager=$(release_maintainer) homepage=$(release_value homepage)
	mkdir -p "$top/SOURCES"
	cp "$archive" "$top/SOURCES/"
	{
		cat packaging/rpm/jitwarm.spec
		printf '\n%%changelog\n* %s %s - %s-1\n- CHANGELOG.md says what is new\n' "$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')" "$packager" "$version"
	} >"$top/jitwarm.spec"
	if ! rpmbuild --define "_topdir $top" --define "jitwarm_version $version" --define "packager $packager" ${homepage:+--define "jitwarm_url $homepage"} \
		--define "_buildhost reproducible" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --target x86_64 -bb "$top/jitwarm.spec" >"$work/rpm.log" 2>&1; then
		tail -n 30 "$work/rpm.log" >&2
		missing "the RPM package could not be built"
	fi
	cp "$top"/RPMS/x86_64/*.rpm "$out/"
	of_archive "$archive" "$out/jitwarm-$version-1.x86_64.rpm"
	echo "package: $out/jitwarm-$version-1.x86_64.rpm"
}

pack_conda() {
	local tools=$cache/conda archive=$out/jitwarm-$version-linux-x86_64.tar.gz
	[ -f "$archive" ] || pack_linux x86_64
	if [ ! -x "$tools/bin/python" ] || ! "$tools/bin/python" -c 'import rattler_build' 2>/dev/null; then
		python3 -I -m venv "$tools" && "$tools/bin/pip" install -q py-rattler-build==0.73.0 >"$work/conda.log" 2>&1 ||
			{ tail -n 5 "$work/conda.log" >&2; missing "rattler-build cannot be had"; }
	fi
	"$tools/bin/python" scripts/make-conda.py "$archive" "$version" "$work/conda" "$out" >"$work/conda.log" 2>&1 ||
		{ tail -n 30 "$work/conda.log" >&2; missing "the conda package could not be built"; }
	of_archive "$archive" "$(sed -nE '$s/^package: (.*) \([0-9]+ bytes\)$/\1/p' "$work/conda.log")"
	tail -n 1 "$work/conda.log"
}
pack_windows() {
	local made libraries=$cache/windows/current/complete homepage publisher
	scripts/build-windows.sh
	wheel "$libraries" build/windows/jitwarm.exe win_amd64
	homepage=$(release_value homepage) publisher=$(release_value publisher)
	scripts/package-windows.sh --installers -o "$out" ${JITWARM_PFX:+--sign "scripts/package-windows.sh sign"} ${homepage:+--homepage "$homepage"} \
		${publisher:+--publisher "$publisher"}
	for made in "$out/jitwarm-$version-windows-x64"{.zip,-setup.exe,.msi}; do scripts/make-sbom.py "$libraries" "$made" >"$made.spdx.json"; done
}
pack_image() {
	local machine architecture archive name=jitwarm-$version-image.tar of=()
	for machine in x86_64 aarch64; do
		archive=$out/jitwarm-$version-linux-$machine.tar.gz architecture=amd64
		[ $machine = x86_64 ] || architecture=arm64
		[ -f "$archive" ] || pack_linux $machine
		mkdir -p "$work/image-$machine"
		tar -xzf "$archive" -C "$work/image-$machine" --strip-components=2 --wildcards '*/bin/jitwarm'
		debian_files "$architecture" "$work/debian-$machine" libc6 >"$work/debian.txt" || missing "the C library for $architecture cannot be had"
		of+=("$architecture" "$work/image-$machine/jitwarm" "$work/debian-$machine")
	done
	scripts/make-image.py "$work/image" "${of[@]}"
	tar -C "$work/image" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=gnu -cf "$out/$name" blobs index.json oci-layout
	tar -xzOf "$archive" --wildcards '*/share/doc/jitwarm/libraries.txt' | tr -d '\n' >"$work/linked"
	sort -u "$work/debian.txt" | sed 's/^/ /' | tr -d '\n' >>"$work/linked"
	scripts/make-sbom.py "$work/linked" "$out/$name" >"$out/$name.spdx.json"
	echo "package: $out/$name ($(stat -c %s "$out/$name") bytes)"
}

for target in "${targets[@]}"; do
	case $target in
	source | deb | rpm | windows | conda | image) pack_$target ;;
	manifests) scripts/make-manifests.py "$out" ;;
	*) pack_linux "$target" ;;
	esac
done

[ ! -f "$work/install.sh" ] || cp "$work/install.sh" "$out/install.sh"
rm -f "$out/SHA256SUMS.minisig" # it signs the former list, so install.sh would refuse the new one
(cd "$out" && find . -maxdepth 1 -type f ! -name 'SHA256SUMS*' -printf '%f\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS)
