# Root's environment may come from another account (sudo -E): programs that root starts get no variable that names a file of the account, or
# by which they start programs themselves.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_FOLLOW # whose script starts the python3 below
unset JITWARM_STATE CUDA_CACHE_PATH VIRTUAL_ENV
mkdir "$work/stubs" "$work/own"
for name in systemctl python3; do
	printf '#!/bin/sh\nenv >"%s/variables"\nexit 1\n' "$work" >"$work/stubs/$name"
	chmod 755 "$work/stubs/$name"
done
mkdir "$home/project"
chown $mallory "$home/project"
run 0 prime --quiet "$sample"
cd "$home/project" || fail "no project"
hostile=(XDG_RUNTIME_DIR="$home" DBUS_SESSION_BUS_ADDRESS="unixexec:path=$home/program" SYSTEMD_PAGER="$home/program" PAGER="$home/program"
	PYENV_HOOK_PATH="$home" PYENV_VERSION=../../"$home" PYENV_ROOT="$home" BASH_ENV="$home/program" PYTHONSTARTUP="$home/program")
for command in "startup enable $sample" "check torch"; do
	rm -f "$work/variables"
	# shellcheck disable=SC2086
	(export "${hostile[@]}" PATH="$work/stubs:/usr/bin:/bin" && run '1|2|3' $command) || exit 1
	[[ -e $work/variables ]] || fail "$command started nothing"
	! sed '/^\(OLD\)*PWD=/d' "$work/variables" | grep -E "$home|^(DBUS_|PYENV_)" || fail "$command: the account's variables"
done
# Root's own variables stay.
PYENV_VERSION=3.11.7 PATH=$work/stubs:/usr/bin:/bin run '1|2|3' check torch
grep -qx PYENV_VERSION=3.11.7 "$work/variables" || fail "no PYENV_VERSION"
untouched
