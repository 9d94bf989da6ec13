# shellcheck shell=bash
# Sourced by the cases of doctor, which then run under the simulated driver; $program is jitwarm without it.
#
#   fresh, warm     the cache at $place/cache is none; is primed. The first time that takes a prime, then a copy
#   found STATUS IDS ARGUMENT…    just these findings, without the probe; probed: the same with it; healthy: none, with the probe
#   says_of ID MEMBER TEXT        what a finding says

program=$JITWARM
with_simdriver sm_86
# doctor would report a folder for temporary files.
base=/var/tmp
! is_wine || base=$build # below a folder for all a cache is no administrator's own
# doctor would also report a container's own layer.
is_wine || [[ $(stat -f -c %T "$base") != overlay* ]] || skip "$base is in a container's own layer"
place=$(mktemp -d "$base/jitwarm-doctor.XXXXXX") || skip "no $base"
trap 'rm -rf "$place"' EXIT
fresh() { rm -rf "$place/cache"; export CUDA_CACHE_PATH=$place/cache; }
warm() {
	fresh
	if [ -d "$place/primed" ]; then
		cp -rp "$place/primed" "$place/cache"
	else
		run 0 prime --quiet "$sample"
		cp -rp "$place/cache" "$place/primed"
	fi
}
probed() {
	local status=$1 ids=$2
	shift 2
	run "$status" doctor --json "$@"
	json "[f['id'] for f in d['findings']] == '$ids'.split() and all(f['evidence'] and f['fix'] and '\n' not in f['evidence'] + f['fix'] for f in d['findings'])"
}
found() { probed "$@" --no-probe; }
healthy() { probed 0 "" "$@"; }
says_of() { json "all(t in next(f for f in d['findings'] if f['id'] == '$1')['$2'] for t in [r'''$3'''])"; }
