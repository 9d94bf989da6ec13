# TensorFlow 2.3.1 from pip on Windows, on an RTX 3070, which came after it: minutes of silence at “Adding visible gpu devices: 0”
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../layouts.sh"
env=$place/env
wheel "$env/Lib/site-packages" tensorflow 2.3.1 tensorflow/python/_pywrap_tensorflow_internal.pyd
printf 'home = C:\\Python38\nversion = 3.8.10\n' >"$env/pyvenv.cfg"
export VIRTUAL_ENV=$env CUDA_CACHE_PATH=$place/cache

# Is it hung? Another window: the driver compiles. (A Linux machine plays this part, with a driver that waits when it is told to.)
if ! is_real && ! is_emulated; then # which shows no library of a process
	SIMDRIVER_GATE=$place/gate SIMDRIVER_FAULT=wait:sample_network SIMDRIVER_LOG=$place/log
	export SIMDRIVER_GATE SIMDRIVER_FAULT SIMDRIVER_LOG
	: >"$place/gate"
	# shellcheck disable=SC2086
	$runner "$app" >/dev/null 2>&1 &
	started=$!
	await grep -qs ' fault wait ' "$place/log"
	run 1 find --pid "$(sed -n 's/ fault wait .*//p' "$place/log")"
	out_has "Next    jitwarm doctor --pid"
	rm "$place/gate"
	wait "$started"
	unset SIMDRIVER_GATE SIMDRIVER_FAULT SIMDRIVER_LOG
	rm -rf "$place/cache"
fi

# The newcomer's page: which card, which package, how much, and what to type.
run 1
out_has "GPU     NVIDIA GeForce RTX 3070 (sm_86, "
out_has "tensorflow 2.3.1: 8 modules to compile, "
user_follows
out_has "Start your program again: it has nothing left to compile."
first_start 0
run 0 doctor
out_has "All is well: 8 modules in the cache"

# “It is slow every time”: a limit from an old recipe is smaller than what TensorFlow needs.
rm -rf "$place/cache"
export CUDA_CACHE_MAXSIZE=200000
printf 'export CUDA_CACHE_MAXSIZE=200000\n' >"$HOME/.profile"
run 2 doctor --no-probe
out_has "limit-small: the driver keeps 200 KB"
out_has "Do: set CUDA_CACHE_MAXSIZE=1073741824 (1.07 GB) in "
# The line is the user's; after that, --fix does the rest.
printf 'export CUDA_CACHE_MAXSIZE=1073741824\n' >"$HOME/.profile"
CUDA_CACHE_MAXSIZE=1073741824 run 0 doctor --no-probe --fix
out_has "Fix     jitwarm prime"
# The next login
unset CUDA_CACHE_MAXSIZE CUDA_CACHE_PATH
# shellcheck source=/dev/null
. "$HOME/.profile"
[ "$CUDA_CACHE_MAXSIZE" -gt 500000 ] || fail "the next login has $CUDA_CACHE_MAXSIZE"
export CUDA_CACHE_PATH=$place/cache
first_start 0
run 0 doctor
