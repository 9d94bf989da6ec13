# Root's environment may come from another account (sudo -E): programs that root starts get no variable that names a file of the account, or
# by which they start programs themselves.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_FOLLOW # whose script starts the python3 below
unset JITWARM_STATE CUDA_CACHE_PATH VIRTUAL_ENV
mkdir "$work/stubs" "$work/own"
for name in skopeo systemctl python3; do
	printf '#!/bin/sh\nenv >"%s/variables"\nexit 1\n' "$work" >"$work/stubs/$name"
	chmod 755 "$work/stubs/$name"
done
mkdir "$home/project"
chown $mallory "$home/project"
run 0 prime --quiet "$sample"
run 0 export --quiet -o "$work/lab.jwpack"
cd "$home/project" || fail "no project"
hostile=(XDG_RUNTIME_DIR="$home" DOCKER_CONFIG="$home" REGISTRY_AUTH_FILE=later.json CONTAINERS_CONF="$home/later" CONTAINERS_STORAGE_CONF="$home/later"
	CONTAINERS_REGISTRIES_CONF="$home/later" DBUS_SESSION_BUS_ADDRESS="unixexec:path=$home/program" SYSTEMD_PAGER="$home/program" PAGER="$home/program"
	PYENV_HOOK_PATH="$home" PYENV_VERSION=../../"$home" PYENV_ROOT="$home" BASH_ENV="$home/program" PYTHONSTARTUP="$home/program")
for command in "push oci://127.0.0.1:1/caches:tag $work/lab.jwpack" "pull oci://127.0.0.1:1/caches:tag" "startup enable $sample" "check torch"; do
	rm -f "$work/variables"
	# shellcheck disable=SC2086
	(export "${hostile[@]}" PATH="$work/stubs:/usr/bin:/bin" && run '1|2|3' $command) || exit 1
	[[ -e $work/variables ]] || fail "$command started nothing"
	if [[ $command == pu* ]]; then
		err_has "skopeo: exited with exit status 1; root's skopeo does not get XDG_RUNTIME_DIR=$home, DOCKER_CONFIG=$home, REGISTRY_AUTH_FILE=later.json, CONTAINERS_CONF=$home/later"
		err_has ", because the file or folder is missing, or another account can change it: let only root change the path"
	fi
	! sed '/^\(OLD\)*PWD=/d' "$work/variables" | grep -E "$home|^(REGISTRY_AUTH_FILE|DBUS_|PYENV_)" || fail "$command: the account's variables"
done
# Root's own variables stay.
XDG_RUNTIME_DIR=$work/own DOCKER_CONFIG=$work/own PATH=$work/stubs:/usr/bin:/bin run 3 pull oci://127.0.0.1:1/caches:tag
err_lacks "does not get"
grep -qx "XDG_RUNTIME_DIR=$work/own" "$work/variables" || fail "no XDG_RUNTIME_DIR"
grep -qx "DOCKER_CONFIG=$work/own" "$work/variables" || fail "no DOCKER_CONFIG"
PYENV_VERSION=3.11.7 PATH=$work/stubs:/usr/bin:/bin run '1|2|3' check torch
grep -qx PYENV_VERSION=3.11.7 "$work/variables" || fail "no PYENV_VERSION"
untouched
