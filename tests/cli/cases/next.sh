# Each advised next step exists for every request: run checks each printed line against the tables of options, and runs it (steps.sh).
with_simdriver sm_86
environment "$work/env" 1.0

# These files are examined only with --all.
snapshot run 1 check --all "$sample"
# For another driver, the advice is to make a pack, since prime takes no driver.
snapshot run 1 check --driver 555.58.02 "$sample"
# There is no wheel with the ptxas of CUDA 11.4.
snapshot run "1|2" check --driver 470.256.02 "$sample"
# A pack needs both a target and a driver, whichever was named.
differs_for WINDOWS snapshot run 1 check --target rtx4090 "$sample"
grep -q -e "--target rtx4090 --driver .*\(nvcuda\|libcuda\).* --fetch -o FILE.jwpack " "$out" || fail "no driver in the line"

# A name with extras is not looked up in an index.
export VIRTUAL_ENV=$work/env
snapshot run 3 check 'jax[cuda12]'
snapshot run 3 check 'jax[cuda12]==0.4.30'
unset VIRTUAL_ENV

# A name stays one word, also if it looks like an option.
mkdir -p "$work/it is" && cp "$sample" "$work/it is/o'brien & \$(touch x).so"
odd="$work/it is/o'brien & \$(touch x).so"
differs_for WINDOWS snapshot run 1 check "$odd"
(cd "$work" && cp "$sample" ./-x.so && snapshot run 1 check -- -x.so && out_has "Next: jitwarm prime -- -x.so") || exit 1
if ! is_wine; then
	mkdir -p "$work/none/dev" "$work/none/proc/sys/kernel"
	program=${JITWARM##* }
	(JITWARM=$program JITWARM_SYSTEM_ROOT=$work/none JITWARM_PCI_DEVICES='' && export JITWARM_SYSTEM_ROOT JITWARM_PCI_DEVICES
		snapshot run 2 doctor --no-probe "$odd"
		run 2 prime "$odd"
		err_has "-o FILE.jwpack '$work/it is/o'\\''brien & \$(touch x).so'”") || exit 1
fi
[[ ! -e $work/x ]] || fail "a name was run"

# The driver does not use its cache.
unusable=/proc/none/cache
is_wine && unusable=/dev/null/cache
CUDA_CACHE_PATH=$unusable run 2 prime "$sample"
err_has "    to name another directory: jitwarm tune --path DIR --apply"
CUDA_CACHE_PATH=$unusable run 2 check "$sample"
err_has "    to name another directory: jitwarm tune --path DIR --apply"
for variable in CUDA_CACHE_DISABLE CUDA_FORCE_PTX_JIT; do
	(export "$variable=1" && snapshot run 2 prime "$sample" && err_has "    to see where it is set: jitwarm tune") || exit 1
done

is_wine && exit 0
# A login without its session bus cannot use units.
printf '#!/bin/sh\n[ "$1" = --version ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }\n' >"$work/bin/systemctl"
chmod +x "$work/bin/systemctl"
program_path=$work/bin:$PATH snapshot run 3 startup enable "$sample"

# The disk is full.
printf '#!/bin/sh\nmount -t tmpfs -o size=64k none "%s" && exec "$@"\n' "$work/cache" >"$work/with-small"
chmod +x "$work/with-small"
if mkdir -p "$work/cache" && unshare -rm "$work/with-small" true 2>/dev/null; then
	(run 0 prime --cache "$work/full" "$sample" && JITWARM="unshare -rm $work/with-small $JITWARM" &&
		snapshot run 3 export --cache "$work/full" -o "$work/cache/x.jwpack" && err_has "No space left on device: free some space, or name another folder") || exit 1
fi
