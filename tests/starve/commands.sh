#!/bin/bash
# commands.sh BUILD-FOLDER GROUP [EVERY [-s] [-w]]   commands in which memory runs out, place by place (starve.c)
#
# GROUP: reads, writes, runs, bakes, workers. EVERY: only each EVERY-th place; default 1, which is all of them. -s: calls of the system
# fail instead; -w: in workers.
# Exit status: 0, 1 where a command does not bear it, 77 without the simulated driver.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 2 ] && [ $# -le 5 ] || { sed -n '2s/^# /usage: /p' "$0" >&2; exit 64; }
build=$(cd "$1" && pwd) group=$2 flags=("${@:4}")
sample=$build/tests/framework/libsample_framework.so
[ -e "$build/tests/simdriver/lib" ] && [ -e "$sample" ] || { echo "skipped: no simulated driver in $build"; exit 77; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Each trial finds the same paths: `now` is what a command works on, `kept` what that is at first
now=$scratch/now kept=$scratch/kept
mkdir -p "$now"/{home,root/proc,root/etc,site/sample,site/sample-1.0.dist-info,tmp}
printf 'MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\n' >"$now/root/proc/meminfo"
unset "${!SIMDRIVER_@}" "${!CUDA_@}" "${!XDG_@}" "${!PYTHON@}" CONDA_PREFIX VIRTUAL_ENV
export HOME=$now/home TMPDIR=$now/tmp JITWARM_STATE=$now/state CUDA_CACHE_PATH=$now/cache JITWARM_SYSTEM_ROOT=$now/root
export STARVE_EVERY=${3:-1}
export JITWARM_FRAMEWORKS=/nonexistent JITWARM_STORE=1 NO_COLOR=1 LC_ALL=C.UTF-8 SHELL=/bin/bash
cd "$now" || exit 1

under() { cd "$now" && "$root/scripts/with-simdriver.sh" -B "$build" sm_86,sm_89 -- "$@"; }
jitwarm() { under "$build/src/jitwarm" "$@" >"$scratch/out" 2>&1 || { echo "jitwarm $* ended with $?"; cat "$scratch/out"; exit 1; }; }
failed=0
reads() { under "$build/tests/starve/starve" "${flags[@]}" "$@" || failed=1; }
writes() { under "$build/tests/starve/starve" "${flags[@]}" -c "$kept" "$now" "$@" || failed=1; }
keep() { rm -rf "$kept" && cp -a "$now" "$kept"; }

break_it() { # an entry that is cut, a row without a file
	local names
	mapfile -t names < <(find cache -path "cache/?/?/*" -type f | sort)
	truncate -s 50 "${names[0]}"
	rm "${names[1]}"
}

# Calls for its own files alone: some commands look at every process of the machine
[[ ${flags[*]} != *-s* ]] || export STARVE_PATH=$scratch
cp "$sample" site/sample/lib.so
cp "$sample" "$scratch/sample.so"
sample=$scratch/sample.so
row=sample/lib.so,sha256=$(openssl dgst -sha256 -binary "$sample" | base64 | tr '+/' '-_' | tr -d '=\n'),$(stat -c %s "$sample")
printf 'sample/other.py,,\n%s\n' "$row" >site/sample-1.0.dist-info/RECORD
printf 'Name: sample\nVersion: 1.0\n' >site/sample-1.0.dist-info/METADATA
jitwarm key generate --no-passphrase
jitwarm prime "$sample"
jitwarm export -o a.jwpack

case $group in
reads)
	jitwarm tune --apply --scope shell --max-size 2GiB
	reads status --json
	reads scan "$sample"
	reads scan --json --modules "$sample"
	reads check --explain "$sample"
	reads check --json "$sample"
	reads cache list --json
	reads cache verify
	reads cache prune --arch sm_89
	reads store list --json
	reads key list --json
	# This looks at every process of the machine
	STARVE_EVERY=$((40 * STARVE_EVERY)) reads tune --json
	reads import --dry-run --json --allow-unsigned a.jwpack
	reads prime --dry-run "$sample"
	reads bake list --json
	reads startup status --json
	[[ ${flags[*]} == *-s* ]] || reads prime --help
	;;
writes)
	rm -r cache
	keep
	STARVE_EVERY=$((40 * STARVE_EVERY)) writes tune --apply --scope shell --max-size 2GiB
	writes import --allow-unsigned --json a.jwpack
	jitwarm import --allow-unsigned a.jwpack
	keep
	writes export -o b.jwpack --sign --package "$sample"
	writes export --opaque -o b.jwpack --json
	writes key import state/keys/default.key second
	writes key trust state/keys/default.pub second
	writes store gc --max-size 1K
	STARVE_EVERY=$((8 * STARVE_EVERY)) writes bake -o out site/sample/lib.so
	jitwarm tune --apply --scope shell --max-size 2GiB
	break_it
	keep
	writes tune --undo
	writes uninstall --json
	writes cache verify --repair
	writes cache prune --arch sm_86 --damaged --apply --keep c.jwpack
	;;
runs) # what starts other programs
	mkdir -p bin run cuda
	chmod 700 run
	printf '#!/bin/sh\n' >bin/systemctl && chmod +x bin/systemctl
	export PATH=$now/bin:$PATH XDG_RUNTIME_DIR=$now/run
	rm -r cache
	jitwarm tune --apply --scope shell --max-size 2GiB
	keep
	writes record -o r.json -- "$build/tests/framework/framework-app"
	writes run --json -- "$build/tests/framework/framework-app"
	writes prime --no-store --jobs 1 "$sample"
	jitwarm startup enable "$now/site"
	keep
	writes startup disable
	writes prime --if-changed --json-log log.jsonl "$sample"
	;;
bakes)
	python3 "$root/tests/bake/wheels.py" make-one "$sample" in
	keep
	writes bake --in-place site/sample/lib.so
	writes bake -o out in/sample-1.0-py3-none-any.whl
	under "$build/src/jitwarm" bake --in-place site/sample/lib.so >/dev/null || [ $? = 1 ] || exit 1
	keep
	writes bake verify
	writes bake --undo site/sample/lib.so
	;;
workers)
	rm -r cache
	keep
	writes prime --no-store --jobs 1 "$sample"
	;;
*) exit 64 ;;
esac
exit $failed
