#!/usr/bin/env bash
# setup.sh [--compiler] [--tests] [--windows]   installs what building jitwarm needs, on Debian and its kin
#
# --compiler  what “jitwarm compiler fetch” needs: python3-pip
# --tests     what the tests need too: cmocka, clang and its tools, minisign, valgrind, the real drivers for the phantom GPU,
#             XGBoost as the real program
# --windows   mingw-w64 and Wine
# What is installed already is left alone. Needs root or sudo only if something is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=(gcc cmake ninja-build pkg-config libzstd-dev liblz4-dev libcjson-dev libsodium-dev libarchive-dev libuv1-dev libcmocka-dev python3)
tests=
while [ $# -gt 0 ]; do
	case $1 in
	--compiler) packages+=(python3-pip ca-certificates) ;;
	--tests) tests=1
		packages+=(clang clang-tidy clang-format libclang-rt-14-dev valgrind zstd minisign fish python3-pip ca-certificates procps) ;;
	--windows) packages+=(gcc-mingw-w64-x86-64 wine wine64 dpkg-dev autoconf automake libtool make) ;;
	-h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
	*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
	esac
	shift
done

missing=()
for package in "${packages[@]}"; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	command -v apt-get >/dev/null || { echo "setup.sh: install these with your package manager: ${missing[*]}" >&2; exit 1; }
	as_root=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || { echo "setup.sh: as root: apt-get install ${missing[*]}" >&2; exit 1; }
		as_root=(sudo)
	fi
	echo "setup.sh: installing ${missing[*]}" >&2
	"${as_root[@]}" apt-get update -qq
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# NVIDIA's user-space drivers run on the phantom GPU. They are fetched, never installed; without them those tests are skipped.
if [ -n "$tests" ]; then
	"$here/get-drivers.sh" 535.309.01 550.163.01 >&2 ||
		echo "setup.sh: the real drivers cannot be had: the tests that need one will be skipped" >&2
	# The promise is tested on a program that nobody here wrote (260 MB).
	"$here/fetch-frameworks.sh" xgboost-1.0.2-linux xgboost-1.3.3-linux >&2 ||
		echo "setup.sh: XGBoost cannot be had: the tests of its first start will be skipped" >&2
fi
