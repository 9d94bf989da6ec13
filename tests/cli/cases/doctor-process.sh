# doctor --pid judges with another process's variables, not with this one's.
# shellcheck source=/dev/null
. "$cases/../doctors.sh"
fresh

# ---- a running process: its variables, its libraries
if is_wine; then
	run 2 doctor --pid 4
	err_one_line
else
	snapshot run 3 doctor --pid 99999999
	env -u HOME CUDA_CACHE_DISABLE=1 CUDA_CACHE_PATH="$place/a \"b\"" CUDA_INJECTION64_PATH=/x sleep 60 &
	victim=$!
	await test -r "/proc/$victim/environ"
	await grep -q sleep "/proc/$victim/comm"
	snapshot found 1 cache-disabled --pid "$victim"
	json 'd["process"]["name"] == "sleep" and not d["process"]["driver"] and d["process"]["pid"] == '"$victim"
	# The printed command runs with the process's variables that differ from this shell's.
	json "d['before'] == \"env -u HOME 'CUDA_CACHE_PATH=$place/a \\\"b\\\"' CUDA_CACHE_DISABLE=1\""
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# If a variable is there twice, a program sees the first; if there are too many, doctor says so.
	command python3 -c 'import ctypes, sys
words = lambda *texts: (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
ctypes.CDLL(None).execve(b"/bin/sleep", words(b"sleep", b"60"), words(b"HOME=" + sys.argv[1].encode(), b"CUDA_CACHE_DISABLE=1", b"CUDA_CACHE_DISABLE=0"))' "$place" &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	snapshot found 1 cache-disabled --pid "$victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# shellcheck disable=SC2046
	env $(seq -f CUDA_CACHE_%g=1 300) CUDA_CACHE_DISABLE=1 sleep 60 &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	snapshot run "2|3" doctor --pid "$victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# doctor prints no command if it could not hold all variables of the process.
	long=$(printf '%0131000d' 0)
	env CUDA_VISIBLE_DEVICES="$long" CUDA_DEVICE_ORDER="$long" CUDA_FORCE_JIT="$long" sleep 60 &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	snapshot run 3 doctor --pid "$victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# The process has ended and nobody waits for it, so it has nothing mapped.
	command python3 -c 'import os, time
child = os.fork()
if not child:
	os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
print(child, flush=True)
time.sleep(60)' >"$work/ended" &
	victim=$!
	await test -s "$work/ended"
	run '2|3' doctor --pid "$(cat "$work/ended")"
	[[ $ended == 2 && $EUID != 0 ]] || err_has "there is no process"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
fi

# ---- another account's programs: the line to type, also for root
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
if ! is_wine && all=$(folder_for_all); then
	trap 'rm -rf "$place" "$all"' EXIT
	cp "$program" "$all/jitwarm"
	chmod 755 "$all/jitwarm"
	JITWARM=$all/jitwarm
	unset CUDA_CACHE_PATH
	(cd / && exec "${as_other[@]}" env HOME="$all" sleep 60) &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	run 2 doctor --pid "$victim"
	err_has "type “sudo -u "
	err_has " jitwarm doctor --pid $victim”"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# Other accounts cannot examine root's processes either.
	sleep 60 &
	victim=$!
	JITWARM="${as_other[*]} $all/jitwarm"
	run 2 doctor --pid "$victim"
	err_one_line
	err_has "sudo -u root jitwarm doctor --pid $victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
fi
