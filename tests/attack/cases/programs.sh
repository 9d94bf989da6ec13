# Root starts no compiler, no Python and no helper that another account may replace, whatever names it, and these get few variables.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_FOLLOW # whose script starts the python3 below
unset JITWARM_STATE CUDA_CACHE_PATH VIRTUAL_ENV
mkdir -m 777 "$open/marks"
mkdir "$work/bin"
not_run() { [[ -z $(ls "$open/marks") ]] || fail "run by root: $(ls "$open/marks")"; }
# fake FILE: a program that claims to be ptxas 12.4, uv and Python, and leaves a mark
fake() {
	mkdir -p "$(dirname "$1")"
	printf '#!/bin/sh\nenv >"%s/$(basename $0)"\necho "ptxas: NVIDIA (R) Ptx optimizing assembler"\necho "Cuda compilation tools, release 12.4, V12.4.131"\n[ "$1" = --version ]\n' "$open/marks" >"$1"
	chmod 755 "$1"
}
elsewhere=(make --target sm_86 --driver 550.163.01 -o "$work/made/" "$sample")
says="belongs to account $mallory, so root does not use it: type “sudo -u '#$mallory' jitwarm"
for name in ptxas python3 uv; do fake "$home/bin/$name" && fake "$work/bin/$name"; done
chown -R $mallory "$home/bin"
run '0|1|2|3' "${elsewhere[@]}" --ptxas "$work/bin/ptxas"
[[ -e $open/marks/ptxas ]] || fail "root's was not run"
rm "$open/marks/ptxas"
ln -s "$home/bin/ptxas" "$work/link"
mkdir -m 1777 "$open/sticky" && as_mallory ln -s "$work/bin" "$open/sticky/bin"
for path in "$home/bin/ptxas" "$work/link" "$open/sticky/bin/ptxas"; do
	run '2|3' "${elsewhere[@]}" --ptxas "$path"
	err_has "does not use it"
	for name in CUDA_HOME CUDA_PATH; do (export CUDA_HOME=$open/none "$name=$(dirname "$(dirname "$path")")" JITWARM_PTXAS=$open/none && run '2|3' "${elsewhere[@]}") || exit 1; done
	(PATH=$(dirname "$path"):$PATH CUDA_HOME=$open/none JITWARM_PTXAS=$open/none run '2|3' "${elsewhere[@]}") || exit 1
	not_run
done
# The account's is passed over for the next one.
(PATH=$home/bin:$work/bin:$PATH CUDA_HOME=$open/none JITWARM_PTXAS=$open/none run '0|1|2|3' "${elsewhere[@]}") || exit 1
[[ -e $open/marks/ptxas ]] || fail "root's was not run"
rm "$open/marks/ptxas"
# NVRTC and the library beside it
fake=$build/tests/nvrtc/libnvrtc.so.12
if [[ -e $fake ]]; then
	echo "__global__ void k() {}" >"$work/k.cu"
	mkdir "$work/nvrtc" && cp "$fake" "$work/nvrtc/" && cp "$fake" "$home/bin/" && chown $mallory "$home/bin/"*.so.12
	run 2 prime "$work/k.cu" --no-store --nvrtc "$home/bin/libnvrtc.so.12"
	err_has "$says"
	run 0 prime "$work/k.cu" --no-store --nvrtc "$work/nvrtc/libnvrtc.so.12"
	touch "$home/builtins" && ln -s "$home/builtins" "$work/nvrtc/libnvrtc-builtins.so.12.0"
	echo "__global__ void other() {}" >"$work/k.cu"
	run '2|3' prime "$work/k.cu" --no-store --nvrtc "$work/nvrtc/libnvrtc.so.12"
	err_has "does not use it"
fi
# Python on PATH and in the environment, and uv, also one that names the account's Python; the index refuses connections.
export PIP_INDEX_URL=http://127.0.0.1:1/simple PIP_RETRIES=0
(PATH=$home/bin:/usr/bin:/bin run '0|1|2|3' compiler fetch 12.4 && not_run && PATH=$home/bin:/usr/bin:/bin run '1|2|3' check torch && not_run) || exit 1
empty_environment "$open/env" && rm "$open/env/bin/python3" && ln -s "$home/bin/python3" "$open/env/bin/python3"
(export VIRTUAL_ENV=$open/env PATH=$home/bin:/usr/bin:/bin && run '0|1|2|3' scan --index torch && not_run) || exit 1
mkdir "$work/uv" && cp "$work/bin/uv" "$work/uv/"
(JITWARM="env PATH=$home/bin:$work/uv $JITWARM" run '2|3' scan --index torch && rm "$open/marks/uv") || fail "the account's uv was not passed over"
not_run
printf '#!/bin/sh\necho "%s/python3"\n' "$home/bin" >"$work/bin/uv" && rm "$work/bin/python3"
(JITWARM="env PATH=$work/bin $JITWARM" run '2|3' scan --index torch && err_has "python3: $home belongs to") || exit 1
not_run
# Root's helpers and workers get listed variables alone: by others they load libraries, start programs and write files.
hostile=(CUDA_INJECTION64_PATH="$home/x.so" CUDA_COREDUMP_FILE="$home/x" DUMP_KNOBS_TO_FILE="$home/x" PIP_LOG="$home/x" BASH_ENV="$home/x" PYTHONSTARTUP="$home/x"
	PYENV_HOOK_PATH="$home" PYENV_VERSION="../../../../../../$home" SYSTEMD_PAGER="$home/x" DBUS_SESSION_BUS_ADDRESS="unixexec:path=$home/x" XDG_CONFIG_DIRS="$home" OPENSSL_CONF="$home/x")
for name in ptxas python3 systemctl; do fake "$work/bin/$name"; done
for command in "${elsewhere[*]} --ptxas $work/bin/ptxas" "startup enable $sample" "check torch" "prime $sample"; do
	rm -f "$open/marks"/*
	# shellcheck disable=SC2086
	(export "${hostile[@]}" SIMDRIVER_LOG="$open/marks/log" PATH="$work/bin:/usr/bin:/bin" && cd "$home" && run '0|1|2|3' $command) || exit 1
	[[ -n $(ls "$open/marks") ]] || fail "$command started nothing"
	! grep -rh "$home\| debug " "$open/marks" >"$work/found" || fail "$command: the account's variables, or its folder: $(cat "$work/found")"
done
