#!/usr/bin/env bash
# setup.sh [--compiler] [--tests] [--all] [--windows] [--release]   installs the packages with which jitwarm is built, on Debian and its derivatives
#
# --compiler  the needs of “jitwarm compiler fetch”: ca-certificates and pip
# --tests     the needs of the first set of tests (test.sh): a real driver for the phantom GPU
# --all       the needs of the other tests: ccache, clang and its tools, g++, abidw, minisign, valgrind, a registry and skopeo, another driver,
#             XGBoost as the real program, uv, check-jsonschema, ruff
# --windows   mingw-w64, Wine, and the tools for Windows' packages
# --release   with --windows: the needs of building all packages; also with --all: the needs of scripts/release.sh
# Installed packages are left alone. Needs root or sudo only if something is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# All packages are listed, since those that others only recommend (gcc: libc6-dev) are not installed.
packages=(gcc libc6-dev cmake ninja-build pkg-config libzstd-dev liblz4-dev libcjson-dev libsodium-dev libarchive-dev zlib1g-dev libisal-dev libuv1-dev
	libcmocka-dev python3 procps)
tests='' all=''
while [ $# -gt 0 ]; do
	case $1 in
	--compiler) packages+=(ca-certificates python3-pip) ;;
	--tests) tests=1
		packages+=(zstd python3-pip python3-jsonschema ca-certificates) ;;
	--all) tests=1 all=1
		packages+=(git ccache clang lld dpkg-dev clang-tidy clang-format libclang-rt-dev valgrind zstd minisign fish zsh python3-pip python3-jsonschema python3-yaml
			ca-certificates g++ abigail-tools docker-registry skopeo apache2-utils openssl curl tmux chromium) ;;
	--windows) packages+=(gcc-mingw-w64-x86-64 wine wine64 dpkg-dev autoconf automake libtool make nsis wixl msitools osslsigncode) ;;
	--release) packages+=(git zstd minisign build-essential debhelper rpm debootstrap qemu-user-static python3-venv python3-yaml ruby) ;;
	-h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
	*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
	esac
	shift
done
fail() { echo "setup.sh: $*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

missing=()
for package in "${packages[@]}"; do
	[[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *"ok installed" ]] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
	command -v apt-get >/dev/null || fail "install these with your package manager: ${missing[*]}"
	as_root=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || fail "as root: apt-get install ${missing[*]}"
		as_root=(sudo)
	fi
	echo "setup.sh: installing ${missing[*]}" >&2
	# A source that cannot be read now may not be needed.
	"${as_root[@]}" apt-get update -qq >"$scratch/log" 2>&1 || true
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >>"$scratch/log" 2>&1 || {
		grep -E '^ *(E:|Err:|dpkg: error|[a-z0-9.+-]+ : Depends:)' "$scratch/log" | head -10 >&2 || tail -n 5 "$scratch/log" >&2
		fail "apt-get could not install what is missing"
	}
fi
# If the packages are installed but the compiler does not work, this says so, and not a later message of CMake.
echo 'int main(void) { return 0; }' >"$scratch/program.c"
read -ra compiler <<<"${CC:-cc}"
"${compiler[@]}" -o "$scratch/program" "$scratch/program.c" >"$scratch/log" 2>&1 ||
	fail "${compiler[*]} cannot build a program: $(grep -m1 -E 'error|cannot find' "$scratch/log" || head -n 1 "$scratch/log")"

# NVIDIA's user-space drivers run on the phantom GPU. They are fetched, never installed; without them their tests are skipped.
if [ -n "$tests" ]; then
	"$here/get.sh" drivers ${all:+535.309.01} 550.163.01 >&2 ||
		echo "setup.sh: the real drivers cannot be had: the tests that need one will be skipped" >&2
fi
if [ -n "$all" ]; then
	"$here/get.sh" nvcc 13.0 >&2 || # 250 MB
		echo "setup.sh: nvcc cannot be had: the test of lint on what it makes will be skipped" >&2
	uv=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/uv # tests/elsewhere/index.sh looks here
	[ -x "$uv/bin/uv" ] || python3 -I -m pip install -q --disable-pip-version-check --only-binary=:all: --target "$uv" uv >"$scratch/log" 2>&1 ||
		echo "setup.sh: uv cannot be had: the test that it lends pip will be left out" >&2
	schemas=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/check-jsonschema # tests/documents/repository.py looks here
	[ -d "$schemas/check_jsonschema" ] || python3 -I -m pip install -q --disable-pip-version-check --only-binary=:all: --target "$schemas" check-jsonschema==0.39.0 >"$scratch/log" 2>&1 ||
		echo "setup.sh: check-jsonschema cannot be had: the test of .github's schemas will be skipped" >&2
	ruff=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/ruff # lint.sh looks here
	[ -x "$ruff/bin/ruff" ] || python3 -I -m pip install -q --disable-pip-version-check --only-binary=:all: --target "$ruff" ruff==0.17.6 >"$scratch/log" 2>&1 ||
		echo "setup.sh: ruff cannot be had: lint.sh will leave the Python package out" >&2
	# This program, written elsewhere, tests the promise (260 MB).
	"$here/get.sh" frameworks xgboost-1.0.2-linux xgboost-1.3.3-linux >&2 ||
		echo "setup.sh: XGBoost cannot be had: the tests of its first start will be skipped" >&2
fi
