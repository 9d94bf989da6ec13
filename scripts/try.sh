#!/usr/bin/env bash
# try.sh KIND FOLDER TESTS [RELEASE...]   tries the packages of KIND in FOLDER in minimal roots of distributions (needs root)
#
# scripts/package.sh makes the packages; TESTS is the folder of a build of the same commit for the same C library, for the simulated
# driver and the sample framework. In a root of each RELEASE that debootstrap made (~/.cache/jitwarm/roots) the package is installed,
# scans, checks and primes, under driver 550 on the phantom GPU too if they are here, is upgraded and removed; afterwards its
# traces are searched: units of this machine are gone; the cache, the store, keys and settings are as they were. KIND is one of
#
#   deb [--autopkgtest]   by apt; RELEASE: by default this machine's; a newer one of Debian or Ubuntu has the same libraries' names.
#            --autopkgtest: then Debian's autopkgtest runs packaging/debian/tests there, with the packages of FOLDER
#   rpm      by rpm, with a database of its own, in Debian's root (no distribution of RPM packages can be had everywhere); rpm
#            does not require what Debian's packages bring (--nodeps). FOLDER has the archive that the package is of, too
#   conda    by a client's solver and installer (py-rattler, which comes from pip), into an environment of Debian's root. FOLDER: as for rpm
#   wheel    by pip, into a virtual environment; the Python API is tried, too (tests/python/api.py). RELEASE: by default six, with the
#            Pythons 3.8 to 3.13. For musl, or an archive of Alpine's, this machine's pip chooses the wheel and unpacks it there
#   install  by docs/contributing/packages.md's line: the archives are signed with a key made here (needs minisign) and served from this machine; the next
#            release's line upgrades, --uninstall removes. RELEASE: by default bookworm, trixie and noble, which have OpenSSL 3
#   archive  FOLDER is one jitwarm-…-linux-….tar.zst: unpacked, it primes. RELEASE: by default all from xenial to trixie (glibc 2.23 to 2.41)
#
# A RELEASE may be musl, of Debian's musl and busybox, or alpine-3.20, of an archive of Alpine's in ~/.cache/jitwarm/roots; with -arm64
# after the name, everything runs under qemu-user.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: something that it needs is missing, and is named.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/trial.sh
. "$here/trial.sh"
help() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }
usage() { help >&2; exit 64; }
say() { printf 'try.sh %s: %s\n' "$kind" "$*"; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "FAILED: $*"; tail -n 20 "$work/out" 2>/dev/null; exit 1; }

# ---- a higher version of the same package, for an upgrade

# next_of KIND VERSION: makes the package of FOLDER's archive as VERSION.1, in $work/out.d
next_of() {
	local archive=jitwarm-$2-linux-x86_64 next=jitwarm-$2.1-linux-x86_64
	[ -f "$packages/$archive.tar.gz" ] || skip "the archive of that package is not there"
	mkdir -p "$work/next/$next" "$work/out.d"
	tar -xzf "$packages/$archive.tar.gz" -C "$work/next/$next" --strip-components=1
	tar -czf "$work/out.d/$next.tar.gz" -C "$work/next" "$next"
	JITWARM_PACKAGE_VERSION=$2.1 "$here/package.sh" -o "$work/out.d" "$1" >"$work/out" 2>&1 || fail "the next version"
}
# next_wheel WHEEL: makes the next version's wheel, in $work
next_wheel() {
	python3 -I - "$1" "$work" <<'PYTHON'
import base64, hashlib, os, re, sys, zipfile
name = os.path.basename(sys.argv[1])
version = name.split("-")[1]
files = {}
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for member in wheel.infolist():
        info = zipfile.ZipInfo(member.filename.replace(f"jitwarm-{version}", f"jitwarm-{version}.1"))
        info.external_attr, info.compress_type = member.external_attr, member.compress_type
        files[info] = re.sub(rb"(?m)^Version: .*", f"Version: {version}.1".encode(), wheel.read(member)) if member.filename.endswith("METADATA") else wheel.read(member)
with zipfile.ZipFile(f"{sys.argv[2]}/{name.replace(version, version + '.1')}", "w") as wheel:
    for info, data in files.items():
        if info.filename.endswith("RECORD"):
            lines = [f"{other.filename},sha256={base64.urlsafe_b64encode(hashlib.sha256(bytes_).digest()).rstrip(b'=').decode()},{len(bytes_)}\n"
                     for other, bytes_ in files.items() if other is not info]
            data = ("".join(lines) + f"{info.filename},,\n").encode()
        wheel.writestr(info, data)
PYTHON
}
# only FILE...: puts the file into $package, if there is exactly one
only() {
	package=$1
	[ $# = 1 ] && [ -f "$1" ] || fail "$packages has not one package"
}

# ---- each kind

# run_suite RELEASE: autopkgtest enters the root by chroot, and brings nothing of this machine
run_suite() {
	command -v autopkgtest >/dev/null || skip "autopkgtest is missing"
	rm -rf "$work/tree" "$work/suite" && (cd "$here/.." && debian_tree "$work/tree" "$version") || fail "the source tree"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c 'root=$1 && shift && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin autopkgtest "$@" -- chroot "$root"' suite "$root" --apt-upgrade -o "$work/suite" --no-built-binaries "$packages"/*.deb "$work/tree/" >"$work/out" 2>&1 ||
		{ cat "$work"/suite/*-std* >"$work/out"; fail "autopkgtest"; }
	grep -qE '^prime +PASS' "$work/suite/summary" || fail "its test did not pass"
	say "$1: autopkgtest: passed"
}
begin_deb() {
	version=$(dpkg-deb -f "$packages"/jitwarm_*.deb Version) || skip "no package in $packages"
	mkdir "$work/next" && dpkg-deb -R "$packages"/jitwarm_*.deb "$work/next/jitwarm" && sed -i "s/^Version: .*/&.1/" "$work/next/jitwarm/DEBIAN/control" &&
		dpkg-deb --root-owner-group -b "$work/next/jitwarm" "$work/next.deb" >/dev/null || fail "the next version"
}
try_deb() {
	apt_into_root "$1"
	mkdir "$root/opt/packages"
	cp "$packages"/*.deb "$work/next.deb" "$root/opt/packages/"
	must "apt-get -qq install -y --no-install-recommends /opt/packages/jitwarm_*.deb"
	story_installed "$1"
	must "apt-get -qq install -y --no-install-recommends /opt/packages/next.deb"
	must "dpkg-query -W -f '\${Version}' jitwarm | grep -qx '$version.1'"
	story_upgraded
	must "apt-get -qq remove -y jitwarm"
	story_removed "$1" /var/lib/dpkg/info/jitwarm.list
	[ -z "$suite" ] || run_suite "$1"
}

# in_rpm: a package's scripts find /proc, as on a running system
in_rpm() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c 'root=$1 && shift && mount -t proc proc "$root/proc" &&
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin rpm --root "$root" --dbpath /var/lib/rpm --nodeps "$@"' in_rpm "$root" "$@" >"$work/out" 2>&1 ||
		fail "rpm $*"
}
installed_rpm() { rpm --root "$root" --dbpath /var/lib/rpm "$@" 2>/dev/null; }
begin_rpm() {
	command -v rpmbuild >/dev/null && command -v rpm >/dev/null || skip "rpm or rpmbuild is missing"
	only "$packages"/jitwarm-*.x86_64.rpm
	version=$(rpm -qp --qf '%{VERSION}' "$package" 2>/dev/null)
	next_of rpm "$version"
}
try_rpm() {
	mkdir -p "$root/var/lib/rpm"
	in_rpm -i "$package"
	in_rpm -V jitwarm # every file is as in the package
	story_installed "$1"
	in_rpm -U "$work/out.d/jitwarm-$version.1-1.x86_64.rpm"
	[ "$(installed_rpm -q --qf '%{VERSION}' jitwarm)" = "$version.1" ] || fail "it is not the next version"
	story_upgraded
	in_rpm -e jitwarm
	story_removed "$1"
	[ -z "$(installed_rpm -qa)" ] || fail "the database still has it"
}

# environment [SPEC]: makes /opt/jitwarm a conda environment with SPEC from the folder $work/channel, or an empty one
environment() {
	"$tools/bin/python" - "$work/channel" "$root/opt/jitwarm" "$@" >"$work/out" 2>&1 <<'PYTHON' || fail "the environment of $*"
import asyncio
import os
import pathlib
import sys

import rattler
import rattler.index


async def main(channel, prefix, *specs):
    channel = pathlib.Path(channel).resolve()
    await rattler.index.index_fs(channel)
    found = [rattler.GenericVirtualPackage(rattler.PackageName("__glibc"), rattler.Version("2.17"), rattler.BuildString("0"))]
    records = await rattler.solve([channel.as_uri()], list(specs), platforms=["linux-64", "noarch"], virtual_packages=found) if specs else []
    await rattler.install(records, target_prefix=prefix, cache_dir=channel / "cache", show_progress=False)
    print(" ".join(f"{record.name.normalized}={record.version}" for record in records) or "empty")


asyncio.run(main(*sys.argv[1:]))
sys.stdout.flush()
os._exit(0)  # its threads may crash an interpreter that ends normally
PYTHON
	[ $# = 0 ] || grep -qx "${1/==/=}" "$work/out" || fail "it is not $1"
}
begin_conda() {
	tools=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/conda
	if ! "$tools/bin/python" -c 'import rattler' 2>/dev/null; then
		{ [ -x "$tools/bin/python" ] || python3 -I -m venv "$tools"; } >"$work/out" 2>&1 && "$tools/bin/pip" install -q py-rattler==0.28.0 >"$work/out" 2>&1 ||
			skip "py-rattler cannot be had"
	fi
	only "$packages"/jitwarm-*.conda
	version=$(basename "$package" | cut -d- -f2)
	next_of conda "$version"
	mkdir -p "$work/channel/linux-64"
	cp "$package" "$work/out.d"/*.conda "$work/channel/linux-64/"
}
try_conda() {
	environment "jitwarm==$version"
	story_installed "$1"
	environment "jitwarm==$version.1"
	story_upgraded
	must "jitwarm startup disable --quiet --all-users" # conda runs no script of a package that it removes (docs/contributing/packages.md)
	environment
	story_removed "$1"
	find "$root/opt/jitwarm" -type f ! -path '*/conda-meta/history' ! -name CACHEDIR.TAG >"$work/out"
	[ ! -s "$work/out" ] || fail "left behind"
}

has_no_glibc() { [[ $1 = musl* || $1 = alpine-* ]]; }
# A musl root has no Python: this machine's pip chooses the wheel for it and unpacks it.
try_wheel_musl() {
	local pip=(python3 -I -m pip install -q --disable-pip-version-check --no-index --only-binary=:all: --platform "musllinux_1_2_$(machine_of "$1")" --target "$root/opt/jitwarm")
	"${pip[@]}" --find-links "$packages" jitwarm >"$work/out" 2>&1 || fail "pip"
	story_installed "$1"
	mkdir -p "$work/next"
	next_wheel "$packages"/jitwarm-*-musllinux_*_"$(machine_of "$1")".whl && mv "$work"/jitwarm-*.whl "$work/next/" || fail "the next version"
	"${pip[@]}" --upgrade --find-links "$work/next" jitwarm >"$work/out" 2>&1 || fail "pip --upgrade"
	[ -d "$root"/opt/jitwarm/jitwarm-*.1.dist-info ] || fail "it is not the next version"
	story_upgraded
	must "jitwarm startup disable --quiet --all-users"
	rm -r "$root/opt/jitwarm"
	story_removed "$1"
}
try_wheel() {
	local pip="/opt/jitwarm/bin/pip install -q --no-index --disable-pip-version-check"
	if has_no_glibc "$1"; then try_wheel_musl "$1"; return; fi
	only "$packages"/jitwarm-*-manylinux_*_"$(machine_of "$1")".*.whl
	apt_into_root "$1"
	must "apt-get -qq install -y --no-install-recommends python3-venv"
	mkdir -p "$root/opt/packages/next" "$root/opt/all"
	cp "$packages"/jitwarm-*.whl "$root/opt/all/"
	cp "$package" "$root/opt/packages/" && next_wheel "$package" && mv "$work"/jitwarm-*.whl "$root/opt/packages/next/" || fail "the next version"
	cp "$here/../tests/python/api.py" "$root/opt/tests/"
	must "python3 -I -m venv /opt/jitwarm" # as on PATH
	must "$pip /opt/packages/jitwarm-*.whl"
	story_installed "$1"
	must "$pip --target /opt/api --find-links /opt/all jitwarm" # of several it chooses this machine's
	must "JITWARM_STORE=0 HOME=/tmp/api CUDA_CACHE_PATH=/tmp/api/cache PYTHONPATH=/opt/api PATH=/usr/bin:/bin python3 -B /opt/tests/api.py $library /opt/api && rm -r /tmp/api"
	must "$pip --upgrade /opt/packages/next/jitwarm-*.whl"
	must "/opt/jitwarm/bin/pip list --disable-pip-version-check 2>/dev/null | grep -q '^jitwarm .*\\.1\$'"
	story_upgraded
	must "jitwarm startup disable --quiet --all-users" # pip runs no script of a package that it removes (docs/contributing/packages.md)
	must "/opt/jitwarm/bin/pip uninstall -q -y jitwarm"
	story_removed "$1"
	must "! find /opt/jitwarm/lib /opt/jitwarm/bin -iname '*jitwarm*' | grep ."
	say "$1: $(inside "python3 --version"; cat "$work/out"): the API"
}

begin_install() {
	command -v minisign >/dev/null || skip "minisign is missing"
	minisign -G -W -p "$work/key.pub" -s "$work/key" >/dev/null 2>&1 || fail "minisign -G"
	key=$(tail -n 1 "$work/key.pub")
	version=$(basename "$(find "$packages" -name 'jitwarm-*-linux-*.tar.gz' | head -n 1)" | cut -d- -f2)
	[ -n "$version" ] || skip "no archive in $packages"
	mkdir "$work/site"
	python3 -I - "$work/site" >"$work/port" 2>/dev/null <<'PYTHON' &
import functools, http.server, sys
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1]))
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
	server=$!
	trap 'kill "$server"; trial_end' EXIT
	until [ -s "$work/port" ]; do kill -0 "$server" 2>/dev/null || fail "no server"; sleep 0.05; done
	address=http://127.0.0.1:$(cat "$work/port")
	site "$version"
	site "$version.1"
}
# site VERSION: makes the files that a release of that version serves
site() {
	local archive name place=$work/site/$1
	mkdir -p "$place"
	for archive in "$packages/jitwarm-$version"-linux-*.tar.gz; do
		name=$(basename "$archive") && name=${name/$version/$1}
		mkdir "$work/unpacked" && tar -xzf "$archive" -C "$work/unpacked" || fail "$archive"
		[ "$1" = "$version" ] || mv "$work/unpacked/jitwarm-$version"-* "$work/unpacked/${name%.tar.gz}"
		# The next version lacks this file.
		[ "$1" = "$version" ] || rm "$work/unpacked/${name%.tar.gz}/share/doc/jitwarm/CHANGELOG.md"
		tar -czf "$place/$name" -C "$work/unpacked" "${name%.tar.gz}" && rm -rf "$work/unpacked"
	done
	(cd "$place" && sha256sum -- *.tar.gz >SHA256SUMS && minisign -S -s "$work/key" -m SHA256SUMS -t "jitwarm $1" </dev/null >/dev/null 2>&1) || fail "the signature"
	"$here/package.sh" installer "$address/$1" "$key" "$1" >"$place/install.sh" || fail "package.sh installer"
}
# Alpine's minimal root has neither curl nor the openssl command, and its archive cannot be reached everywhere, so it gets this machine's
# minisign.
minisign_into_root() {
	local library
	mkdir -p "$root/opt/minisign" "$root/usr/local/bin"
	cp "$(command -v minisign)" "$root/opt/minisign/"
	for library in $(ldd "$(command -v minisign)" | grep -oE '/[^ ]+'); do cp "$library" "$root/opt/minisign/"; done
	printf '#!/bin/sh\nexec env -u LD_LIBRARY_PATH /opt/minisign/ld-linux-x86-64.so.2 --library-path /opt/minisign /opt/minisign/minisign "$@"\n' >"$root/usr/local/bin/minisign"
	chmod 755 "$root/usr/local/bin/minisign"
}
try_install() {
	local fetch="curl -fsSLO" before
	if has_no_glibc "$1"; then
		fetch=wget
		minisign_into_root
	else
		apt_into_root "$1"
		must "apt-get -qq install -y --no-install-recommends curl openssl"
	fi
	before=$(find "$root/usr/local" | LC_ALL=C sort)
	must "cd /tmp && $fetch $address/$version/install.sh && sh install.sh"
	must "cd /tmp && rm install.sh"
	story_installed "$1"
	must "cd /tmp && $fetch $address/$version.1/install.sh && sh install.sh"
	must "! test -e /usr/local/share/doc/jitwarm/CHANGELOG.md"
	story_upgraded
	must "cd /tmp && sh install.sh --uninstall && rm install.sh"
	story_removed "$1"
	diff <(echo "$before") <(find "$root/usr/local" | LC_ALL=C sort) >"$work/out" || fail "/usr/local is not as it was"
}

try_archive() {
	local jitwarm=/opt/jitwarm/bin/jitwarm
	mkdir -p "$root/opt/jitwarm"
	tar --zstd -xf "$packages" -C "$root/opt/jitwarm" --strip-components=1 || fail "$packages"
	python3 -I -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED).write(sys.argv[2], "libsample_framework.so")' \
		"$root/opt/tests/sample.whl" "$root/opt/tests/libsample_framework.so" || fail "the wheel"
	must "$jitwarm --version"
	must "$jitwarm scan --target sm_86 $library"
	must_end 1 "$jitwarm check $library"
	must "$jitwarm prime $library"
	grep -q '8 modules' "$work/out" || fail "not 8 modules"
	must "$jitwarm check $library"
	must "/opt/tests/framework-app"
	must "$jitwarm check /opt/tests/sample.whl"
	must "$jitwarm uninstall"
	say "$1 ($(inside 'ldd --version'; head -n 1 "$work/out")): passed"
}

# ---- the command line

kind=${1-} suite='' words=()
for word in "${@:2}"; do
	case $kind$word in deb--autopkgtest) suite=1 ;; *) words+=("$word") ;; esac
done
case $kind in
-h | --help) help; exit 0 ;;
deb) default=$(. /etc/os-release && echo "$VERSION_CODENAME") ;;
rpm | conda) default=bookworm ;;
wheel) default="focal bullseye jammy bookworm noble trixie" ;;
install) default="bookworm trixie noble" ;;
archive) default="xenial bionic focal bullseye jammy bookworm noble trixie" trial_store=0 ;;
*) usage ;;
esac
trial_of "$default" "${words[@]}"
[ "$(type -t "begin_$kind")" != function ] || "begin_$kind"
try_release() {
	root_of "$1" || skip "no root of $1"
	tests_into_root "$tests"
	"try_$kind" "$1"
}
trial_each
