# doctor --pid as root finds whose process it is, even if the process pretends to be root's.
with_simdriver sm_86
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
is_wine && skip "Windows shows no other process's variables"
all=$(folder_for_all) || skip "needs root, and setpriv"
victim=
trap '[ -z "$victim" ] || kill "$victim"; rm -rf "$all"' EXIT
mkdir -m 777 "$all/open"
# Root may make this folder, and the account “nobody” may not.
evil=$all/evil
gone() { kill "$1"; wait "$1" 2>/dev/null || true; victim=; }

# A process of another account that has forbidden core dumps is not examined.
cat >"$all/hide.py" <<'PYTHON'
import ctypes, sys, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
open(sys.argv[1], "w").close()
time.sleep(300)
PYTHON
chmod 755 "$all/hide.py"
python=$(PATH=/usr/bin:/bin command -v python3) || skip "no python3 that every account may run"
(cd / && exec "${as_other[@]}" env CUDA_CACHE_PATH="$evil" HOME="$all" "$python" "$all/hide.py" "$all/open/hidden") >/dev/null 2>&1 &
victim=$!
await test -e "$all/open/hidden"
run 2 doctor --pid "$victim"
err_one_line
err_has "jitwarm doctor --pid $victim"
[ ! -e "$evil" ] || fail "root has written where another account's process told it to"
gone "$victim"

# A process with the rights of two accounts is judged with the variables of one of them.
(cd / && exec setpriv --ruid=65534 --clear-groups env CUDA_CACHE_PATH="$evil" sleep 300) >/dev/null 2>&1 &
victim=$!
await grep -q sleep "/proc/$victim/comm"
varies text "pgrep -P [0-9]"
run 2 doctor --pid "$victim"
err_has "the rights of several accounts"
[ ! -e "$evil" ] || fail "root has written where another account's process told it to"
gone "$victim"

# A setuid program has become root altogether (sudo, su), under any name, with its caller's variables.
if command -v perl >/dev/null && perl=$(readlink -f "$(command -v perl)") && [ "${perl#/usr}" != "$perl" ]; then
	cp "$perl" "$all/open/train" && chmod 4755 "$all/open/train"
	(cd / && exec "${as_other[@]}" env CUDA_CACHE_PATH="$evil" "$all/open/train" -e '$< = 0; ($<, $>) = (0, 0); sleep 300') >/dev/null 2>&1 &
	victim=$!
	if await grep -q train "/proc/$victim/comm" && await grep -qP '^Uid:\t0\t0\t0\t0' "/proc/$victim/status"; then
		run 2 doctor --pid "$victim"
		err_has "the rights of several accounts"
		[ ! -e "$evil" ] || fail "root has written where another account's process told it to"
	fi
	gone "$victim"
fi

# Under sudo, the report says whose cache it is, and a report for strangers leaves out the caller's name.
export HOME=$all/none
SUDO_USER=nobody snapshot run "1|2" doctor --no-probe --json
SUDO_USER=nobody snapshot run "1|2" doctor --no-probe --report
out_lacks nobody
