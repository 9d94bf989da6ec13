#!/bin/bash
# The driver is upgraded in its own file, as Windows does it: what the former one has compiled goes over with --carry-over, is
# marked, and is replaced when asked for.
. "$(dirname "$0")/lib.sh"
make_newer
newer_jitwarm() { under_newer "$build/src/jitwarm.exe" "$@"; }
starts_warm() {
	under_newer "$build/tests/framework/framework-app.exe"
	exits 0 framework-app
	grep -q '^compiled 0 of' "$out" || fail 'the application has modules compiled'
}

fresh_user
jitwarm prime --no-store --json "$sample_dll"
exits 0 prime
modules=$(json 'd["compiled"]')
[ "$modules" -gt 4 ] || fail "$modules modules"

newer_jitwarm prime --no-store --dry-run "$sample_dll"
exits 1 'prime --dry-run under the newer driver'
says 'older, --carry-over takes it'
newer_jitwarm prime --no-store --carry-over --json "$sample_dll"
exits 0 'prime --carry-over'
json_is 'd["compiled"], d["carried"], d["carried_over"]["older"]' "(0, $modules, $modules)"
starts_warm
newer_jitwarm check --json "$sample_dll"
json_is 'd["warm"], d["carried"]' "($modules, $modules)"

newer_jitwarm prime --no-store --recompile-carried --json "$sample_dll"
exits 0 'prime --recompile-carried'
json_is 'd["compiled"], d["anew"]' "($modules, $modules)"
newer_jitwarm check --json "$sample_dll"
exits 0 check
json_is 'd["warm"], d["carried"]' "($modules, 0)"
starts_warm
newer_jitwarm cache verify --json
json_is 'd["damaged"]' 0

# Back again: what the former driver had is there still
jitwarm prime --no-store --carry-over --json "$sample_dll"
exits 0 'prime under the former driver'
json_is 'd["compiled"], "carried_over" in d' '(0, False)'
