# doctor --pid and --user judge with another process's or account's rights and variables, not with this one's.
# shellcheck source=/dev/null
. "$cases/../doctors.sh"
fresh

# ---- a running process: its variables, its libraries
if is_wine; then
	run 2 doctor --pid 4
	err_one_line
	run 2 doctor --user nobody
	err_one_line
else
	run 3 doctor --pid 99999999
	err_has "there is no process"
	env -u HOME CUDA_CACHE_DISABLE=1 CUDA_CACHE_PATH="$place/a \"b\"" CUDA_INJECTION64_PATH=/x sleep 60 &
	victim=$!
	await test -r "/proc/$victim/environ"
	await grep -q sleep "/proc/$victim/comm"
	found 1 cache-disabled --pid "$victim"
	json 'd["process"]["name"] == "sleep" and not d["process"]["driver"] and d["process"]["pid"] == '"$victim"
	# The printed command runs with the process's variables that differ from this shell's.
	json "d['before'] == \"env -u HOME 'CUDA_CACHE_PATH=$place/a \\\"b\\\"' CUDA_CACHE_DISABLE=1\""
	run 64 doctor --pid "$victim" --user nobody
	err_has "name only one"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# If a variable is there twice, a program sees the first; if there are too many, doctor says so.
	command python3 -c 'import ctypes, sys
words = lambda *texts: (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
ctypes.CDLL(None).execve(b"/bin/sleep", words(b"sleep", b"60"), words(b"HOME=" + sys.argv[1].encode(), b"CUDA_CACHE_DISABLE=1", b"CUDA_CACHE_DISABLE=0"))' "$place" &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	found 1 cache-disabled --pid "$victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# shellcheck disable=SC2046
	env $(seq -f CUDA_CACHE_%g=1 300) CUDA_CACHE_DISABLE=1 sleep 60 &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	run "2|3" doctor --pid "$victim"
	err_has "more than 256 variables"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# doctor prints no command if it could not hold all variables of the process.
	long=$(printf '%0131000d' 0)
	env CUDA_VISIBLE_DEVICES="$long" CUDA_DEVICE_ORDER="$long" CUDA_FORCE_JIT="$long" sleep 60 &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	run 3 doctor --pid "$victim"
	err_has "the variables of the process are too long for a command"
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
	run 3 doctor --pid "$(cat "$work/ended")"
	err_has "there is no process"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	run 3 doctor --user no-such-account
	err_has "no such account"
fi

# ---- another account's programs: the line to type, also for root; and a login of this account
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
if ! is_wine && all=$(folder_for_all); then
	trap 'rm -rf "$place" "$all"' EXIT
	cp "$program" "$all/jitwarm"
	chmod 755 "$all/jitwarm"
	JITWARM=$all/jitwarm
	unset CUDA_CACHE_PATH
	run 2 doctor --user nobody
	err_has "jitwarm doctor --user nobody"
	err_one_line
	(cd / && exec "${as_other[@]}" env HOME="$all" sleep 60) &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	run 2 doctor --pid "$victim"
	err_has "jitwarm doctor --pid $victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# doctor --user uses variables that jitwarm's settings and /etc/environment set for the account's logins; profiles are left to the
	# account's shell.
	export JITWARM_SYSTEM_ROOT=$all/system
	mkdir -p "$all/system/etc" "$all/home/.config/environment.d"
	echo "root:x:0:0::$all/home:/bin/bash" >"$all/system/etc/passwd"
	printf 'CUDA_CACHE_PATH=/nowhere\nCUDA_CACHE_MAXSIZE=2147483648\n' >"$all/system/etc/environment"
	printf 'CUDA_CACHE_PATH="%s"\n' "$all/home/root_nv" >"$all/home/.config/environment.d/60-jitwarm.conf"
	printf 'export CUDA_CACHE_MAXSIZE=5\n' >"$all/home/.profile"
	(unset XDG_CONFIG_HOME && run "0|1|2" doctor --json --user root &&
		json "'CUDA_CACHE_PATH=$all/home/root_nv' in d['before']") || exit 1
	unset JITWARM_SYSTEM_ROOT
	# Other accounts cannot examine root's processes either.
	sleep 60 &
	victim=$!
	JITWARM="${as_other[*]} $all/jitwarm"
	run 2 doctor --pid "$victim"
	err_one_line
	run 2 doctor --user root
	err_has "jitwarm doctor --user root"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
fi
