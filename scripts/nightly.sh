#!/usr/bin/env bash
# nightly.sh [--hours N] [STAGE...]   tests that take too long for each change, in stages: all of them, or those that are named
#
#   tests    test.sh, test.sh --all and the tests of the nightly set in all three builds, with more first starts (JITWARM_LONG_TESTS=1), changed
#            answers of servers (JITWARM_MUTATIONS=125), mutated libraries (JITWARM_MUTATED=500), and the staged stalls (tests/stories)
#   offline  the first set of tests without a network
#   drivers  the conformance suite on every available driver (driver-matrix.sh)
#   torture  each call that fails, and each before which a command is killed (tests/torture)
#   states   500 states of cache, index, limit and environment on each driver at hand (tests/driver/states.py)
#   mutants  mistakes by rule in every room, a different sample each night (mutants.py)
#   analyse  clang-tidy with more ways through each function (tidy.py --deep)
#   compile  every build type, and the flags of Debian's and Fedora's packages, with gcc and clang (compile.sh)
#   cover    the share of the branches that tests take (coverage.py)
#   wheels   the answers of “which” for 30 releases, against scans of their wheels (compare-wheels.py); what pip and uv find with
#            its constraints (tests/constraints/resolve.py)
#   aarch64  unit tests, fuzz corpora and commands on arm64, under an emulator (test-aarch64.sh)
#   fuzz     every fuzz target, the same time each (fuzz.sh)
#   release  a release that is not published (release.sh --dry-run): all packages, built twice, each installed, upgraded and removed
#   machines the README on bare machines (fresh.sh); the release's packages on older systems too, and by autopkgtest; an upgrade of the driver (tests/driver/machine.sh)
#
# --hours N   processor time for all of “fuzz”: 4 by default
# Each stage's output goes to build/nightly/STAGE.log, too. Last line: “stages: N passed, N failed, N skipped”. A stage that lacks
# what it needs is skipped. Exit status: 0, or 1 if a stage failed; 64 wrong usage.
# shellcheck disable=SC2317 # functions are called by name
set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
usage() { sed -n '2,24s/^# \{0,1\}//p' "$0"; }
every=(tests offline drivers torture states mutants analyse compile cover wheels aarch64 fuzz release machines)
hours=4 wanted=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--hours) hours=${2-}; shift ;;
	*) wanted+=("$1") ;;
	esac
	shift
done
[[ $hours =~ ^[1-9][0-9]{0,3}$ ]] || { usage >&2; exit 64; }
for name in "${wanted[@]}"; do
	[[ " ${every[*]} " == *" $name "* ]] || { usage >&2; exit 64; }
done
[ ${#wanted[@]} -gt 0 ] || wanted=("${every[@]}")

night_tests() {
	local build status=0
	export JITWARM_LONG_TESTS=1 JITWARM_MUTATIONS=125 JITWARM_MUTATED=500
	./scripts/test.sh || status=1
	./scripts/test.sh --all || status=1
	JITWARM_RESULTS=$(mktemp) && export JITWARM_RESULTS
	for build in release sanitize windows; do
		CTEST_PARALLEL_LEVEL=$(($(nproc) + 1)) ./scripts/run-tests.py "nightly tests ($build)" build/$build -L '^nightly$' || status=1
	done
	tests/stories/stalls.sh || status=1
	return $status
}
# Set-up has fetched what the tests need, so nothing is left for the network.
night_offline() { unshare --net -- bash -c 'ip link set lo up 2>/dev/null; exec ./scripts/test.sh'; }
night_drivers() { ./scripts/driver-matrix.sh -o build/nightly/driver-behaviour.md; }
night_analyse() { ./scripts/tidy.py --deep; }
night_wheels() {
	local status=0
	./scripts/compare-wheels.py --jitwarm build/release/src/jitwarm --draw 30 || status=1
	tests/constraints/resolve.py build/release/src/jitwarm || [ $? = 77 ] || status=1
	return $status
}
night_compile() { ./scripts/compile.sh; }
night_torture() {
	local status=0
	STRUCK_EVERY=1 build/release/tests/torture/test_struck || status=1
	STRUCK_EVERY=1 scripts/with-simdriver.sh -B build/release sm_86,sm_89 -- build/release/tests/torture/test_struck_commands || status=1
	python3 -B tests/torture/torture.py build/release --jobs "$(nproc)" || status=1
	return $status
}
night_states() {
	local status=0 driver said=1
	for driver in 470.256.02 535.309.01 550.163.01 555.58.02; do
		python3 -B tests/driver/states.py build/release $driver --states 500 --jobs "$(nproc)" && said=0 && continue
		[ $? = 77 ] || status=1
	done
	[ $status$said != 01 ] || return 77
	return $status
}
night_mutants() { ./scripts/mutants.py --trace; ./scripts/mutants.py --sample 200 --seed "$(date +%j)"; }
night_aarch64() { ./scripts/test-aarch64.sh; }
night_cover() { ./scripts/coverage.py; }
night_fuzz() {
	local target status=0 targets
	mapfile -t targets < <(./scripts/fuzz.sh list)
	[ ${#targets[@]} -gt 0 ] || return 1
	for target in "${targets[@]}"; do
		./scripts/fuzz.sh "$target" $((hours * 3600 / ${#targets[@]})) || status=1
	done
	return $status
}
night_release() {
	rm -rf build/nightly/dist
	./scripts/release.sh --dry-run -o build/nightly/dist
}
night_machines() {
	local status=0 target
	./scripts/fresh.sh || [ $? = 77 ] || status=1
	[ -d build/nightly/dist ] || night_release || return 1
	./scripts/build-linux.sh || return 1
	for target in bookworm trixie noble; do ./scripts/try.sh deb build/nightly/dist build/release --autopkgtest $target || [ $? = 77 ] || status=1; done
	./tests/driver/machine.sh build/nightly/dist build/release || [ $? = 77 ] || status=1
	./scripts/try.sh archive build/nightly/dist/jitwarm-*-linux-x86_64.tar.zst build/linux-x86_64 || [ $? = 77 ] || status=1
	./scripts/try.sh wheel build/nightly/dist build/linux-x86_64 || [ $? = 77 ] || status=1
	./scripts/try.sh install build/nightly/dist build/linux-x86_64 noble || [ $? = 77 ] || status=1
	./scripts/build-windows.sh && ./scripts/try-windows-package.sh || [ $? = 77 ] || status=1
	{ cmake --preset windows && cmake --build --preset windows --target jitwarm; } >build/nightly/preset.log 2>&1 || status=1
	return $status
}
night() { "night_$1" </dev/null 2>&1 | tee "build/nightly/$1.log"; }

mkdir -p build/nightly
./scripts/setup.sh --tests --all --windows && build_preset release || exit 1
for name in "${wanted[@]}"; do stage "$name" night "$name"; done
stages_end
