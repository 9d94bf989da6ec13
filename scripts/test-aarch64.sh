#!/usr/bin/env bash
# test-aarch64.sh [--install] [CTEST-OPTION...]   builds jitwarm for aarch64 (build-linux.sh) and runs its tests under qemu-user,
# beside the simulated driver
#
# --install  adds Debian's architecture arm64 to this system (dpkg --add-architecture), for good, and installs the packages
#            qemu-user-static and libc6:arm64 if they are missing. setup.sh does not install them: without --install nothing is installed, and the tests are skipped.
# Without CTEST-OPTION: unit tests, fuzz corpora and whole commands. It needs root: it has the kernel start programs of aarch64 by
# qemu-user while it runs (binfmt_misc).
# Last line: ctest's. Exit status: 0; 1 something failed; 77 skipped: something that it needs is missing, and is named.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

skip() { echo "test-aarch64: skipped: $*"; exit 77; }
install=
case ${1-} in
-h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
--install) install=1; shift ;;
esac
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
trap emulate_end EXIT

if [ "$(uname -m)" != aarch64 ]; then
	[ "$(id -u)" = 0 ] || skip "it needs root"
	if [ ! -e /lib/ld-linux-aarch64.so.1 ] || ! emulate_qemu >/dev/null; then
		[ "$install" ] || skip "the packages qemu-user-static and libc6:arm64 are missing: --install adds arm64 to this system, and installs them"
		dpkg --add-architecture arm64 && apt-get -qq update >/dev/null 2>&1
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends qemu-user-static libc6:arm64 >/dev/null 2>&1 ||
			skip "qemu-user-static or libc6:arm64 cannot be installed"
	fi
	emulate_begin || skip "$emulate_lacks"
fi
scripts/build-linux.sh --machine aarch64 --all || exit 1
build/linux-aarch64/jitwarm --version >/dev/null || exit 1
[ $# -gt 0 ] || set -- -L 'unit|fuzz|cli'
cd build/linux-aarch64 && SNAPSHOT= ctest -j "$(nproc)" --timeout 900 "$@"
