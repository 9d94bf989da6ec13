# Only listed variables reach a worker: by others NVIDIA's driver and compilers load libraries and write files. Root's environment may have them
# from another account, whose folder they name.
. "$cases/../lib.sh"
with_simdriver sm_86
export SIMDRIVER_LOG=$work/events
export CUDA_INJECTION64_PATH=$home/injected.so CUDA_ENABLE_USER_TRIGGERED_COREDUMP=1 CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 \
	CUDA_COREDUMP_PIPE=$home/pipe CUDA_COREDUMP_FILE=$home/core CUDA_LOG_FILE=$home/log CUDA_AMODEL_DLL=$home/injected.so \
	CUDBG_INJECTION_PATH=$home/injected.so NVTX_INJECTION64_PATH=$home/injected.so COMPUTE_PROFILE_LOG=$home/log \
	DUMP_KNOBS_TO_FILE=$home/log UNKNOWN_TO_JITWARM=$home/log CUDA_MPS_PIPE_DIRECTORY=$open/mps
# cuInit waits for the answer of whoever listens in the folder of MPS.
mkdir "$open/mps"
touch "$open/mps/control" "$home/control"
chown $mallory "$open/mps/control" "$home/control"
quiet() { ! grep -s ' debug ' "$SIMDRIVER_LOG" || fail "$*: a worker got them"; }
cp "$sample" "$work/lib.so"
for command in "status" "doctor $work/lib.so" "prime $work/lib.so" "bake -o $work/baked $work/lib.so"; do
	# shellcheck disable=SC2086
	run '0|1|2' $command
	[[ $command != prime* ]] || grep -q ' compile ' "$SIMDRIVER_LOG" || fail "the worker logged nothing"
	quiet "$command"
done
# Nor do they reach ptxas, which gets a private folder for its temporary files: it writes through symlinks that have their foreseeable names.
cat >"$open/ptxas" <<END
#!/bin/sh
echo "\$(stat -c %a "\$TMPDIR") \$TMPDIR" >"$work/folder\$1"
env >"$work/variables\$1"
echo "ptxas: NVIDIA (R) Ptx optimizing assembler, release 12.4"
[ "\$1" = --version ]
END
chmod 755 "$open/ptxas"
run '1|2|3' make --target sm_86 --driver 550.163.01 --ptxas "$open/ptxas" -o "$work/made/" "$sample"
for words in --version -arch=sm_86; do
	[[ $(<"$work/folder$words") == "700 /"* ]] || fail "the folder is not private: $(<"$work/folder$words")"
	! grep "$home" "$work/variables$words" || fail "ptxas $words got them"
done
# Nor does its HOME, below which the driver reads settings, also from a pipe.
mkdir "$home/.nv" && touch "$home/.nv/nvidia-application-profile-globals-rc" && chown -R $mallory "$home/.nv"
for command in "status" "check $work/lib.so" "prime -n $work/lib.so"; do
	rm -f "$SIMDRIVER_LOG"
	# shellcheck disable=SC2086
	HOME=$home run '0|1|2' $command
	quiet "$command"
done
# Nor does what an account has left in root's ~/.nv, before root closed that folder: a file, a link.
touch "$home/profiles"
mkdir "$HOME/.nv"
settings=$HOME/.nv/nvidia-application-profile-globals-rc
for planted in "cp $home/profiles" "ln -s $home/profiles"; do
	rm -f "$SIMDRIVER_LOG"
	run 0 prime --cache "$work/cache of ${planted%% *}" "$work/lib.so"
	$planted "$settings" && chown -h $mallory "$settings"
	run 0 prime --cache "$work/cache after ${planted%% *}" "$work/lib.so"
	quiet "a file of the driver's that another account has left"
	rm "$settings"
done
touch "$settings"
run 0 prime --cache "$work/cache of root's own" "$work/lib.so"
grep -q ' debug ' "$SIMDRIVER_LOG" || fail "root's own settings do not reach the driver"
rm "$settings"
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
chown 0 "$open/mps"
# The same if the account could exchange the folder after jitwarm has examined it
refused() {
	rm -rf "$SIMDRIVER_LOG" "$CUDA_CACHE_PATH"
	CUDA_MPS_PIPE_DIRECTORY=$1 run 0 prime "$work/lib.so"
	grep -q ' compile ' "$SIMDRIVER_LOG" || fail "the worker logged nothing"
	quiet "$1"
}
ln -s "$open" "$home/link"
refused "$home/link/mps"
chmod 777 "$open/mps"
refused "$open/mps"
chmod 755 "$open/mps"
# MPS is used by every account, so its socket has mode 0666 or 0777. Its client's settings stay.
chmod 777 "$open/mps/control"
rm -rf "$SIMDRIVER_LOG" "$CUDA_CACHE_PATH"
CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=10 CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=1G CUDA_MPS_CLIENT_PRIORITY=1 run 0 prime "$work/lib.so"
for name in PIPE_DIRECTORY ACTIVE_THREAD_PERCENTAGE PINNED_DEVICE_MEM_LIMIT CLIENT_PRIORITY; do
	grep -q " debug CUDA_MPS_$name" "$SIMDRIVER_LOG" || fail "CUDA_MPS_$name is left out"
done
# An account uses root's MPS, whose folder may be a service account's.
chown 64322 "$open/mps"
mkdir "$home/cache" && : >"$home/events" && chown $mallory "$home/cache" "$home/events"
(export SIMDRIVER_LOG=$home/events CUDA_CACHE_PATH=$home/cache JITWARM_STATE=$home/state HOME=$home &&
	JITWARM="${JITWARM% *} setpriv --reuid=$mallory --regid=$mallory --clear-groups --inh-caps=-all ${JITWARM##* }" && run 0 prime "$sample") || exit 1
grep -q ' debug CUDA_MPS_PIPE_DIRECTORY' "$home/events" || fail "root's MPS is left out: $(<"$home/events")"
