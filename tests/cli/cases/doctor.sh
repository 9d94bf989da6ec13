# doctor has no finding on healthy set-ups; its probe notices a driver that does not use the cache; --fix primes, and --report hides names.
# shellcheck source=/dev/null
differs_for WINDOWS
. "$cases/../doctors.sh"

# ---- ten healthy set-ups
fresh
healthy
warm
healthy "$sample"
json 'd["probe"] == "hit" and d["warm"] == 8 and d["cold"] == 0'
json '__import__("os").path.isfile(posix(d["probe_entry"]).removeprefix("Z:"))'
snapshot found 0 "" "$sample"
CUDA_CACHE_MAXSIZE=2147483648 healthy "$sample"
CUDA_CACHE_DISABLE=0 CUDA_FORCE_PTX_JIT=0 CUDA_FORCE_JIT=1 healthy "$sample"
environment "$place/venv" 1.2
VIRTUAL_ENV=$place/venv healthy
json 'd["warm"] == 8'
VIRTUAL_ENV=$place/venv healthy frame
mkdir "$place/plain" && printf 'no code\n' >"$place/plain/none.so" && cp "$sample" "$place/plain"
healthy "$place/plain"
with_simdriver sm_86,sm_86
export CUDA_CACHE_PATH=$place/cache
healthy "$sample"
JITWARM=$program
with_simdriver sm_86
export CUDA_CACHE_PATH=$place/cache
if ! is_wine; then
	unset CUDA_CACHE_PATH
	HOME=$place healthy
	HOME=$place run 0 prime --quiet "$sample"
	HOME=$place healthy "$sample"
	ln -s "$place/cache" "$place/link"
	CUDA_CACHE_PATH=$place/link healthy "$sample"
	export CUDA_CACHE_PATH=$place/cache
fi
run 0 doctor "$sample"
out_has "All is well: 8 modules in the cache"
out_has "loads the code again"

# The rest needs a driver that fails on request.
! is_real || return 0

# ---- usage
snapshot run 64 doctor --report --json
snapshot run 64 doctor --pid 1 "$sample"
snapshot run 64 doctor --pid 0

# ---- not primed; --fix primes
CUDA_CACHE_PATH=$place/never found 1 cold "$sample"
says_of cold evidence "never primed, or removed since"
fresh
found 1 cold "$sample"
says_of cold evidence "removed since"
json 'd["findings"][0]["command"] == ["prime", d["findings"][0]["command"][1]] and d["cold"] == 8'
app_compiles 8
rm -rf "$place/cache"
snapshot run 0 doctor --fix "$sample"
app_compiles 0
snapshot run 0 doctor --fix "$sample"
rm -rf "$place/cache"
run 0 doctor --fix --json "$sample"
json 'd["findings"] == [] and len(d["fixed"]) == 1 and "prime" in d["fixed"][0]'

# ---- the driver does not use the cache though no setting forbids it: another program holds the index's lock
if ! is_wine; then
	rm -rf "$place/cache"
	warm
	command python3 - "$place/cache/index" "$place/held" <<'PYTHON' &
import fcntl, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(60)
PYTHON
	holder=$!
	await test -e "$place/held"
	snapshot probed 1 probe-refused "$sample"
	says_of probe-refused evidence "stored no entry"
	found 0 "" "$sample"
	kill "$holder"
	wait "$holder" 2>/dev/null || true
	healthy "$sample"
fi

# ---- the driver does not load the tiny module: no memory is left, or the GPU is closed to programs
fresh
SIMDRIVER_FAULT=oom:jitwarm_probe snapshot probed 1 probe-failed "$place/plain/none.so"
says_of probe-failed fix "free the GPU's memory"
# The driver's compiler is missing: this is the first finding; warm modules load without the compiler.
if ! is_wine; then
	mkdir -p "$place/bare/tests/simdriver/lib" && cp "$build/tests/simdriver/lib/libcuda.so.1" "$place/bare/tests/simdriver/lib"
	warm
	(
		JITWARM="$cases/../../../scripts/with-simdriver.sh -B $place/bare sm_86 -- ${JITWARM##* }"
		run 0 check "$sample"
		fresh
		snapshot found 2 "no-compiler cold" "$sample"
		says_of no-compiler evidence "the driver's compiler is missing (libnvidia-ptxjitcompiler.so.1)"
		says_of no-compiler fix "NVIDIA_DRIVER_CAPABILITIES=compute,utility; on Debian install libnvidia-ptxjitcompiler1"
		snapshot run 2 check "$sample"
		err_has "warning: the driver's compiler is missing (libnvidia-ptxjitcompiler.so.1)"
		err_lacks "tune --path"
		snapshot run 2 prime "$sample"
		err_has "jitwarm: the driver's compiler is missing (libnvidia-ptxjitcompiler.so.1)"
		run 2 prime --cache "$place/other" "$sample"
		snapshot run "0|2" status
	) || exit 1
fi
SIMDRIVER_COMPUTE_MODE=2 snapshot probed 1 probe-failed "$place/plain/none.so"
says_of probe-failed evidence prohibited
found 0 "" "$place/plain/none.so"

# ---- the driver was upgraded under a running system: kernel module and library differ until the next boot
SIMDRIVER_INIT=803 JITWARM_STATE=$(native "$place/anew") snapshot found 2 no-gpu "$place/plain/none.so"
says_of no-gpu evidence "kernel module differ"
says_of no-gpu fix "restart the machine"
SIMDRIVER_INIT=803 JITWARM_STATE=$(native "$place/anew") snapshot run 2 status
out_has "kernel module differ"
# ---- each error of the start has its own cure
while IFS="|" read -r number cure; do
	SIMDRIVER_INIT=$number JITWARM_STATE=$(native "$place/anew") snapshot found 2 no-gpu "$place/plain/none.so"
	says_of no-gpu fix "$cure"
done <<'CURES'
3|start processes with the method spawn
34|remove the toolkit's folder stubs from LD_LIBRARY_PATH
46|end the other process
100|start the container with “docker run --gpus all”
101|name a GPU that “jitwarm status” lists
102|/etc/nvidia/gridd.conf
304|sudo nvidia-modprobe -u -c 0
801|upgrade the driver, in WSL the one of Windows
802|sudo systemctl enable --now nvidia-fabricmanager
804|upgrade the host's driver, use an image of an older CUDA version
805|start the MPS control daemon again
999|sudo modprobe nvidia_uvm
CURES

# ---- --report: a report that people paste in public
fresh
USER=alice snapshot run 1 doctor --report "$sample" --no-probe
warm

