# tune names the settings in force and their sources, sets them in each scope, and restores the former files to the byte.
differs_for WINDOWS snapshot run 0 tune --json
json 'd["schema"] == "jitwarm.tune/1" and d["should_be"]["limit_bytes"] >= 2**30 and d["changes"] == []'
snapshot run 64 tune --apply --undo
snapshot run 64 tune 4G
# Only the file for all accounts is written.
differs_for WINDOWS snapshot run 0 tune --scope system --max-size 4G
out_has "CUDA_CACHE_MAXSIZE=4294967296"
out_lacks "CUDA_CACHE_PATH="
differs_for WINDOWS snapshot run 0 tune --scope system --max-size 4G --path "$(native "$work/cache")"
out_has "CUDA_CACHE_PATH="
snapshot run 64 tune --scope nowhere --apply
snapshot run 64 tune --print nothing
for form in sh bash zsh fish docker apptainer compose k8s slurm systemd conda; do
	! is_wine || [[ $form != apptainer ]] || continue # it refuses a colon
	differs_for WINDOWS snapshot run 0 tune --print "$form" --max-size 2GiB --path "$(native "$work/cache")"
	out_has 2147483648
	out_has CUDA_CACHE_PATH
done
# Apptainer and Singularity have the same options, which name the driver's libraries, the variables and the folder.
if ! is_wine; then
	for form in apptainer singularity; do
		run 0 tune --print $form --max-size 2GiB --path "/srv/a b's"
		eval "words=($(cat "$out"))"
		[[ ${words[*]} == "--nv --env CUDA_CACHE_MAXSIZE=2147483648 --env CUDA_CACHE_PATH=/var/cache/ComputeCache --bind /srv/a b's:/var/cache/ComputeCache" && ${#words[@]} == 7 ]] ||
			fail "other words: ${words[*]}"
	done
	for path in /srv/a:b /srv/a,b; do
		run 64 tune --print apptainer --path $path
		err_has "--print apptainer: a folder's path must not contain a colon or a comma: $path"
		run 64 tune --print apptainer --all-caches $path
	done
fi
# A pod has a folder of its node, and not one of this account.
for form in k8s kubernetes; do
	run 0 tune --print $form
	out_has '      path: "/var/cache/jitwarm"'
	out_has "# for the pod; the path is a folder of each node"
	err_has "the pods of a node share one folder of the node; --path DIR names another one"
done
if ! is_wine; then # where a case's paths become those of a drive
	run 0 tune --print k8s --path /srv/cache
	out_has '      path: "/srv/cache"'
	err_lacks "the pods"
fi
# The printed line is for Windows, wherever it was printed; a path of this system is not a Windows path.
for form in cmd powershell; do
	for path in 'C:\cache dir' 'd:/cache' '\\server\share'; do
		snapshot run 0 tune --print "$form" --max-size 2GiB --path "$path"
	done
	for path in '\cache' 'C:cache' C: cache; do
		snapshot run 64 tune --print "$form" --path "$path"
	done
done
run 0 tune --print cmd --max-size 2GiB
is_wine || [[ $(cat "$out") == 'set "CUDA_CACHE_MAXSIZE=2147483648"' ]] || fail "a path of this system went into a line for Windows"
# A named limit is too small: the line and the document say by how much.
(
	with_simdriver sm_86
	{ printf '.version 7.0\n.target sm_70\n.address_size 64\n' && for i in $(seq 20000); do printf '.visible .entry k%d()\n{\n\tret;\n}\n' "$i"; done; } >"$work/large.ptx"
	differs_for WINDOWS snapshot run 0 tune --max-size 1000 --json "$work/large.ptx"
	json 'd["present_bytes"] == 0 and any(str(max(d["predicted_bytes"], 2**20)) + " bytes) or more" in w for w in d["warnings"])'
	run 0 prime --quiet "$work/large.ptx" "$sample"
	snapshot run 0 tune --max-size 1000 --json "$work/large.ptx"
	snapshot run 0 tune --max-size 1000 "$work/large.ptx"
	snapshot run 0 tune --max-size 1GiB "$work/large.ptx"
) || exit 1
snapshot run 0 tune --undo
is_wine && exit 0 # shells' profiles, /etc and systemd; what Windows has in their place: tests/windows/test_tune.sh

export SHELL=/bin/bash JITWARM_SYSTEM_ROOT=$work/root
unset XDG_CONFIG_HOME CONDA_PREFIX ZDOTDIR

# Slurm runs the script in two ways. Tasks get nothing from files that another account put into the folder.
caches=$work/caches
run 0 tune --print slurm --max-size 1GiB --path "$caches"
cp "$out" "$work/slurm.sh"
prolog() { SLURM_JOB_UID=$1 sh "$work/slurm.sh" >"$out" 2>"$err" || fail "Prolog takes the node out of service"; }
task_prolog() { SLURM_SCRIPT_CONTEXT=prolog_task sh "$work/slurm.sh" >"$out" 2>"$err" || fail "TaskProlog"; }
# plant OWNER MODE: makes the folder, with a line for the tasks
plant() {
	rm -rf "$caches"
	mkdir -p -m 777 "$caches/$(id -u)"
	printf 'x\nexport LD_PRELOAD=/evil.so\n' >"$caches/node"
	chmod "$2" "$caches"
	chown "$1" "$caches"
}
other=$(id -u)
((other)) || other=65534
plant "$other" 755
prolog 1000
err_has "$caches: not used, since other accounts may write to it"
[[ ! -e $caches/1000 ]] || fail "Prolog wrote to another account's folder"
task_prolog
[[ ! -s $out ]] || fail "another account told the task: $(cat "$out")"
if [[ $(id -u) == 0 ]]; then
	for mode in 1777 775; do
		plant 0 $mode
		prolog 1000
		task_prolog
		[[ ! -e $caches/1000 && ! -s $out ]] || fail "a folder of mode $mode"
	done
	rm -rf "$caches"
	prolog 0
	mkdir -m 700 "$caches/1000" # as a killed Prolog leaves it
	prolog 1000
	[[ $(stat -c %u-%a "$caches/1000") == 1000-700 ]] || fail "not the account's folder"
	task_prolog
	out_has "export CUDA_CACHE_PATH=$caches/0/"
	out_has "export CUDA_CACHE_MAXSIZE=1073741824"
	# The node's name is that of nvidia-smi; if nvidia-smi fails or hangs, the name is as before.
	smi() { mkdir -p "$work/smi" && printf '#!/bin/sh\n%s\n' "$1" >"$work/smi/nvidia-smi" && chmod +x "$work/smi/nvidia-smi" && PATH=$work/smi:$PATH prolog 1000; }
	printf '#!/bin/sh\nshift 3\nexec %s 0.2 "$@"\n' "$(command -v timeout)" >"$work/timeout"
	rm "$caches/node"
	smi 'echo It has failed; exit 9'
	[[ $(cat "$caches/node") == unknown ]] || fail "a failure is a name: $(cat "$caches/node")"
	smi 'echo 535.309.01, 8.6'
	[[ $(cat "$caches/node") == 535.309.01-8.6 ]] || fail "another name: $(cat "$caches/node")"
	smi 'echo It has failed; exit 9'
	install -m 755 "$work/timeout" "$work/smi/timeout"
	smi 'sleep 5; echo 1, 2'
	[[ $(cat "$caches/node") == 535.309.01-8.6 ]] || fail "what was known is lost: $(cat "$caches/node")"
fi
mkdir -p "$work/root/etc/profile.d" "$work/root/etc/systemd/system/x.service.d"
content_of() { (cd "$1" && find . -not -path './.local*' -printf '%p %y %m %l\n' | sort && find . -type f -exec sha256sum {} + | sort); }

# tune finds the sources of settings without reading a profile or a unit.
printf 'PATH=/bin\nCUDA_CACHE_DIR=/x\n' >"$work/root/etc/environment"
printf 'export CUDA_CACHE_MAXSIZE=1G\n' >"$work/root/etc/profile.d/cuda.sh"
printf '[Service]\nEnvironment=CUDA_CACHE_DISABLE=1\n' >"$work/root/etc/systemd/system/x.service.d/a.conf"
printf 'export CUDA_CACHE_MAXSIZE=abc\nexport CUDA_FORCE_PTX_JIT=1' >"$HOME/.profile"
printf 'export CUDA_CACHE_MAXSIZE=8589934592\n' >"$HOME/.bashrc"
CUDA_CACHE_MAXSIZE=3000000000 run 0 tune --json
json '[(s["source"], s["name"], s["value"]) for s in d["settings"]] == [("process", "CUDA_CACHE_MAXSIZE", "3000000000"), ("/etc/environment", "CUDA_CACHE_DIR", "/x")]'
json 'd["in_force"]["limit_bytes"] == d["should_be"]["limit_bytes"] == 3000000000'
json 'd["limit_state"] == d["path_state"] == "not-set"'
snapshot run 0 tune --path "$work/cache" --max-size 8589934592
snapshot run 0 tune --print slurm --path "$work/cache" --max-size 8GiB
snapshot run 0 tune --path "$work/cache" --max-size 4GiB

# No advice is below a limit that jitwarm has set, also if another value is in force until a new login or shell
for scope in user shell system; do
	(
		with_simdriver sm_86
		export HOME=$work/larger-$scope JITWARM_SYSTEM_ROOT=$work/larger-$scope CUDA_CACHE_PATH=$work/larger-$scope/cache
		mkdir -p "$HOME"
		run 0 tune --apply --max-size 3GiB --scope "$scope"
		run 0 tune --json
		json 'd["should_be"]["limit_bytes"] == 3 * 2**30'
		export CUDA_CACHE_MAXSIZE=100000
		run 0 tune --json "$sample"
		json 'd["should_be"]["limit_bytes"] == 3 * 2**30'
		snapshot run 0 status
		run 1 prime -n "$sample"
		err_has "run “jitwarm prime --tune”"
		run 0 tune --max-size 2GiB --json
		json 'd["should_be"]["limit_bytes"] == 2 * 2**30'
	) || exit 1
done

# The next step is the one that helps.
CUDA_CACHE_DISABLE=1 snapshot run 0 tune
CUDA_CACHE_PATH=/dev/null/cache snapshot run 0 tune
# root may write there, and yet no file can be made: each command says so.
if [[ -d /proc/self ]] && ! is_wine; then
	for impossible in /proc/x/deep /proc /sys/x; do
		[[ -d ${impossible%/x*} ]] || continue
		(
			with_simdriver sm_86
			export CUDA_CACHE_PATH=$impossible
			snapshot run "0|2" status
			snapshot run 2 check "$sample"
			run '2|3' prime "$sample"
			err_has "$impossible: "
			snapshot run 0 tune
			run 0 tune --path "$impossible"
			[[ $(grep -c "$impossible: " "$err") == 1 ]] || fail "said more than once"
			# The named setting differs from the one in force: neither waiting nor --apply would help.
			export CUDA_CACHE_PATH=$work/fine
			snapshot run 0 tune --path "$impossible"
		) || exit 1
	done
fi
# With another directory or limit, the same call has something to set.
(
	with_simdriver sm_86
	export CUDA_CACHE_PATH=$work/fine HOME=$work/plain JITWARM_SYSTEM_ROOT=$work/plain
	snapshot run 0 tune --path "$work/an other" --scope shell "$sample"
	snapshot run 0 tune --max-size 512MiB
	run 0 tune --path "$work/fine/"
	out_has "No setting needs a change."
	# A default is not printed as what should be; a place that is emptied should be another one.
	(unset CUDA_CACHE_PATH && run 0 tune && out_lacks "Should be" && { ! grep -q "is lost at" "$err" || out_has "Next       name a writable local directory that survives a restart: jitwarm tune --path DIR --apply"; }) || exit 1
) || exit 1
(
	with_simdriver sm_86
	unset CUDA_CACHE_PATH
	CUDA_CACHE_DISABLE=1 snapshot run "0|2" status
	CUDA_FORCE_PTX_JIT=1 snapshot run "0|2" status
	for value in abc 1G 0; do
		CUDA_CACHE_MAXSIZE=$value snapshot run "0|2" status
	done
	CUDA_CACHE_PATH=/dev/null/cache run "0|2" status
	out_has "Next    name a directory that this account can write to: jitwarm tune --path DIR --apply"
	run "0|2" status
	out_has "programs that compile: jitwarm find"
) || exit 1
run 2 status
out_has "Next    see which versions of a package run on another GPU: jitwarm which --target rtx4090 torch"
# HOME is not set, and the driver caches nothing. The home in passwd is not this test's, so nothing is written.
(
	with_simdriver sm_86
	unset CUDA_CACHE_PATH HOME
	snapshot run "0|2" status
	run 0 tune
	out_has "Next       name a writable local directory that survives a restart: jitwarm tune --path DIR --apply"
	snapshot run 0 tune --path "$work/cache"
	snapshot run 2 check "$sample"
	run 2 prime "$sample"
	err_has "HOME is not set: the driver caches nothing; set HOME or CUDA_CACHE_PATH"
	CUDA_CACHE_PATH='' snapshot run 2 prime "$sample"
	CUDA_CACHE_PATH=some/where snapshot run "0|2" status
	CUDA_CACHE_PATH="$work/stdout/cache" snapshot run 2 prime "$sample"
) || exit 1

# A real file system has little space and few inodes.
small=$work/small
mkdir "$small"
printf '#!/bin/sh\nmount -t tmpfs -o size=1m,nr_inodes=20 none "%s" && exec "$@"\n' "$small" >"$work/with-small"
chmod +x "$work/with-small"
if unshare -rm "$work/with-small" true 2>/dev/null; then
	JITWARM="unshare -rm $work/with-small $JITWARM" run 0 tune --json --path "$small/cache"
	json 'any("only 1 MiB are free" in w for w in d["warnings"]) and any("room for only" in w for w in d["warnings"])'
	# No value of a setting mends a small folder in memory, so --apply without another folder is not offered, however the folder was set.
	CUDA_CACHE_PATH=$small/cache JITWARM="unshare -rm $work/with-small $JITWARM" snapshot run 0 tune
	HOME=$small JITWARM="unshare -rm $work/with-small $JITWARM" run 0 tune
	out_has "Next       name a writable local directory that survives a restart: jitwarm tune --path DIR --apply"
	# A value that the driver misreads is still mended first.
	CUDA_CACHE_MAXSIZE=1k CUDA_CACHE_PATH=$small/cache JITWARM="unshare -rm $work/with-small $JITWARM" snapshot run 0 tune
fi

# Variables of a container or of conda are the process's, once it runs there.
mkdir -p "$work/root/proc/1" "$work/env/conda-meta" && : >"$work/root/.dockerenv"
printf 'A=1\0CUDA_CACHE_DISABLE=1\0' >"$work/root/proc/1/environ"
printf '{"env_vars": {"CUDA_CACHE_DISABLE": "1"}}' >"$work/env/conda-meta/state"
CONDA_PREFIX=$work/env run 0 tune --json
json 'not any("/proc/" in s["where"] or "conda" in s["where"] for s in d["settings"])'
rm -r "$work/root/proc" "$work/root/.dockerenv" "$work/env"
run 0 tune --apply --scope shell
out_has "open a new shell"
run 0 tune --undo

# In each scope, a second --apply changes nothing, and --undo restores everything, except that a missing last line feed is added.
printf '\n' >>"$HOME/.profile"
ln -s real-bashrc "$HOME/link" && mv "$HOME/.bashrc" "$HOME/real-bashrc" && ln -s real-bashrc "$HOME/.bashrc"
chmod 640 "$HOME/.profile"
mkdir -p "$work/env/conda-meta"
export CONDA_PREFIX=$work/env
content_of "$HOME" >before.home; content_of "$work/root" >before.root
for scope in user shell system; do
	snapshot run "0|64" tune --apply --scope "$scope" --max-size 2GiB --path "$work/a 'b"
	[[ $ended == 64 ]] || fail "a quote went into a list"
	run 0 tune --apply --scope "$scope" --max-size 2GiB --path "$work/my cache"
	out_has written
	snapshot run 0 tune --apply --scope "$scope" --max-size 2GiB --path "$work/my cache" --json
	run 0 tune --undo --scope "$scope"
	content_of "$HOME" | diff before.home - || fail "$scope: the home is not as it was"
	content_of "$work/root" | diff before.root - || fail "$scope: the system is not as it was"
done
[[ -L $HOME/.bashrc ]] || fail "the link was replaced"

# A written setting counts for the programs that read it.
run 0 tune --apply --scope shell --max-size 2GiB --path "$work/my cache"
got=$(bash -c '. "$HOME/.bashrc"; echo "$CUDA_CACHE_MAXSIZE $CUDA_CACHE_PATH"')
[[ $got == "2147483648 $work/my cache" ]] || fail "bash has $got"
# Without --scope, --undo undoes all scopes.
run 0 tune --undo
content_of "$HOME" | diff before.home - || fail "the home is not as it was"

# In a unit or a hook without the login's variables, jitwarm reports the settings that programs will have.
(
	with_simdriver sm_86
	unset CUDA_CACHE_PATH CUDA_CACHE_MAXSIZE
	limit() { # BYTES DIRECTORY
		run "0|2" status --json
		json "d['cache']['limit_bytes'] == $1 and d['cache']['limit_set'] and d['cache']['path'] == '$2'"
		run '0|1' prime -n "$sample"
		run 0 cache list --json
		json "d['path'] == '$2'"
	}
	printf 'CUDA_CACHE_MAXSIZE=3221225472\nCUDA_CACHE_PATH="%s"\n' "$work/shared" >>"$work/root/etc/environment"
	snapshot limit 3221225472 "$work/shared"
	run 0 tune --apply --scope user --max-size 2GiB
	limit 2147483648 "$work/shared"
	snapshot run 0 tune --apply --scope user --max-size 2GiB --path "$work/my cache"
	limit 2147483648 "$work/my cache"
	# The process's own setting counts; another account's file does not count for root.
	CUDA_CACHE_MAXSIZE=1900000000 limit 1900000000 "$work/my cache"
	got=$(bash -lc 'echo "$CUDA_CACHE_MAXSIZE $CUDA_CACHE_PATH"' 2>/dev/null)
	[[ $got == "2147483648 $work/my cache" ]] || fail "a login has $got"
	if [[ $(id -u) == 0 ]]; then
		chown 65534 "$HOME/.config/environment.d/60-jitwarm.conf"
		limit 3221225472 "$work/shared"
		chown 0 "$HOME/.config/environment.d/60-jitwarm.conf"
	fi
	snapshot run 0 tune --undo --scope user
	limit 3221225472 "$work/shared"
	printf 'CUDA_CACHE_DISABLE=1\n' >>"$work/root/etc/environment"
	snapshot run 2 check "$sample"
) || exit 1
printf 'PATH=/bin\nCUDA_CACHE_DIR=/x\n' >"$work/root/etc/environment"

# fish has one file for all of jitwarm's scopes, and its shells read their part of each.
export SHELL=/usr/bin/fish
fish() { XDG_CACHE_HOME=$work/fish command fish "$@"; } # fish 4 makes a folder there whenever it starts
run 0 tune --apply --scope user --max-size 2GiB --path "$work/my cache"
snapshot run 0 tune --apply --scope shell --max-size 3GiB --path "$work/my cache"
conf=$HOME/.config/fish/conf.d
[[ $(cd "$conf" && echo *) == "jitwarm-login.fish jitwarm.fish" ]] || fail "fish: $(ls "$conf")"
if type -P fish >/dev/null; then # not the function
	[[ $(fish -c 'echo $CUDA_CACHE_MAXSIZE') == 3221225472 ]] || fail "fish does not read it"
fi
run 0 tune --undo --scope shell
[[ ! -e $conf/jitwarm.fish && $(grep -c "MAXSIZE .2147483648" "$conf/jitwarm-login.fish") == 1 ]] || fail "one scope took the other back"
if type -P fish >/dev/null; then # not the function
	[[ $(fish -l -c 'echo "$CUDA_CACHE_MAXSIZE $CUDA_CACHE_PATH"') == "2147483648 $work/my cache" ]] || fail "fish -l does not read it"
	[[ -z $(fish -c 'echo $CUDA_CACHE_MAXSIZE') ]] || fail "fish reads the login shell's"
fi
run 0 tune --undo --scope user
content_of "$HOME" | diff before.home - || fail "fish: the home is not as it was"

# A shell that reads none of those files is reported.
SHELL=/bin/tcsh snapshot run 0 tune --apply --scope shell --max-size 2GiB
run 0 tune --undo
export SHELL=/bin/bash
# A setting that was not requested is not set.
run 0 tune --apply --scope shell --path "$work/my cache"
block() { cat "$HOME/.config/jitwarm/shell.conf"; }
! block | grep CUDA_CACHE_MAXSIZE= || fail "a limit was set that nobody asked for"
snapshot run 0 tune --apply --scope shell --max-size 2GiB
block | grep CUDA_CACHE_PATH= || fail "the path that was set before is lost"
run 0 tune --undo
run 0 tune --apply --scope shell --max-size 2GiB
! block | grep CUDA_CACHE_PATH= || fail "a path was set that nobody asked for"
run 0 tune --undo

# The files of two machines were joined: one line is left, and its file's settings count.
run 0 tune --apply --scope shell --max-size 2GiB
printf '%s\n' "export MINE=1" "$(grep 'jitwarm tune' "$HOME/.bashrc")" >>"$HOME/.bashrc"
snapshot run 0 tune --apply --scope shell --max-size 3GiB
[[ $(grep -c 'jitwarm tune' "$HOME/.bashrc") == 1 && $(bash -c '. "$HOME/.bashrc"; echo "$CUDA_CACHE_MAXSIZE $MINE"') == "3221225472 1" ]] || fail "not the limit that was applied"
run 0 tune --undo
sed -i '/^export MINE=1$/d' "$HOME/real-bashrc"

# The next run removes the files that a killed one has left beside a file, and nothing else. .bashrc is a link: its target is what is written.
beside=$(dirname "$(realpath "$HOME/.bashrc")")/.$(basename "$(realpath "$HOME/.bashrc")").jitwarm-
touch "$beside.abcdef" "$beside.later1" "${beside}notes" "$HOME/.bashrc.backup"
touch -d "1 minute ago" "$beside.abcdef" "${beside}notes" "$HOME/.bashrc.backup"
for change in "--apply --max-size 2GiB" --undo; do
	run 0 tune --scope shell $change
	[[ ! -e $beside.abcdef ]] || fail "what a killed run has left stays: tune $change"
	[[ -e $beside.later1 && -e ${beside}notes && -e $HOME/.bashrc.backup ]] || fail "tune $change removed another file"
	touch -d "1 minute ago" "$beside.abcdef" && touch "$beside.later1"
done
rm "$beside.abcdef" "$beside.later1" "${beside}notes" "$HOME/.bashrc.backup"

# A failure names what was changed before it.
mv "$HOME/.profile" profile && mkdir "$HOME/.profile"
snapshot run "2|3" tune --apply --scope user --max-size 2GiB
err_has "$HOME/.profile: " && err_has "; changed before: $HOME/.config/environment.d/60-jitwarm.conf"
rmdir "$HOME/.profile" && mv profile "$HOME/.profile"
run 0 tune --undo

# Two runs at once both succeed, and there is one line.
all=()
for _ in 1 2 3 4; do timeout 200 $JITWARM tune --apply --scope shell -q & all+=($!); done
wait "${all[@]}"
[[ $(grep -c 'jitwarm tune' "$HOME/.bashrc") == 1 ]] || fail "not one line"
run 0 tune --undo
content_of "$HOME" | diff before.home - || fail "the home is not as it was after four at once"

# A symlink to nowhere, or a folder in the way, is reported, and nothing is changed.
rm "$HOME/real-bashrc"
snapshot run 3 tune --apply --scope shell
run 0 tune --undo
[[ -L $HOME/.bashrc ]] || fail "the link was replaced"
rm "$HOME/.bashrc" && mkdir "$HOME/.bashrc"
run "2|3" tune --apply --scope shell
snapshot run 64 tune --apply --scope conda
# Every program reads this file, from wherever it is started.
rmdir "$HOME/.bashrc"
content_of "$HOME" >before.relative
for scope in user shell; do
	for how in --apply --print=sh --json; do
		snapshot run 64 tune $how --scope $scope --path relative/cache
	done
done
# environment.d would replace the variable in this path.
snapshot run "3|64" tune --apply --scope user --path "$work/\$HOME/cache"
content_of "$HOME" | diff before.relative - || fail "a refused path was written"
