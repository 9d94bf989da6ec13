# The variables of debuggers and profilers, by which NVIDIA's driver loads a library and writes files, reach no worker: root's environment may
# have them from another account, whose folder they name.
. "$cases/../lib.sh"
with_simdriver sm_86
export SIMDRIVER_LOG=$work/events
export CUDA_INJECTION64_PATH=$home/injected.so CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 \
	CUDA_COREDUMP_PIPE=$home/pipe CUDA_COREDUMP_FILE=$home/core CUDA_LOG_FILE=$home/log CUDA_AMODEL_DLL=$home/injected.so \
	CUDBG_INJECTION_PATH=$home/injected.so CUDA_MPS_PIPE_DIRECTORY=$open/mps
# cuInit waits for the answer of whoever listens in the folder of MPS.
mkdir "$open/mps"
touch "$open/mps/control" "$home/control"
chown $mallory "$open/mps/control" "$home/control"
quiet() { ! grep ' debug ' "$SIMDRIVER_LOG" || fail "$*: a worker got them"; }
cp "$sample" "$work/lib.so"
for command in "status" "doctor $work/lib.so" "prime $work/lib.so" "bake -o $work/baked $work/lib.so"; do
	# shellcheck disable=SC2086
	run '0|1|2' $command
	[[ $command != prime* ]] || grep -q ' compile ' "$SIMDRIVER_LOG" || fail "the worker logged nothing"
	quiet "$command"
done
# They stay for a program that root runs.
run 0 run -- printenv CUDA_INJECTION64_PATH
out_has "$home/injected.so"
# Root's own MPS stays, unless its folder is the account's.
chown 0 "$open/mps/control"
rm -rf "$CUDA_CACHE_PATH"
run 0 prime "$work/lib.so"
grep -q ' debug CUDA_MPS_PIPE_DIRECTORY' "$SIMDRIVER_LOG" || fail "root's MPS is left out"
rm "$SIMDRIVER_LOG"
chown $mallory "$open/mps"
rm -rf "$CUDA_CACHE_PATH"
run 0 prime "$work/lib.so"
quiet "an account's folder"
