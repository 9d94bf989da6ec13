#!/usr/bin/env bash
# try-deb.sh FOLDER TESTS [--link]   tries the Debian packages of FOLDER in a minimal root of this release (needs root)
#
# scripts/package.sh deb makes the packages; TESTS is the folder of a build on this machine, for the simulated driver and the sample
# framework. In a root that debootstrap made (~/.cache/jitwarm/roots): the command is installed by apt, primes, is upgraded and
# removed, and is looked for afterwards: units of this machine are gone; the cache, the store, keys and settings are as they were.
# --link: then the library is installed, and a program linked with it (debian/tests/link).
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

self=$(basename "$0")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/debian.sh
. "$here/debian.sh"
say() { printf '%s: %s\n' "$self" "$*"; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "FAILED: $*"; tail -n 20 "$work/out"; exit 1; }
[ $# -ge 2 ] || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 64; }
packages=$(realpath "$1") tests=$(realpath "$2") link=${3:-}
[ "$(id -u)" = 0 ] || skip "it needs root"
command -v debootstrap >/dev/null || skip "debootstrap is missing"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
store=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/roots
mkdir -p "$store"
work=$(mktemp -d "$store/.run-XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
mkdir -m 755 "$root"
if [ ! -f "$store/$release.tar.gz" ]; then
	keyring=$(debian_keyring)
	unshare --mount --pid --fork --kill-child --propagation private --mount-proc debootstrap --variant=minbase \
		--keyring="${keyring:-/usr/share/keyrings/debian-archive-keyring.gpg}" "$release" "$root" "$(debian_mirror)" >"$work/out" 2>&1 ||
		skip "debootstrap: $(grep -m1 '^E:' "$work/out")"
	tar -C "$root" -czf "$work/archive" . && mv "$work/archive" "$store/$release.tar.gz"
else
	tar -C "$root" -xzf "$store/$release.tar.gz"
fi
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null # how this machine reaches the archive
echo "deb [trusted=yes] $(debian_mirror) $release main" >"$root/etc/apt/sources.list"
mkdir "$root/opt/tests" "$root/opt/packages"
cp -L "$tests"/tests/simdriver/lib/libcuda.so.1 "$tests/tests/framework/libsample_framework.so" "$tests/tests/framework/framework-app" "$root/opt/tests/"
cp "$packages"/*.deb "$root/opt/packages/"
cp "$here/../packaging/debian/tests/link" "$root/opt/tests/"

# inside COMMAND: its status; what it prints is in $work/out
inside() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c '
		root=$1 && shift && mount -t proc proc "$root/proc" && exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			DEBIAN_FRONTEND=noninteractive LD_LIBRARY_PATH=/opt/tests SIMDRIVER_GPUS=sm_86 \
			JITWARM_PCI_DEVICES=10de:2484@0000:01:00.0 chroot "$root" /bin/sh -c "$1"' inside "$root" "$1" >"$work/out" 2>&1
}
must() { inside "$1" || fail "$1 ($?)"; }
must_end() { # STATUS COMMAND
	local status=0
	inside "$2" || status=$?
	[ $status = "$1" ] || fail "$2 ended with $status, not $1"
}
version_of() { dpkg-deb -f "$packages"/jitwarm_*.deb Version; }
# What is the user's own: every file below the home folder, with its content
own() { (cd "$root/root" && find . -type f ! -name .bash_history -print0 | LC_ALL=C sort -z | xargs -0 sha256sum); }

inside "apt-get -qq update" || skip "apt does not reach the archive: $(grep -m1 -E '^[EW]:' "$work/out")"
must "apt-get -qq install -y --no-install-recommends /opt/packages/jitwarm_*.deb"
must "jitwarm --version"
library=/opt/tests/libsample_framework.so
must_end 1 "jitwarm check $library"
must "jitwarm prime $library"
must "jitwarm check $library"
must "/opt/tests/framework-app"
must "jitwarm key generate --no-passphrase"
must "jitwarm tune --apply --scope user --max-size 4G"
inside "jitwarm startup enable --all-users $library" # without systemd it cannot start them; the files are what counts
units=$(find "$root/etc/systemd" -name '*jitwarm*' | wc -l)
[ "$units" -gt 0 ] || fail "no units were written"
before=$(own)
[ "$(wc -l <<<"$before")" -gt 5 ] || fail "there is nothing to keep"
say "$release: installed, primed; $units units, $(wc -l <<<"$before") files of the user's own"

# An upgrade: the same with a higher version
mkdir "$work/next" && dpkg-deb -R "$packages"/jitwarm_*.deb "$work/next/jitwarm" && sed -i "s/^Version: .*/&.1/" "$work/next/jitwarm/DEBIAN/control" &&
	dpkg-deb --root-owner-group -b "$work/next/jitwarm" "$root/opt/packages/next.deb" >/dev/null || fail "the next version"
must "apt-get -qq install -y --no-install-recommends /opt/packages/next.deb"
must "dpkg-query -W -f '\${Version}' jitwarm | grep -qx '$(version_of).1'"
[ "$(own)" = "$before" ] || fail "the upgrade changed what is the user's"
[ "$(find "$root/etc/systemd" -name '*jitwarm*' | wc -l)" = "$units" ] || fail "the upgrade changed units"
must "jitwarm check $library"
before=$(own)
must "apt-get -qq remove -y jitwarm"
diff <(echo "$before") <(own) >"$work/out" || fail "the removal changed what is the user's"
left=$(find "$root" -xdev \( -path "$root/root" -o -path "$root/opt" -o -path "$root/proc" -o -path "$root/var/log" \) -prune -o -name '*jitwarm*' -print)
[ "$left" = "" ] || [ "$left" = "$root/var/lib/dpkg/info/jitwarm.list" ] || { echo "$left" >"$work/out"; fail "left behind"; }
say "$release: upgraded and removed; what was the user's is as it was"
if [ "$link" = --link ]; then
	must "apt-get -qq install -y --no-install-recommends /opt/packages/libjitwarm*.deb gcc libc6-dev pkg-config"
	must "/opt/tests/link"
	say "$release: programs are linked with the library, shared and static"
fi
