#!/usr/bin/env bash
# try-package.sh ARCHIVE TESTS [RELEASE...]   tries a packed jitwarm on other distributions (needs root)
#
# ARCHIVE is a jitwarm-…-linux-….tar.zst of scripts/package.sh, TESTS the folder of the build that it is of: simulated driver and
# sample framework come from there, for the same C library. For each RELEASE of Debian or Ubuntu (by default bionic, bullseye,
# bookworm, trixie, noble) debootstrap makes a minimal root, which is kept in ~/.cache/jitwarm/roots; the archive is unpacked
# there and primes the sample framework under the simulated driver.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

self=$(basename "$0")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/debian.sh
. "$here/debian.sh"
say() { printf '%s: %s\n' "$self" "$*"; }
skip() { say "skipped: $*"; exit 77; }
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
archive=$1 tests=$2
shift 2
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bionic bullseye bookworm trixie noble)
[ "$(id -u)" = 0 ] || skip "it needs root"
command -v debootstrap >/dev/null || skip "debootstrap is missing"
store=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/roots
mkdir -p "$store"
work=$(mktemp -d "$store/.run-XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT

# Debian has no package of Ubuntu's keys: they are taken from Ubuntu's own, and only those with these fingerprints (2012, 2018) are kept.
ubuntu_keys=(790BC7277767219C42C86F933B4FE6ACC0B21F32 F6ECB3762474EDA9D21B7022871920D1991BC93C)
ubuntu_keyring() { # MIRROR FILE
	local deb
	deb=$(curl -fsS "$1/dists/jammy/main/binary-amd64/Packages.xz" | xz -dc | sed -n 's|^Filename: \(.*/ubuntu-keyring_[^/]*\)$|\1|p') || return 1
	curl -fsS -o "$work/keys.deb" "$1/$deb" && dpkg-deb -x "$work/keys.deb" "$work/keys" || return 1
	mkdir -m 700 "$work/gnupg"
	gpg -q --homedir "$work/gnupg" --no-autostart --import "$work/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" 2>/dev/null
	gpg -q --homedir "$work/gnupg" --no-autostart --export "${ubuntu_keys[@]}" >"$2" && [ -s "$2" ]
}
# Ubuntu's archive lies beside Debian's on mirrors of both.
bootstrap() { # RELEASE FOLDER
	local mirror keyring
	mirror=$(debian_mirror) keyring=$(debian_keyring)
	case $1 in
	bionic | focal | jammy | noble)
		mirror=${mirror%/debian}/ubuntu keyring=$work/ubuntu.gpg
		[ -s "$keyring" ] || ubuntu_keyring "$mirror" "$keyring" || { echo "E: Ubuntu's keys cannot be had" >"$work/log"; return 1; } ;;
	esac
	unshare --mount --pid --fork --kill-child --propagation private --mount-proc debootstrap --variant=minbase \
		--keyring="${keyring:-/usr/share/keyrings/debian-archive-keyring.gpg}" "$1" "$2" "$mirror" >"$work/log" 2>&1
}
root_of() { # RELEASE FOLDER
	mkdir -m 755 "$2"
	if [ -f "$store/$1.tar.gz" ]; then tar -C "$2" -xzf "$store/$1.tar.gz"; return; fi
	bootstrap "$1" "$2" || { grep -E '^[EW]:' "$work/log" | tail -3; return 1; }
	rm -f "$2"/var/cache/apt/archives/*.deb
	tar -C "$2" -czf "$work/archive" . && mv "$work/archive" "$store/$1.tar.gz"
}
# inside ROOT COMMAND...
inside() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c '
		root=$1 && shift && mount -t proc proc "$root/proc" && exec env -i HOME=/root PATH=/opt/jitwarm/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			LD_LIBRARY_PATH=/opt/tests SIMDRIVER_GPUS=sm_86 JITWARM_PCI_DEVICES=10de:2484@0000:01:00.0 JITWARM_STORE=0 \
			chroot "$root" "$@"' inside "$@"
}
failed=0
try() { # STATUS WHAT COMMAND...
	local wanted=$1 what=$2 status=0
	shift 2
	inside "$work/root" "$@" >"$work/out" 2>&1 || status=$?
	[ "$status" = "$wanted" ] || { say "$release: $what: FAILED ($status instead of $wanted)"; tail -n 20 "$work/out"; failed=1; return 1; }
}
try_release() {
	local jitwarm=/opt/jitwarm/bin/jitwarm library=/opt/tests/libsample_framework.so
	mkdir -p "$work/root/opt/jitwarm" "$work/root/opt/tests"
	tar --zstd -xf "$archive" -C "$work/root/opt/jitwarm" --strip-components=1 || return 1
	cp "$tests/tests/framework/libsample_framework.so" "$work/root/opt/tests/" || return 1
	python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED).write(sys.argv[2], "libsample_framework.so")' \
		"$work/root/opt/tests/sample.whl" "$tests/tests/framework/libsample_framework.so" || return 1
	try 0 "--version" $jitwarm --version || return 1
	cp -L "$tests/tests/simdriver/lib/libcuda.so.1" "$work/root/opt/tests/"
	cp "$tests/tests/framework/framework-app" "$work/root/opt/tests/"
	try 1 "check, cold" $jitwarm check $library &&
		try 0 "prime" $jitwarm prime $library &&
		grep -q '8 modules' "$work/out" &&
		try 0 "check, warm" $jitwarm check $library &&
		try 0 "the sample framework's start" /opt/tests/framework-app &&
		try 0 "check of a wheel" $jitwarm check /opt/tests/sample.whl &&
		try 0 "uninstall" $jitwarm uninstall || failed=1
	say "$release ($(inside "$work/root" /bin/sh -c 'ldd --version' 2>/dev/null | head -1)): $([ $failed = 0 ] && echo passed || echo FAILED)"
}
worst=0
for release in "${releases[@]}"; do
	failed=0
	if root_of "$release" "$work/root"; then try_release || failed=1; else say "$release: no root"; failed=1; fi
	[ $failed = 0 ] || worst=1
	rm -rf --one-file-system "$work/root"
done
exit $worst
