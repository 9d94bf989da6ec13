#!/usr/bin/env bash
# try-rpm.sh FOLDER TESTS   tries the RPM package of FOLDER in a minimal root (needs root, rpm and rpmbuild)
#
# scripts/package.sh x86_64 rpm makes the package and the archive that it is of; TESTS is the folder of that build, for the simulated
# driver and the sample framework. No distribution of RPM packages can be had everywhere: the root is Debian's, where rpm
# (rpm --root, with a database of its own) installs, upgrades and removes the package and runs its scripts; what Debian's
# packages bring, rpm is told not to ask for (--nodeps). Looked for is what try-deb.sh looks for.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

# shellcheck source=scripts/trial.sh
. "$(dirname "$0")/trial.sh"
trial_of "" "$@"
command -v rpmbuild >/dev/null && command -v rpm >/dev/null || skip "rpm or rpmbuild is missing"
root_of bookworm || skip "no root of bookworm"
tests_into_root "$tests"
# A package's scripts find /proc, as on a system that runs
in_rpm() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private bash -c 'root=$1 && shift && mount -t proc proc "$root/proc" &&
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin rpm --root "$root" --dbpath /var/lib/rpm --nodeps "$@"' in_rpm "$root" "$@" >"$work/out" 2>&1 ||
		fail "rpm $*"
}
version_of() { rpm -qp --qf '%{VERSION}' "$1" 2>/dev/null; }

packed=("$packages"/jitwarm-*.x86_64.rpm)
[ -f "${packed[0]}" ] && [ ${#packed[@]} = 1 ] || fail "$packages has not one package"
version=$(version_of "${packed[0]}")
[ -f "$packages/jitwarm-$version-linux-x86_64.tar.gz" ] || fail "the archive of that package is not there"
mkdir -p "$root/var/lib/rpm"
in_rpm -i "${packed[0]}"
# Every file is as the package says
in_rpm -V jitwarm
story_installed rpm

# An upgrade: the archive under a higher version
mkdir -p "$work/next/jitwarm-$version.1-linux-x86_64" "$work/out.d"
tar -xzf "$packages/jitwarm-$version-linux-x86_64.tar.gz" -C "$work/next/jitwarm-$version.1-linux-x86_64" --strip-components=1
tar -czf "$work/out.d/jitwarm-$version.1-linux-x86_64.tar.gz" -C "$work/next" "jitwarm-$version.1-linux-x86_64"
JITWARM_PACKAGE_VERSION=$version.1 "$here/package.sh" -o "$work/out.d" rpm >"$work/out" 2>&1 || fail "the next version"
in_rpm -U "$work/out.d/jitwarm-$version.1-1.x86_64.rpm"
[ "$(rpm --root "$root" --dbpath /var/lib/rpm -q --qf '%{VERSION}' jitwarm 2>/dev/null)" = "$version.1" ] || fail "it is not the next version"
story_upgraded
in_rpm -e jitwarm
story_removed rpm
[ -z "$(rpm --root "$root" --dbpath /var/lib/rpm -qa 2>/dev/null)" ] || fail "the database still has it"
