# doctor finds each faulty setting, which this test makes for real, with its evidence, and no longer finds it after its fix.
# shellcheck source=/dev/null
differs_for WINDOWS
. "$cases/../doctors.sh"
warm

# ---- settings: each fault has its finding and its cost; without the fault nothing is compiled
CUDA_CACHE_DISABLE=1 snapshot probed 2 cache-disabled "$sample"
says_of cache-disabled evidence "CUDA_CACHE_DISABLE=1, set in this process"
json 'd["probe"] == "not asked"'
CUDA_CACHE_DISABLE=1 app_compiles 8
app_compiles 0
CUDA_FORCE_PTX_JIT=1 snapshot found 2 jit-forced "$sample"
CUDA_FORCE_PTX_JIT=1 app_compiles 8
# This fault also makes the driver refuse the probe's tiny module, which is no second finding.
CUDA_DISABLE_PTX_JIT=1 snapshot probed 1 jit-disabled "$sample"
CUDA_DISABLE_PTX_JIT=1 CUDA_CACHE_PATH=$place/none snapshot run 1 check "$sample"
CUDA_CACHE_MAX_SIZE=2147483648 snapshot found 1 misnamed "$sample"
says_of misnamed fix CUDA_CACHE_MAXSIZE
CUDA_CACHE_PATH='' snapshot found 2 "no-cache-path cold" "$sample"
says_of cold fix "first fix the findings above"
CUDA_CACHE_PATH=$place/readme found 1 cold "$sample"
: >"$place/file"
CUDA_CACHE_PATH=$place/file snapshot found 2 "cache-unwritable cold" "$sample"
says_of cache-unwritable evidence "not a directory"
if ! is_wine; then
	CUDA_CACHE_PATH=/proc/none/cache found 2 "cache-unwritable cold" "$sample"
	(unset CUDA_CACHE_PATH HOME && snapshot found 2 "no-cache-path cold" "$sample") || exit 1
	(cd "$place" && CUDA_CACHE_PATH=cache snapshot found 1 path-relative "$sample") || exit 1
	CUDA_CACHE_PATH=$work/cache found 1 "cold bad-place" "$sample"
	says_of bad-place evidence "lost at a restart"
	# The next login has another directory.
	CUDA_CACHE_PATH=$work/cache run 0 tune --path "$place/kept" --apply
	CUDA_CACHE_PATH=$work/cache snapshot found 1 "cold bad-place" "$sample"
	says_of bad-place fix "log out and in again: "
	CUDA_CACHE_PATH=$work/cache run 0 tune --undo
	CUDA_CACHE_PATH=/tmp/jitwarm-none-$$ found 1 "cold bad-place" "$sample" # the parent folder stays, and is not what the finding names
	(unset CUDA_CACHE_PATH; HOME=/proc/none found 2 "cache-unwritable cold" "$sample") || exit 1
fi

# ---- the limit
CUDA_CACHE_MAXSIZE=1G snapshot found 1 limit-misread "$sample"
says_of limit-misread evidence "the driver reads"
json '"--max-size=1073741824" in next(f for f in d["findings"] if f["id"] == "limit-misread")["command"]'
# The driver keeps 4 GiB with that value: this is no fault, and no reason to lower it.
CUDA_CACHE_MAXSIZE=8589934592 found 0 "" "$sample"
CUDA_CACHE_MAXSIZE=200000 found 1 limit-small "$sample"
says_of limit-small evidence ": the driver will delete old entries"
(unset CUDA_CACHE_MAXSIZE && healthy "$sample") || exit 1
rm -rf "$place/cache"
CUDA_CACHE_MAXSIZE=200000 snapshot found 1 "limit-small cold" "$sample"
CUDA_CACHE_MAXSIZE=200000 app_compiles 8
CUDA_CACHE_MAXSIZE=200000 simulated "$app" >"$out" 2>&1
out_lacks "compiled 0 of"
warm

# ---- the printed command finds a setting in a profile, which jitwarm leaves to its owner
if ! is_wine; then
	export SHELL=/bin/bash
	printf 'export CUDA_CACHE_DISABLE=1\nexport CUDA_CACHE_MAXSIZE=200000\n' >"$HOME/.profile"
	cp "$HOME/.profile" "$place/profile"
	CUDA_CACHE_DISABLE=1 found 2 cache-disabled "$sample"
	says_of cache-disabled fix "grep -rns CUDA_CACHE_DISABLE /etc/environment"
	CUDA_CACHE_DISABLE=1 snapshot run 2 doctor --fix --no-probe "$sample"
	cmp "$HOME/.profile" "$place/profile" || fail "the profile was changed: $(cat "$HOME/.profile")"
fi
