#!/usr/bin/env bash
# try-package.sh ARCHIVE TESTS [RELEASE...]   tries a packed jitwarm on other distributions (needs root)
#
# ARCHIVE is a jitwarm-…-linux-….tar.zst of scripts/package.sh, TESTS the folder of the build that it is of: simulated driver and
# sample framework come from there, for the same C library. For each RELEASE of Debian or Ubuntu (by default all from
# xenial to trixie that can be had: glibc 2.23 to 2.41) debootstrap makes a minimal root, which is kept in ~/.cache/jitwarm/roots; the archive is unpacked
# there and primes the sample framework under the simulated driver.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

# shellcheck source=scripts/trial.sh
. "$(dirname "$0")/trial.sh"
trial_of "xenial bionic focal bullseye jammy bookworm noble trixie" "$@"
trial_store=0
failed=0
try() { # STATUS WHAT COMMAND...
	local wanted=$1 what=$2 status=0
	shift 2
	inside "$*" || status=$?
	[ "$status" = "$wanted" ] || { say "$release: $what: FAILED ($status instead of $wanted)"; tail -n 20 "$work/out"; failed=1; return 1; }
}
try_release() {
	local jitwarm=/opt/jitwarm/bin/jitwarm
	mkdir -p "$root/opt/jitwarm" "$root/opt/tests"
	tar --zstd -xf "$packages" -C "$root/opt/jitwarm" --strip-components=1 || return 1
	python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED).write(sys.argv[2], "libsample_framework.so")' \
		"$root/opt/tests/sample.whl" "$tests/tests/framework/libsample_framework.so" || return 1
	try 0 "--version" $jitwarm --version || return 1
	tests_into_root "$tests" || return 1
	try 1 "check, cold" $jitwarm check $library &&
		try 0 "prime" $jitwarm prime $library &&
		grep -q '8 modules' "$work/out" &&
		try 0 "check, warm" $jitwarm check $library &&
		try 0 "the sample framework's start" /opt/tests/framework-app &&
		try 0 "check of a wheel" $jitwarm check /opt/tests/sample.whl &&
		try 0 "uninstall" $jitwarm uninstall || failed=1
	say "$release ($(inside 'ldd --version'; head -n 1 "$work/out")): $([ $failed = 0 ] && echo passed || echo FAILED)"
}
worst=0
for release in "${releases[@]}"; do
	failed=0
	if root_of "$release"; then try_release || failed=1; else say "$release: no root"; failed=1; fi
	[ $failed = 0 ] || worst=1
	rm -rf --one-file-system "$root"
done
exit $worst
