# Root starts no program of another account, whatever names it: such a program could type into root's terminal (TIOCSTI).
. "$cases/../lib.sh"
with_simdriver sm_86
mkdir -m 777 "$open/marks"
mkdir -p "$home/bin" "$home/.venv" "$home/project" "$home/place"
cat >"$home/bin/python3" <<SCRIPT
#!$(command -v python3)
import fcntl, os, sys, termios
open("$open/marks/%s-of-%d" % (os.path.basename(sys.argv[0]), os.getuid()), "w")
try:
    with open("/dev/tty", "rb") as terminal:
        for byte in b"typed by another\n":
            fcntl.ioctl(terminal, termios.TIOCSTI, bytes([byte]))
except OSError:
    pass
SCRIPT
sed '/^#!/d; s/sys.argv\[0\]/"sitecustomize"/' "$home/bin/python3" >"$home/place/sitecustomize.py"
chmod 755 "$home/bin/python3"
for name in python python3.11 pip pip3 uv conda nvidia-smi ptxas nvcc cuobjdump nvdisasm systemctl ldconfig sudo env sh git getent id; do
	ln "$home/bin/python3" "$home/bin/$name"
done
environment "$home/project/.venv" 1.0
cp "$home/bin/python3" "$open/python3"
for venv in "$home/project/.venv" "$home/.venv"; do
	rm -rf "$venv/bin" && cp -r "$home/bin" "$venv/bin"
	printf 'home = %s\n' "$home/bin" >"$venv/pyvenv.cfg"
done
chown -R $mallory "$home"
# at_terminal NAME=VALUE… COMMAND…: runs it in the account's project, from a shell that then reads what was typed
cat >"$open/terminal.py" <<'PYTHON'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
PYTHON
at_terminal() {
	(cd "$home/project" && timeout 120 /usr/bin/python3 -E "$open/terminal.py" bash -c '"$@"; read -rt '"${patience-0.1}"' typed; echo "typed=$typed;"' _ /usr/bin/env "$@" >"$open/said" 2>&1 </dev/null) || fail "$*: $(cat "$open/said")"
	grep -q "typed=;" "$open/said" || fail "$*: $(cat "$open/said")"
	[[ -z $(ls "$open/marks") ]] || fail "$*: started: $(ls "$open/marks"): $(cat "$open/said")"
	! grep -q "No such file" "$open/said" || fail "$*: not started: $(cat "$open/said")"
}
# The attack works if root does start the program.
(patience=10 at_terminal "$home/bin/python3") >/dev/null 2>&1 && fail "no attack"
rm -f "$open/marks"/*
for variable in HOME=$home PATH="$home/bin:$PATH" VIRTUAL_ENV="$home/.venv" CONDA_PREFIX="$home/.venv" PYENV_ROOT="$home" PYTHONPATH="$home/place" CUDA_HOME="$home" XDG_CACHE_HOME="$home" JITWARM_PTXAS="$home/bin" TMPDIR="$home/place" ZDOTDIR="$home"; do
	for command in "check" "compiler fetch 12.4"; do
		# shellcheck disable=SC2086
		at_terminal "$variable" PIP_INDEX_URL=http://127.0.0.1:1/simple PIP_RETRIES=0 $JITWARM $command
	done
done
for command in "prime" "scan --index torch" "doctor" "status" "find" "startup status" "startup enable --fetch" "startup disable" "make --target sm_86 --driver 550.163.01 -o $open/made/ $sample" "uninstall --dry-run" "tune"; do
	# shellcheck disable=SC2086
	at_terminal HOME="$home" PATH="$home/bin:$PATH" VIRTUAL_ENV="$home/.venv" PYTHONPATH="$home/place" CUDA_HOME="$home" $JITWARM $command
	# shellcheck disable=SC2086
	at_terminal PATH="$home/bin:$PATH" VIRTUAL_ENV="$home/.venv" CUDA_HOME="$home" $JITWARM $command
done

# The printed line, typed in root's terminal, gives the account no way to type into it.
mkdir "$open/spy"
cat >"$open/spy/jitwarm" <<SCRIPT
#!/usr/bin/python3 -ES
import fcntl, os, termios
for terminal in "/dev/tty", 0, 1, 2:
    try:
        file = terminal if isinstance(terminal, int) else os.open(terminal, os.O_RDWR)
        for byte in b"typed by another\\n":
            fcntl.ioctl(file, termios.TIOCSTI, bytes([byte]))
    except OSError:
        pass
print("as", os.getuid())
SCRIPT
chmod 755 "$open/spy/jitwarm"
if [[ $(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null) != 0 ]]; then
	(patience=10 at_terminal PATH="$open/spy:$PATH" setpriv --reuid=$mallory --regid=$mallory --clear-groups jitwarm) >/dev/null 2>&1 && fail "no attack"
	grep -q "as $mallory" "$open/said" || fail "the attack did not run: $(cat "$open/said")"
fi
for number in $mallory $(id -u nobody 2>/dev/null); do
	mkdir "$open/theirs" && chown "$number" "$open/theirs"
	run 2 prime --cache "$open/theirs" "$sample"
	at_terminal PATH="$open/spy:$PATH" bash -c "$(sed 's/.*[ .]Type “//; s/”, or, if .*//' "$err")"
	grep -q "as $number" "$open/said" || fail "the line did not run: $(cat "$open/said")"
	rmdir "$open/theirs"
done

# pip's own files are modules that Python loads by itself, and settings that name files which pip writes.
mkdir -p "$home/.local/lib/$(python3 -c 'import sys; print("python%d.%d" % sys.version_info[:2])')/site-packages" "$home/.config/pip"
cp "$home/place/sitecustomize.py" "$home"/.local/lib/python3*/site-packages/usercustomize.py
printf '[global]\nlog = %s\n' "$open/marks/log" >"$home/.config/pip/pip.conf"
printf 'torch\n' >"$home/project/list.txt"
chown -R $mallory "$home"
for command in "scan --target sm_86 -r list.txt" "which --target rtx4090 --ask torch"; do
	for variable in HOME="$home" PYTHONPATH="$home/place" PYTHONUSERBASE="$home/.local" PIP_LOG="$open/marks/log" PIP_CONFIG_FILE="$home/.config/pip/pip.conf" PIP_CONFIG_FILE=../.config/pip/pip.conf PYTHONPYCACHEPREFIX="$open/marks/pyc" XDG_CONFIG_HOME="$home/.config" XDG_CONFIG_DIRS="$home/.config"; do
		# shellcheck disable=SC2086
		at_terminal "$variable" PIP_INDEX_URL=http://127.0.0.1:1/simple PIP_RETRIES=0 $JITWARM $command
	done
done

# In a folder like /tmp, the account exchanges what root uses.
mkdir -m 1777 "$open/sticky"
mkdir "$open/roots"
(while :; do
	as_mallory sh -c "cd '$open/sticky' && for i in 1 2 3 4 5 6 7 8 9; do ln -s '$open/roots' p; rm -f p; mkdir -p p/jitwarm/ptxas/12.4/bin && ln '$home/bin/ptxas' p/ptxas && ln '$home/bin/ptxas' p/jitwarm/ptxas/12.4/bin/ptxas; rm -rf p; done" 2>/dev/null || sleep 0.1
done) &
swaps=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	for variable in XDG_CACHE_HOME JITWARM_PTXAS; do
		(export "$variable=$open/sticky/p" && run '0|1|2|3' make --target sm_86 --driver 550.163.01 -o "$open/made/" "$sample") || exit 1
		[[ -z $(ls "$open/marks") ]] || fail "started: $(ls "$open/marks")"
		[[ $(stat -c %u "$open/sticky/p" 2>/dev/null) == 0 ]] && rm -rf "$open/sticky/p"
	done
done
kill $swaps
wait $swaps 2>/dev/null || :
untouched
