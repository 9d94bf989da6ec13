#!/bin/bash
# get.sh WHAT ARGUMENT...   fetches third parties' files for the tests and benches; nothing is installed
#
#   drivers [--quiet] VERSION...    NVIDIA's user-space drivers, from the non-free component of Debian, unpacked. --list instead: all that
#                                   there are (“*”: already here); --tested: those of tests/phantom/drivers.txt
#   nvrtc, cudart [--here] VERSION...   NVIDIA's libraries of these CUDA versions (12.4), from PyPI's wheels; prints the path of each.
#                                   --here fetches nothing, and also looks into /usr/local/cuda-VERSION
#   nvcc [--here] VERSION           NVIDIA's compiler of this CUDA version (13.0 or newer), with its headers and runtime, from PyPI's wheels;
#                                   prints the path of nvcc
#   frameworks [NAME...]            the real wheels that tests/real reads, by default all of them (about 5 GB); they
#                                   stay wheels. --list instead: their names
#
# They go to ~/.cache/jitwarm/WHAT/VERSION; $JITWARM_DRIVERS, $JITWARM_NVRTC, … name other folders than ~/.cache/jitwarm/WHAT. A folder that
# exists is complete and not fetched again. Exit status: 0 all of them are there; 64 wrong usage; 2 not available here (no apt, no Debian
# mirror, a version that is not offered); 3 failed (no network, a broken download, no space), or not here.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
say() { [ -n "$quiet" ] || echo "$*"; }
warn() { echo "get.sh: $*" >&2; }
fail() { warn "$2"; exit "$1"; }
help() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; }
usage() { help >&2; exit 64; }
new=''
trap '[ -z "$new" ] || rm -rf "$new"' EXIT
trap 'exit 130' INT TERM

# ---- NVIDIA's drivers: with apt in a state folder of our own, from the mirror that this machine's own apt sources name

# The packages of a branch begin with one prefix; libcuda itself is PREFIX-cuda1, or libcuda1 if the prefix is libnvidia.
prefixes=(libnvidia libnvidia-tesla{,-418,-450,-460,-470,-535,-550} libnvidia-legacy-390xx)
parts=(ptxjitcompiler1 nvvm4 gpucomp fatbinaryloader)
suites=(bookworm bookworm-backports trixie sid experimental)
security_suites=(bookworm-security)
lists_good_for_minutes=720

# A folder gets its name only when it is complete, so two indispensable files are enough proof.
have_driver() {
	local file
	for file in "libcuda.so.$1" "libnvidia-ptxjitcompiler.so.$1"; do
		[ -d "$store/$1" ] && [ -n "$(find "$store/$1" -name "$file" -size +0 -print -quit)" ] || return 1
	done
}
missing() { local v; wanted=(); for v in ${asked[@]+"${asked[@]}"}; do have_driver "$v" || wanted+=("$v"); done; }
have_lists() { [ -n "$(find "$state/lists" -maxdepth 1 -name '*Packages*' "$@" -print -quit)" ]; }
cuda_package() { [ "$1" = libnvidia ] && echo libcuda1 || echo "$1-cuda1"; }
# offered PACKAGE: prints lines "FULL-VERSION SUITE"
offered() { apt-cache "${options[@]}" madison "$1" | awk -F'|' '{ gsub(/ /, "", $2); split($3, a, " "); print $2, a[2] }'; }

# apt checks sizes and hashes against the signed lists; the files are unpacked beside, checked, and renamed.
fetch_driver() {
	local version=$1 prefix=$2 full=$3 package deb
	new=$store/.new
	rm -rf "$new" "$state"/debs/*
	mkdir -p "$new"
	for package in "$(cuda_package "$prefix")" "${parts[@]/#/$prefix-}"; do
		grep -qxF "$full" < <(offered "$package" | awk '{ print $1 }') || continue # not every branch has every package
		if ! (cd "$state/debs" && apt-get "${options[@]}" -qq download "$package=$full") >"$state/download.log" 2>&1; then
			warn "$version: cannot download $package $full: $(grep -m1 '^[EW]:' "$state/download.log" || tail -1 "$state/download.log")"
			return 3
		fi
	done
	for deb in "$state"/debs/*.deb; do
		dpkg-deb -x "$deb" "$new" || { warn "$version: $(basename "$deb") cannot be unpacked (broken, or no space in $store)"; return 3; }
	done
	rm -rf "${store:?}/$version" "$state"/debs/*
	mv "$new" "$store/$version"
	have_driver "$version" && return
	rm -rf "${store:?}/$version"
	warn "$version: its packages have no libcuda and ptxjitcompiler of this version"
	return 2
}

# If several runs fetch at once, one works and the others wait.
get_drivers() {
	local argument state=$store/.apt list='' asked=() wanted=() tool mirror security keyring suite prefix version full code status=0
	for argument; do
		case $argument in
		--list) list=1 ;;
		--quiet) quiet=1 ;;
		--tested) mapfile -t -O ${#asked[@]} asked < <(grep -oE '^[0-9.]+' "$here/../tests/phantom/drivers.txt") ;;
		-*) usage ;;
		*[!0-9.]* | "") fail 64 "'$argument' is not a driver's version (like 550.163.01)" ;;
		*) asked+=("$argument") ;;
		esac
	done
	[ -n "$list" ] || [ ${#asked[@]} -gt 0 ] || usage
	missing
	[ -n "$list" ] || [ ${#wanted[@]} -gt 0 ] || return 0

	for tool in apt-get apt-cache dpkg-deb flock; do
		command -v "$tool" >/dev/null || fail 2 "drivers are fetched from Debian's packages, and this machine has no $tool"
	done
	mkdir -p "$store" 2>/dev/null && [ -w "$store" ] || fail 3 "$store: cannot be written"
	exec 9>"$store/.lock"
	flock -n 9 || { warn "waiting for another run of this script"; flock 9; }
	missing # another run may have fetched them
	[ -n "$list" ] || [ ${#wanted[@]} -gt 0 ] || return 0

	# shellcheck source=scripts/lib.sh
	. "$here/lib.sh"
	mirror=$(debian_mirror) security=$(debian_security_mirror) keyring=$(debian_keyring)
	[ -n "$mirror" ] || fail 2 "no Debian mirror in this machine's apt sources"

	mkdir -p "$state"/{lists/partial,cache/archives/partial,debs}
	: >"$state/status"
	for suite in "${suites[@]}"; do
		echo "deb [arch=amd64${keyring:+ signed-by=$keyring}] $mirror $suite non-free"
	done >"$state/sources.list"
	for suite in "${security_suites[@]}"; do
		echo "deb [arch=amd64${keyring:+ signed-by=$keyring}] ${security:-$mirror-security} $suite non-free"
	done >>"$state/sources.list"
	options=(-o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State=$state"
		-o "Dir::State::Lists=$state/lists" -o "Dir::State::Status=$state/status" -o "Dir::Cache=$state/cache"
		-o APT::Architecture=amd64 -o APT::Sandbox::User= -o Acquire::Languages=none -o Debug::NoLocking=1
		-o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)

	if ! have_lists -mmin "-$lists_good_for_minutes"; then
		say "reading Debian's package lists"
		if ! apt-get "${options[@]}" -o APT::Update::Error-Mode=any -qq update >"$state/update.log" 2>&1; then
			have_lists || fail 3 "cannot read package lists from $mirror (no network?): $(grep -m1 '^[EW]:' "$state/update.log" || true)"
			warn "some package lists could not be read; going on with those at hand ($state/update.log)"
		fi
	fi

	if [ -n "$list" ]; then
		for prefix in "${prefixes[@]}"; do offered "$(cuda_package "$prefix")"; done | sort -V -u | while read -r full suite; do
			version=${full%-*}
			printf '%s %-14s %-28s %s\n' "$(have_driver "$version" && echo '*' || echo ' ')" "$version" "$full" "$suite"
		done
		return
	fi

	for version in ${wanted[@]+"${wanted[@]}"}; do
		full=''
		for prefix in "${prefixes[@]}"; do
			full=$(offered "$(cuda_package "$prefix")" | awk -v v="$version-" 'index($1, v) == 1 && !found { found = 1; print $1 }')
			[ -z "$full" ] || break
		done
		if [ -z "$full" ]; then
			warn "$version is not offered by Debian's suites (see get.sh drivers --list)"
			[ $status -ne 0 ] || status=2
			continue
		fi
		if fetch_driver "$version" "$prefix" "$full"; then
			say "$version: $store/$version"
		else
			code=$?
			[ $status -eq 3 ] || status=$code
		fi
	done
	return $status
}

# ---- NVIDIA's libraries, from PyPI's wheels

in_folder() { find -L "$1" "${names[@]}" 2>/dev/null | sort | head -1 | grep .; }
fetch_version() { # VERSION
	local version=$1 wheel=$package
	[ "${version%%.*}" -ge 13 ] || wheel=$package-cu${version%%.*} # PyPI's names, up to CUDA 12
	mkdir -p "$store"
	new=$(mktemp -d "$store/.new-XXXXXX")
	for wheel in "$wheel" "${beside[@]}"; do
		python3 -I -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
			--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 -d "$new" "$wheel==$version.*" >&2 ||
			fail 3 "$what $version cannot be fetched"
		python3 -I -m zipfile -e "$new"/*.whl "$new" && rm "$new"/*.whl
	done
	chmod 755 "$new"
	[ ${#beside[@]} = 0 ] || find "$new" \( -path '*/bin/*' -o -name cicc \) -type f -exec chmod 755 {} +
	mv -T "$new" "$store/$version" 2>/dev/null || [ -d "$store/$version" ] # another run was faster
}
get_versions() {
	local fetching=1 version beside=()
	[ "${1:-}" != --here ] || { fetching=''; shift; }
	[ $# -gt 0 ] || usage
	case $what in
	nvrtc) names=(-name 'libnvrtc.so.*' ! -name '*alt*') package=nvidia-cuda-nvrtc ;;
	cudart) names=(-name 'libcudart.so.*') package=nvidia-cuda-runtime ;;
	nvcc) names=(-path '*/bin/nvcc' -size +0) package=nvidia-cuda-nvcc beside=(nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime) ;;
	esac
	for version; do
		[[ $version != -* ]] || usage
		[[ $version =~ ^[0-9]+\.[0-9]+$ ]] || fail 64 "'$version' is not a CUDA version (like 12.4)"
		in_folder "$store/$version" && continue
		if [ -z "$fetching" ]; then
			in_folder "/usr/local/cuda-$version/$([ "$what" = nvcc ] && echo bin || echo lib64)" || exit 3
			continue
		fi
		fetch_version "$version"
		in_folder "$store/$version" || fail 3 "$version: the wheel holds no $what"
	done
}

# ---- frameworks

# name | requirement | python | implementation | platforms
table='
tensorflow-2.3.1-linux      | tensorflow==2.3.1        | 3.8  | cp | manylinux2010_x86_64
tensorflow-2.3.1-windows    | tensorflow==2.3.1        | 3.8  | cp | win_amd64
tensorflow-2.10.0-windows   | tensorflow-gpu==2.10.0   | 3.8  | cp | win_amd64
tensorflow-2.18.0-linux     | tensorflow==2.18.0       | 3.11 | cp | manylinux_2_17_x86_64
torch-1.4.0-linux           | torch==1.4.0             | 3.8  | cp | manylinux1_x86_64
torch-1.7.1-linux           | torch==1.7.1             | 3.8  | cp | manylinux1_x86_64
catboost-1.2.10-linux       | catboost==1.2.10         | 3.11 | cp | manylinux2014_x86_64
catboost-1.2.10-windows     | catboost==1.2.10         | 3.11 | cp | win_amd64
xgboost-1.0.2-linux         | xgboost==1.0.2           | 3.8  | py | manylinux1_x86_64
xgboost-1.3.3-linux         | xgboost==1.3.3           | 3.8  | py | manylinux2010_x86_64
xgboost-1.5.2-linux         | xgboost==1.5.2           | 3.8  | py | manylinux2014_x86_64
xgboost-1.7.6-linux         | xgboost==1.7.6           | 3.8  | py | manylinux2014_x86_64
ctranslate2-4.6.2-linux     | ctranslate2==4.6.2       | 3.11 | cp | manylinux2014_x86_64,manylinux_2_17_x86_64
nvidia-cufft-linux          | nvidia-cufft==12.0.0.61  | 3.11 | py | manylinux2014_x86_64,manylinux_2_27_x86_64
nvidia-cusparse-linux       | nvidia-cusparse==12.6.3.3 | 3.11 | py | manylinux2014_x86_64,manylinux_2_27_x86_64
cupy-14.2.0-linux           | cupy-cuda12x==14.2.0 cuda-pathfinder==1.9.0 numpy==2.4.6 nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127 | 3.11 | cp | manylinux2014_x86_64,manylinux_2_27_x86_64,manylinux_2_28_x86_64
cupy-12.3.0-linux           | cupy-cuda110==12.3.0 fastrlock==0.8.4 numpy==1.26.4 nvidia-cuda-nvrtc-cu11==11.7.99 nvidia-cuda-runtime-cu11==11.7.99 | 3.11 | cp | manylinux2014_x86_64,manylinux_2_17_x86_64,manylinux_2_28_x86_64
'

rows() { printf '%s\n' "$table" | sed -E 's/[[:space:]]*\|[[:space:]]*/|/g; s/[[:space:]]+$//' | grep '|'; }
have_framework() { compgen -G "$store/$1/*.whl" >/dev/null; }

fetch_framework() {
	local name=$1 requirement=$2 python=$3 implementation=$4 platforms=() tags=() requirements=() tag
	IFS=, read -ra tags <<<"$5"
	IFS=' ' read -ra requirements <<<"$requirement"
	for tag in "${tags[@]}"; do platforms+=(--platform "$tag"); done
	new=$store/.$name.new
	rm -rf "$new"
	mkdir -p "$new"
	echo "$name: fetching" >&2
	if ! python3 -I -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version "$python" \
		--implementation "$implementation" "${platforms[@]}" -d "$new" "${requirements[@]}" >&2; then
		warn "$name: $requirement cannot be fetched"
		return 3
	fi
	mv "$new" "$store/$name"
}
get_frameworks() {
	local argument wanted=() name requirement python implementation platforms status=0
	for argument; do
		case $argument in
		--list) rows | while IFS='|' read -r name requirement _; do
				printf '%s %-28s %s\n' "$(have_framework "$name" && echo '*' || echo ' ')" "$name" "$requirement"
			done
			return ;;
		-*) usage ;;
		*) grep -q "^$argument|" < <(rows) || fail 64 "no such line: $argument (see get.sh frameworks --list)"
			wanted+=("$argument") ;;
		esac
	done
	while IFS='|' read -r name requirement python implementation platforms; do
		if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then continue; fi
		have_framework "$name" || fetch_framework "$name" "$requirement" "$python" "$implementation" "$platforms" || status=3
		have_framework "$name" && ls "$store/$name"/*.whl
	done < <(rows)
	return $status
}

# ---- the command line

what=${1:-} quiet=''
case $what in
-h | --help) help; exit 0 ;;
drivers) get=get_drivers ;;
nvrtc | cudart | nvcc) get=get_versions ;;
frameworks) get=get_frameworks ;;
*) usage ;;
esac
shift
[[ ${1:-} != -h && ${1:-} != --help ]] || { help; exit 0; }
store=JITWARM_${what^^}
store=${!store:-${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/$what}
"$get" "$@"
