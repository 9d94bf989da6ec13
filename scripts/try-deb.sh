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
# shellcheck source=scripts/trial.sh
. "$here/trial.sh"
[ $# -ge 2 ] || usage
packages=$(realpath "$1") tests=$(realpath "$2") link=${3:-}
trial_begin
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
root_of "$release" || skip "no root of $release"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/apt/apt.conf.d/99* "$root/etc/apt/apt.conf.d/" 2>/dev/null # how this machine reaches the archive
echo "deb [trusted=yes] $(debian_mirror) $release main" >"$root/etc/apt/sources.list"
tests_into_root "$tests"
mkdir "$root/opt/packages"
cp "$packages"/*.deb "$root/opt/packages/"
cp "$here/../packaging/debian/tests/link" "$root/opt/tests/"
version_of() { dpkg-deb -f "$packages"/jitwarm_*.deb Version; }

inside "apt-get -qq update" || skip "apt does not reach the archive: $(grep -m1 -E '^[EW]:' "$work/out")"
must "apt-get -qq install -y --no-install-recommends /opt/packages/jitwarm_*.deb"
story_installed "$release"

# An upgrade: the same with a higher version
mkdir "$work/next" && dpkg-deb -R "$packages"/jitwarm_*.deb "$work/next/jitwarm" && sed -i "s/^Version: .*/&.1/" "$work/next/jitwarm/DEBIAN/control" &&
	dpkg-deb --root-owner-group -b "$work/next/jitwarm" "$root/opt/packages/next.deb" >/dev/null || fail "the next version"
must "apt-get -qq install -y --no-install-recommends /opt/packages/next.deb"
must "dpkg-query -W -f '\${Version}' jitwarm | grep -qx '$(version_of).1'"
story_upgraded
must "apt-get -qq remove -y jitwarm"
story_removed "$release" /var/lib/dpkg/info/jitwarm.list
if [ "$link" = --link ]; then
	must "apt-get -qq install -y --no-install-recommends /opt/packages/libjitwarm*.deb gcc libc6-dev pkg-config"
	must "/opt/tests/link"
	say "$release: programs are linked with the library, shared and static"
fi
