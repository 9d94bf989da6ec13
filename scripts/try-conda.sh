#!/usr/bin/env bash
# try-conda.sh FOLDER TESTS   tries the conda package of FOLDER in a minimal root (needs root)
#
# scripts/package.sh x86_64 conda makes the package and the archive that it is of; TESTS is the folder of that build, for the simulated
# driver and the sample framework. A client's solver and installer (py-rattler, which comes from pip) put it into an environment of
# Debian's root; there the command primes, under driver 550 on the phantom GPU too where they are here, is upgraded and removed. Looked
# for is what try-deb.sh looks for.
# Exit status: 0; 1 something failed; 64 wrong usage; 77 skipped: what is needed here is missing, which is said.
set -uo pipefail

# shellcheck source=scripts/trial.sh
. "$(dirname "$0")/trial.sh"
trial_of "" "$@"
tools=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/conda
if ! "$tools/bin/python" -c 'import rattler' 2>/dev/null; then
	{ [ -x "$tools/bin/python" ] || python3 -m venv "$tools"; } >"$work/out" 2>&1 && "$tools/bin/pip" install -q py-rattler==0.28.0 >"$work/out" 2>&1 ||
		skip "py-rattler cannot be had"
fi
packed=("$packages"/jitwarm-*.conda)
[ -f "${packed[0]}" ] && [ ${#packed[@]} = 1 ] || skip "$packages has not one package"
version=$(basename "${packed[0]}" | cut -d- -f2)
archive=jitwarm-$version-linux-x86_64
[ -f "$packages/$archive.tar.gz" ] || skip "the archive of that package is not there"
# An upgrade: the archive under a higher version
mkdir -p "$work/next/${archive/$version/$version.1}" "$work/out.d" "$work/channel/linux-64"
tar -xzf "$packages/$archive.tar.gz" -C "$work/next/${archive/$version/$version.1}" --strip-components=1
tar -czf "$work/out.d/${archive/$version/$version.1}.tar.gz" -C "$work/next" "${archive/$version/$version.1}"
JITWARM_PACKAGE_VERSION=$version.1 "$here/package.sh" -o "$work/out.d" conda >"$work/out" 2>&1 || fail "the next version"
cp "${packed[0]}" "$work/out.d"/*.conda "$work/channel/linux-64/"
environment() { # SPEC...: what is in /opt/jitwarm
	"$tools/bin/python" "$here/conda_env.py" "$work/channel" "$root/opt/jitwarm" "$@" >"$work/out" 2>&1 || fail "the environment of $*"
	[ $# = 0 ] || grep -qx "${1/==/=}" "$work/out" || fail "it is not $1"
}
root_of bookworm || skip "no root of bookworm"
tests_into_root "$tests"
environment "jitwarm==$version"
story_installed conda
environment "jitwarm==$version.1"
story_upgraded
must "jitwarm startup disable --quiet --all-users" # conda runs nothing of a package that it removes (docs/packages.md)
environment
story_removed conda
find "$root/opt/jitwarm" -type f ! -path '*/conda-meta/history' ! -name CACHEDIR.TAG >"$work/out"
[ ! -s "$work/out" ] || fail "left behind"
