# The script of the GitHub actions that restore and save makes a key and a signed pack, and fills another runner's cache from the pack.
is_wine && skip "GitHub's GPU runners have Linux"
with_simdriver sm_86
cd "$work" || exit 3
root=$cases/../../..
for action in restore save; do
	for variable in $(grep -o 'CACHE_[A-Z_]*: ' "$root/actions/$action/action.yml" | tr -d ': ' | sort -u); do
		grep -q "$variable" "$root/scripts/cache-action.sh" || fail "cache-action.sh lacks $variable"
	done
done
[[ $(grep -c 'if: github.event.pull_request.head.repo.fork != true' "$root/actions/save/action.yml") == $(grep -cE '^    - ' "$root/actions/save/action.yml") ]] ||
	fail "a step of save runs for forks, too"
printf '#!/bin/sh\nexec %s "$@"\n' "$JITWARM" >"$work/jitwarm" && chmod +x "$work/jitwarm"
export CACHE_JITWARM=$work/jitwarm CACHE_PACKAGES=$sample RUNNER_TEMP=$work/temp
mkdir -p "$RUNNER_TEMP"
acts() { "$root/scripts/cache-action.sh" "$@" >"$out" 2>"$err"; }

acts key || fail "no key: $(cat "$err")"
first=$(cat "$out")
grep -qE '^prefix=jitwarm-[0-9.]+-sm_86-$' "$out" && grep -qE '^key=jitwarm-[0-9.]+-sm_86-[0-9a-f]{16}$' "$out" || fail "not a key: $first"
CACHE_PUBLIC_KEY=x acts import || fail "without a pack: $(cat "$err")"
run 0 prime "$sample"
acts key && [[ $(cat "$out") == "$first" ]] || fail "the key depends on what is warm: $(cat "$out")"
acts export && fail "an unsigned pack was written"
run 0 key generate
secret=$(cat "$JITWARM_STATE/keys/default.key") public=$(cat "$JITWARM_STATE/keys/default.pub")
CACHE_SECRET_KEY=$secret acts export || fail "no pack: $(cat "$err")"
[[ -s $RUNNER_TEMP/jitwarm.jwpack && -s $RUNNER_TEMP/jitwarm.jwpack.minisig ]] || fail "not a signed pack: $(ls "$RUNNER_TEMP")"

# The other runner trusts that key alone.
export JITWARM_STATE=$work/other-state CUDA_CACHE_PATH=$work/other-cache
CACHE_PUBLIC_KEY=$public acts import || fail "not imported: $(cat "$err")"
run 0 check "$sample"
printf x >>"$RUNNER_TEMP/jitwarm.jwpack"
CACHE_PUBLIC_KEY=$public acts import || fail "a changed pack ends the job: $(cat "$err")"
grep -q "::warning::" "$out" || fail "a changed pack is no warning: $(cat "$out")"
acts import && fail "without a key: $(cat "$out")"
acts nothing && fail "nothing was done"
true
