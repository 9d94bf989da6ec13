#!/usr/bin/env bash
# try-deb.sh FOLDER TESTS [--link] [--autopkgtest] [RELEASE...]   tries the Debian packages of FOLDER in minimal roots (needs root)
#
# scripts/package.sh deb makes the packages; TESTS is the folder of a build on this machine, for the simulated driver and the sample
# framework. In a root of each RELEASE (default: this machine's; a newer one of Debian or Ubuntu has the same libraries' names) that
# debootstrap made (~/.cache/jitwarm/roots): the command is installed by apt, primes, under driver 550 on the phantom GPU too where they
# are here, is upgraded and removed, and is looked for afterwards: units of this machine are gone; the cache, the store, keys and
# settings are as they were. --link: then the library is installed, and a program linked with it (debian/tests/link).
# --autopkgtest: and Debian's autopkgtest runs packaging/debian/tests there, with the packages of FOLDER.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

# shellcheck source=scripts/trial.sh
. "$(dirname "$0")/trial.sh"
link='' suite='' words=()
for word in "$@"; do
	case $word in --link) link=1 ;; --autopkgtest) suite=1 ;; *) words+=("$word") ;; esac
done
trial_of "$(. /etc/os-release && echo "$VERSION_CODENAME")" "${words[@]}"
version=$(dpkg-deb -f "$packages"/jitwarm_*.deb Version) || skip "no package in $packages"
# An upgrade: the same with a higher version
mkdir "$work/next" && dpkg-deb -R "$packages"/jitwarm_*.deb "$work/next/jitwarm" && sed -i "s/^Version: .*/&.1/" "$work/next/jitwarm/DEBIAN/control" &&
	dpkg-deb --root-owner-group -b "$work/next/jitwarm" "$work/next.deb" >/dev/null || fail "the next version"

# autopkgtest enters the root by chroot, and brings nothing of this machine
run_suite() { # RELEASE
	command -v autopkgtest >/dev/null || skip "autopkgtest is missing"
	rm -rf "$work/tree" "$work/suite" && "$here/debian-tree.sh" "$work/tree" "$version" || fail "the source tree"
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c 'root=$1 && shift && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin autopkgtest "$@" -- chroot "$root"' suite "$root" --apt-upgrade -o "$work/suite" --no-built-binaries "$packages"/*.deb "$work/tree/" >"$work/out" 2>&1 ||
		{ cat "$work"/suite/*-std* >"$work/out"; fail "autopkgtest"; }
	say "$1: autopkgtest: $(grep -E '^(prime|link) +PASS' "$work/suite/summary" | tr -s ' ' | paste -sd, | sed 's/,/, /g')"
	[ "$(grep -cE '^(prime|link) +PASS' "$work/suite/summary")" = 2 ] || fail "not two tests passed"
}
try_release() {
	root_of "$1" || skip "no root of $1"
	tests_into_root "$tests"
	apt_into_root "$1"
	mkdir "$root/opt/packages"
	cp "$packages"/*.deb "$work/next.deb" "$root/opt/packages/"
	cp "$here/../packaging/debian/tests/link" "$root/opt/tests/"
	must "apt-get -qq install -y --no-install-recommends /opt/packages/jitwarm_*.deb"
	story_installed "$1"
	must "apt-get -qq install -y --no-install-recommends /opt/packages/next.deb"
	must "dpkg-query -W -f '\${Version}' jitwarm | grep -qx '$version.1'"
	story_upgraded
	must "apt-get -qq remove -y jitwarm"
	story_removed "$1" /var/lib/dpkg/info/jitwarm.list
	if [ -n "$link" ]; then
		must "apt-get -qq install -y --no-install-recommends /opt/packages/libjitwarm*.deb gcc libc6-dev pkg-config"
		must "/opt/tests/link"
		say "$1: programs are linked with the library, shared and static"
	fi
	[ -z "$suite" ] || run_suite "$1"
}
trial_each
