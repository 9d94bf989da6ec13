# The GitHub actions restore, save and lint do their work as a runner starts them (runner.py); pull requests of forks only restore.
is_wine && skip "GitHub's GPU runners have Linux"
python3 -c 'import yaml' 2>/dev/null || skip "no PyYAML"
with_simdriver sm_86
cd "$work" || exit 3
root=$cases/../../..
printf '#!/bin/sh\nexec %s "$@"\n' "$JITWARM" >"$work/jitwarm" && chmod +x "$work/jitwarm"
mkdir -p "$work/runner" && export PATH=$work:$PATH
push='{"event_name": "push"}'
# pull REPOSITORY: the event of a pull request from this repository; null: a repository that is gone
pull() { printf '{"event_name": "pull_request", "pull_request": {"head": {"repo": %s}}}' "$1"; }
own=$(pull '{"full_name": "Owner/project", "fork": true}') fork=$(pull '{"full_name": "stranger/project", "fork": true}')
# acts STATUS ACTION EVENT INPUT=VALUE…: the action ends with this status
acts() {
	local wanted=$1 action=$2 ended=0
	shift 2
	python3 -B "$cases/../runner.py" "$root/$action" "$work/runner" "$@" >"$out" 2>"$err" || ended=$?
	last=("$action" "$@")
	[[ $ended == "$wanted" ]] || fail "ended with $ended, not $wanted: $(cat "$out" "$err")"
}
restore() { acts 0 actions/restore "$1" packages="$sample" public-key="$public"; }
result() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$work/runner/outputs.json" "$1"; }
kept() { find "$work/runner/cache" -mindepth 1 -maxdepth 1 | wc -l; }
# machine NAME: the next commands run on another runner, with an empty cache
machine() { export JITWARM_STATE=$work/$1-state CUDA_CACHE_PATH=$work/$1-cache; }

run 0 key generate
secret=$(cat "$JITWARM_STATE/keys/default.key") public=$(cat "$JITWARM_STATE/keys/default.pub")

# Without a pack the job begins cold. A job that compiled nothing keeps nothing, and goes on.
machine one
restore "$push"
err_has "jitwarm: no pack yet"
key=$(result key)
[[ $key =~ ^jitwarm-[0-9.]+-sm_86-[0-9a-f]{16}$ && $(result hit) == "" ]] || fail "key and hit: $key, $(result hit)"
acts 0 actions/save "$push" packages="$sample" secret-key="$secret"
err_has "::warning::jitwarm: nothing is kept"
[[ $(kept) == 0 ]] || fail "a pack without modules is kept"
# The modules that the job compiles are kept, signed, under a key that does not depend on what is warm.
run 0 prime "$sample"
acts 0 actions/save "$push" packages="$sample" secret-key="$secret"
[[ $(kept) == 1 && -s $(echo "$work"/runner/cache/"$key"*/jitwarm.jwpack.minisig) ]] || fail "not kept: $(ls -R "$work/runner/cache")"
acts 1 actions/save "$push" packages="$sample"
err_has "secret-key is missing: packs are signed"

# Another runner is warm afterwards, also in a fork's pull request, which has no secrets.
machine two
restore "$push"
[[ $(result hit) == true ]] || fail "no hit"
run 0 check "$sample"
machine three
public=$(tail -1 <<<"$public") # the key alone, as a workflow has it
restore "$fork"
run 0 check "$sample"

# Pull requests of forks, of repositories that are gone, and those that get no secrets (Dependabot's) keep nothing; those of a branch of the
# repository do, also if the repository itself is a fork.
rm -r "$work"/runner/cache/*
for event in "$fork" "$(pull null)"; do
	acts 0 actions/save "$event" packages="$sample" secret-key="$secret"
	[[ $(kept) == 0 ]] || fail "a pull request of a fork keeps a pack"
done
acts 0 actions/save "$own" packages="$sample"
[[ $(kept) == 0 ]] || fail "a pack without a secret key"
acts 0 actions/save "$own" packages="$sample" secret-key="$secret"
[[ $(kept) == 1 ]] || fail "a pull request of the repository keeps nothing: $(cat "$out" "$err")"

# Other modules have another key, but the pack of the same driver and GPU is better than none.
machine four
printf '.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/k.ptx"
acts 0 actions/restore "$push" packages="$sample $work/k.ptx" public-key="$public"
[[ $(result key) != "$key" && $(result hit) == false ]] || fail "key and hit: $(result key), $(result hit)"
run 0 check "$sample"

# A pack of somebody else, or a changed one, makes the job slow, not wrong. Without a key nothing is imported.
machine five
printf x >>"$(echo "$work"/runner/cache/*/jitwarm.jwpack)"
restore "$push"
err_has "::warning::jitwarm: the pack of the cache was not imported"
run 1 check "$sample"
acts 1 actions/restore "$push" packages="$sample"
err_has "public-key is missing: packs hold code that GPUs run"
# A failure has a reason.
acts 1 actions/restore "$push" packages=no-such-package public-key="$public"
err_has "no-such-package"
"$root/scripts/cache-action.sh" nothing >"$out" 2>"$err" && fail "nothing was done"

# The action that lints: annotations, table, status, and all inputs
acts 1 . "$fork" paths="$work/*.ptx" gpus=rtx30,rtx50 arch-list=8.6 max-start=1h driver=550
out_has "::error file=$work/k.ptx,title=--arch-list::it lacks sm_86"
out_has "::error title=sm_120 (RTX 50)::"
grep -q "^sm_86 (RTX 30)" "$work/runner/summary.md" || fail "no table: $(cat "$work/runner/summary.md")"
acts 0 . "$push" paths="$work/k.ptx" gpus=rtx30 jitwarm="$work/jitwarm"
acts 3 . "$push" paths="$work/absent-*.whl"

# In a container, a job is root, and its home and folders belong to the runner's account.
if [[ $(id -u) == 0 ]]; then
	rm -rf "$work"/runner/cache/* && mkdir "$work/home-of-runner" && chown -R 64321 "$work/home-of-runner" "$work/runner"
	unset JITWARM_STATE CUDA_CACHE_PATH
	export HOME=$work/home-of-runner
	acts 0 actions/restore "$push" packages="$sample" public-key="$public"
	JITWARM_TRUST_ACCOUNTS=1 run 0 prime "$sample"
	acts 0 actions/save "$push" packages="$sample" secret-key="$secret"
	[[ $(kept) == 1 ]] || fail "nothing was kept: $(cat "$err")"
	rm -r "$HOME"/.nv
	restore "$push"
	[[ $(result hit) == true ]] || fail "no hit"
	JITWARM_TRUST_ACCOUNTS=1 run 0 check "$sample"
fi
