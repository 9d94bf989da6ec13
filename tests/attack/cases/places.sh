# Root neither writes, deletes nor starts a program in a place that another account can change. Every variable and option that names a place
# is checked before anything else, and the message ends with a command line to type, which works.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
roots=$work/home
nothing_made() { [[ -z $(find "$home" "$roots" -mindepth 1) ]] || fail "made: $(find "$home" "$roots" -mindepth 1)"; }
# refused WORD COMMAND…: ends with status 2 and one line with that word, and made nothing, in whichever order jitwarm checks and uses places
refused() {
	local word=$1
	shift
	run 2 "$@"
	err_one_line
	err_has "$word"
	err_has "root changes nothing there"
	nothing_made
}
# to_type: the line that the refusal prints
to_type() { sed 's/.*\([ .]Type\|, type\) “//; s/”, or, if .*//; s/”$//' "$err"; }
theirs="belongs to account $mallory"
# Variables and options
HOME=$home refused "HOME=$home $theirs" prime "$sample"
for name in CUDA_CACHE_PATH JITWARM_STATE JITWARM_PTXAS JITWARM_TRUSTED_KEYS XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME ZDOTDIR TMPDIR; do
	(export $name="$home/place" && refused "$name=$home/place: $home $theirs" prime "$sample") || exit 1
done
mkdir -p "$open/root/etc/jitwarm"
for setting in compilers=JITWARM_PTXAS trusted-keys=JITWARM_TRUSTED_KEYS; do
	echo "${setting%=*} = $home/place" >"$open/root/etc/jitwarm/config"
	JITWARM_SYSTEM_ROOT=$open/root refused "${setting#*=}=$home/place: $home $theirs" prime "$sample"
done
# Root reads no machine's settings, and no account's, that another account can change.
printf 'trust-accounts = *\n' >"$open/root/etc/jitwarm/config" && chown $mallory "$open/root/etc/jitwarm/config"
(export JITWARM_SYSTEM_ROOT=$open/root && HOME=$home run 2 prime "$sample" && err_has "HOME=$home $theirs" && err_has "the settings were not read") || exit 1
nothing_made
(export HOME=$work/tuned && mkdir "$HOME" && run 0 tune --apply --scope user --path "$open/tuned" && run '0|1|2' status && out_has "$open/tuned" && chown -R $mallory "$HOME" &&
	run '0|1|2' status && out_lacks "$open/tuned") || exit 1
rm -rf "$open/root" "$work/tuned"
# tune makes no folder of another account's the driver's cache, and a setting can be removed whatever it names.
(export HOME=$work/tuned && mkdir "$HOME" && refused "--path=$home/place: $home $theirs" tune --apply --scope user --path "$home/place" &&
	run 0 tune --apply --scope user --path "$work/mine" && CUDA_CACHE_PATH=$home/place run 0 tune --undo --scope user &&
	run 0 config trusted-keys "$home/place" && run 0 config --unset trusted-keys && [[ ! -s $HOME/.config/jitwarm/config ]]) || exit 1
rm -rf "$work/tuned"
echo torch >"$work/list.txt"
for name in PYTHONPATH PYTHONUSERBASE PYTHONHOME; do
	(export $name="$home/place" && refused "$name=$home/place: $home $theirs" compiler fetch 12.4) || exit 1
	(export $name="$home/place" && refused "$name=$home/place: $home $theirs" scan --index torch) || exit 1
	(export $name="$home/place" && refused "$name=$home/place: $home $theirs" scan --target sm_86 -r "$work/list.txt") || exit 1
	(export $name="$home/place" && refused "$name=$home/place: $home $theirs" which --target rtx4090 --ask torch) || exit 1
	(export $name="$home/place" && run '0|1|2' check "$sample" && err_lacks "$name") || exit 1
	rm -rf "$roots"/.[a-z]*
done
# Root's own home has a file of the account's, which pip would read, or which uninstall would remove, whatever relative path a variable has.
HOME=$home refused "HOME=$home $theirs" scan --target sm_86 -r "$work/list.txt"
theirs_in_home() { # FILE COMMAND…
	mkdir -p "$(dirname "$roots/$1")" && touch "$roots/$1" && chown $mallory "$roots/$1"
	(cd / && XDG_CONFIG_HOME=relative run 2 "${@:2}") || exit 1
	err_has "HOME=$roots: $roots/$1 $theirs"
	[[ -e $roots/$1 ]] || fail "removed: $1"
	rm -r "$roots"/.[a-z]*
}
theirs_in_home .config/pip/pip.conf scan --target sm_86 -r "$work/list.txt"
theirs_in_home .pip/pip.conf scan --target sm_86 -r "$work/list.txt"
theirs_in_home .config/jitwarm/config uninstall
# Neither does uninstall propose to remove the account's settings.
mkdir -p "$home/.config/jitwarm" && echo "jobs = 2" >"$home/.config/jitwarm/config"
HOME=$home run 1 uninstall --dry-run
err_has "$home $theirs"
out_lacks "$home"
rm -r "$home/.config"
PYTHONPATH=/usr/lib:$home/place refused "PYTHONPATH=$home/place" compiler fetch 12.4
refused "--cache=$home/place: $home $theirs" prime --cache "$home/place" "$sample"
refused "--output=$home/place: $home $theirs" export -o "$home/place"
err_has "Name another file or folder."
refused "--output=$home/" bake -o "$home/" "$sample"
refused "--json-log=$home/log" prime --json-log "$home/log" "$sample"
refused "--driver-profile=$home/profile" status --driver-profile "$home/profile"
# In a folder for everyone, the names in root's cache and state would be the account's to make.
mkdir -m 1777 "$open/everyones"
for name in CUDA_CACHE_PATH JITWARM_STATE JITWARM_PTXAS JITWARM_TRUSTED_KEYS; do
	(export $name="$open/everyones" && refused "$name=$open/everyones: other accounts may write to $open/everyones" prime "$sample") || exit 1
done
(export CUDA_CACHE_PATH=$open/everyones && refused "CUDA_CACHE_PATH=$open/everyones" cache clear --yes && refused "CUDA_CACHE_PATH=$open/everyones" import "$open/a.jwpack") || exit 1
refused "--cache=$open/everyones: other accounts may write to $open/everyones" prime --cache "$open/everyones" "$sample"
err_has "root changes nothing there: name another file or folder"
err_lacks chmod
# doctor's probe, too, writes nothing there: a driver follows the links below its cache.
CUDA_CACHE_PATH=$open/everyones run "0|1|2" doctor "$sample"
out_has "others: other accounts may write to $open/everyones; root changes nothing there, so “jitwarm prime” compiles nothing"
CUDA_CACHE_PATH=$open/everyones/missing run "0|1|2" doctor "$sample"
[[ -z $(ls -A "$open/everyones") ]] || fail "made: $(ls -A "$open/everyones")"
(export CUDA_CACHE_PATH=$open/everyones/roots && run 0 prime --quiet "$sample" && [[ $(stat -c '%u %a' "$CUDA_CACHE_PATH") == "0 700" ]]) || fail "a new folder there is not root's"
rm -rf "$open/everyones" "$roots"/.[a-z]*
mkdir "$open/tools" && touch "$open/tools/"{ptxas,nvrtc,nvjitlink} && chown -R $mallory "$open/tools"
refused "--ptxas=$open/tools/ptxas: $open/tools $theirs" make --target sm_86 --driver 550.163.01 -o "$open/made/" --ptxas "$open/tools/ptxas" "$sample"
refused "--nvrtc=$open/tools/nvrtc" prime --nvrtc "$open/tools/nvrtc" "$sample"
refused "--nvjitlink=$open/tools/nvjitlink" bake -o "$open/made/" --nvjitlink "$open/tools/nvjitlink" "$sample"
(cd "$home" && refused "--output=.: $home $theirs" export) || exit 1
for command in "cache prune --apply --older-than 1s" "cache clear" "cache verify --repair" "store clear" "uninstall" "tune --apply --max-size 2GiB --scope user" \
	"key generate" "config jobs 2" "config --unset jobs" "startup enable" "compiler fetch 12.4" "import $open/a.jwpack" "ahead"; do
	# shellcheck disable=SC2086
	HOME=$home refused "HOME=$home $theirs" $command
done
# The paths lead through symlinks of root's.
ln -s home "$open/link"
refused "--cache=$open/link/cache: $open/home $theirs" prime --cache "$open/link/cache" "$sample"

# Folders of root's HOME belong to another account, or are open to all, as a volume is.
for name in .nv .local .config .cache; do
	mkdir -p "$roots" && ln -s "$treasure/folder" "$home/index"
	cp -rP "$home/." "$roots/$name" && chown -hR $mallory "$roots/$name"
	for command in "prime $sample" "cache clear" "store clear" "uninstall" "import $open/a.jwpack"; do
		# shellcheck disable=SC2086
		run 2 $command
		err_has "HOME=$roots: $roots/$name $theirs"
		untouched
	done
	rm -r "${roots:?}/$name" "$home/index"
done
# In a container, root's closed HOME has a volume: its account cannot enter it, so the line is root's, and works. The answers say so before.
mkdir -p "$roots/.nv" && chmod 700 "$roots" && chown $mallory "$roots/.nv"
run 2 prime "$sample"
err_has "HOME=$roots: $roots/.nv $theirs; root changes nothing there. If that account may act as root, as in a container, type “JITWARM_TRUST_ACCOUNTS=$mallory jitwarm prime $sample”"
prime_anyway=$(to_type)
run 0 status
out_has "$roots/.nv $theirs; root changes nothing there"
out_has "jitwarm doctor"
run 1 check "$sample"
out_has "Next: jitwarm doctor"
out_lacks "jitwarm prime"
run 1 doctor "$sample"
out_has " 1  others: $roots/.nv $theirs; root changes nothing there"
out_has "set JITWARM_TRUST_ACCOUNTS=$mallory"
out_has "first fix the findings above"
out_lacks "all is well"
[[ -z $(ls -A "$roots/.nv") ]] || fail "made: $(ls -A "$roots/.nv")"
(PATH=$open/build/src:$PATH && eval "$runner env $prime_anyway" >"$out" 2>"$err") || fail "the line does not work: $prime_anyway"
JITWARM_TRUST_ACCOUNTS=$mallory run '0|1' doctor "$sample"
out_lacks "others"
rm -rf "$roots"/.[a-z]* && chmod 755 "$roots"
mkdir -m 777 "$open/all" && HOME=$open/all refused "HOME=$open/all: other accounts may write to $open/all" prime "$sample"
err_has "chmod go-w $open/all"
[[ -z $(ls -A "$open/all") ]] || fail "made: $(ls -A "$open/all")"
# The printed line works.
(eval "$(to_type)") || fail "the line does not work"
HOME=$open/all run 0 prime "$sample"
rm -rf "$open/all" "$roots"/.[a-z]*

# Folders of logins and units below root's .config; and the folder that replaces the system's, which only tests name
for place in .config/systemd .config/systemd/user .config/fish .config/fish/conf.d; do
	for variable in HOME XDG_CONFIG_HOME; do
		mkdir -p "$open/ours/$place" && chown $mallory "$open/ours/$place"
		export HOME=$open/ours
		[[ $variable == HOME ]] || export XDG_CONFIG_HOME=$open/ours/.config
		for command in "startup enable" "startup disable" "tune --apply --scope user --max-size 2GiB" uninstall; do
			# shellcheck disable=SC2086
			SHELL=/usr/bin/fish run 2 $command
			err_has ": $open/ours/$place belongs to account $mallory; root changes nothing there"
		done
		for command in status tune "startup status" "prime $sample"; do
			# shellcheck disable=SC2086
			SHELL=/usr/bin/fish run '0|1|2' $command
			err_lacks "root changes nothing"
		done
		[[ -z $(find "$open/ours/$place" -mindepth 1 ! -name user ! -name conf.d) ]] || fail "written: $(find "$open/ours/$place")"
		unset XDG_CONFIG_HOME
		rm -rf "$open/ours"
	done
done
export HOME=$roots
mkdir "$home/system" && chown $mallory "$home/system"
for command in "startup enable --service web" "tune --apply --scope system --max-size 2GiB" "import --all-users --allow-unsigned $work/none.jwpack"; do
	# shellcheck disable=SC2086
	JITWARM_SYSTEM_ROOT=$home/system run 2 $command
	err_has "JITWARM_SYSTEM_ROOT=$home/system: $home $theirs; root changes nothing there"
done
[[ -z $(ls "$home/system") ]] || fail "written: $(find "$home/system")"
rm -r "$home/system"

# In a folder like /tmp, a new name is root's from now on; an existing name must be root's already.
mkdir -m 1777 "$open/sticky"
as_mallory mkdir "$open/sticky/theirs" && as_mallory touch "$open/sticky/lab.jwpack"
CUDA_CACHE_PATH=$open/sticky/theirs refused "CUDA_CACHE_PATH=$open/sticky/theirs $theirs" prime "$sample"
refused "--output=$open/sticky/lab.jwpack $theirs" export -o "$open/sticky/lab.jwpack"
CUDA_CACHE_PATH=$open/sticky/new JITWARM_STATE=$open/sticky/state run 0 prime "$sample"
[[ $(stat -c %U "$open/sticky/new" "$open/sticky/state" | sort -u) == root ]] || fail "not root's"
CUDA_CACHE_PATH=$open/sticky/new run 0 export -o "$open/sticky/own.jwpack"
run '0|1' bake -o "$open/sticky/baked/" "$sample"
[[ $(stat -c '%u %a' "$open/sticky/baked") == "0 755" ]] || fail "not a folder of root's for all: $(stat -c '%u %a' "$open/sticky/baked")"
rm -rf "$roots"/.[a-z]*
# Root starts nothing from a name there that anybody may take.
PYTHONPATH=$open/sticky/none refused "PYTHONPATH=$open/sticky/none: other accounts may write to" compiler fetch 12.4
[[ ! -e $open/sticky/none ]] || fail "root made a folder for programs"
# --cache replaces the variable.
CUDA_CACHE_PATH=$home/place run 0 prime --cache "$work/own-cache" "$sample"
rm -rf "$roots"/.[a-z]*
HOME=$open/sticky run 0 prime "$sample"
for name in .nv .local .config .cache; do
	[[ $(stat -c %u "$open/sticky/$name") == 0 ]] || fail "$name is not root's"
	as_mallory mkdir "$open/sticky/$name/x" 2>/dev/null && fail "the account gets into $name"
done
rm -rf "$open/sticky" "$roots"/.[a-z]*

# Commands that only read give their answer, say once that they remember nothing, and write nothing.
for command in "status" "check $sample" "check --target sm_86 $sample" "scan --target sm_86 $sample" "lint $sample" "doctor" "find" "cache list" "startup status" "key list" "store list" config "config jobs"; do
	# shellcheck disable=SC2086
	HOME=$home run '0|1|2' $command
	[[ $(grep -c "$theirs; jitwarm remembers nothing of this run" "$err") == 1 ]] || fail "not said once"
	err_lacks "root changes nothing"
	[[ -s $out || $command == *" list" ]] || fail "no answer"
	nothing_made
done
HOME=$home run 0 help prime
err_empty
# export only reads the cache: root writes the pack into its own folder, without what a link of the account leads to.
CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
cp -r "$work/cache" "$home/cache" && chown -R $mallory "$home"
run 0 export --cache "$home/cache" -o "$work/whole.jwpack"
HOME=$home CUDA_CACHE_PATH=$home/cache run 0 export -o "$work/whole.jwpack"
err_has "$theirs; jitwarm remembers nothing of this run"
# An empty value names no place, and “-” a file of the current folder.
(cd "$home" && TMPDIR='' ZDOTDIR='' XDG_CACHE_HOME='' run 0 prime "$sample" && rm -rf "$roots"/.[a-z]* && [[ -z $(find "$roots" -mindepth 1) ]] &&
	run 2 run --record - -- true && err_has "--record=-: $home $theirs" && run 2 status --driver-profile -) || exit 1
[[ ! -e $home/- ]] || fail "written to the account's folder"
# A long command is left out, not the end of the message.
HOME=$home run 2 prime "$sample" "/$(printf 'a%.0s' {1..600})"
err_has " jitwarm prime … </dev/null 2>&1 | cat”, or, if those accounts may act as root, as in a container, set JITWARM_TRUST_ACCOUNTS=$mallory"
rm -rf "$roots"/.[a-z]*
entry=$(find "$home/cache" -path '*/?/?/*' -type f | head -n 1)
mv "$entry" "$work/entry" && as_mallory ln -s "$work/entry" "$entry"
run 1 export --cache "$home/cache" -o "$work/part.jwpack"
out_has "left out: 1 entry that this account cannot read"
# The same in a folder of root's in which everybody may make links.
cp -r "$work/cache" "$open/shared" && chmod 1777 "$open/shared" && mv "$open/shared/${entry#"$home/cache/"}" "$work/entry" && ln -s "$work/entry" "$open/shared/${entry#"$home/cache/"}"
run 1 export --cache "$open/shared" -o "$work/part.jwpack"
out_has "left out: 1 entry that this account cannot read"
rm -rf "$home/cache" "$open/shared" "$roots"/.[a-z]*
# run always starts its command and ends with its status, but records nothing.
HOME=$home run 7 run -- sh -c 'echo "$HOME"; exit 7'
out_has "$home"
err_has "jitwarm remembers nothing of this run"
# With --record the command is not started, as if the recording could not be written for another reason.
HOME=$home refused "HOME=$home $theirs" run --record "$work/x.json" -- touch "$roots/started"
refused "--record=$home/x.json: $home $theirs" run --record "$home/x.json" -- touch "$roots/started"
ln -s "$treasure/new" "$open/planted" && chown -h $mallory "$open/planted"
refused "--record=$open/planted $theirs" run --record "$open/planted" -- touch "$roots/started"
rm "$open/planted"
HOME=$home run 127 run -- /nonexistent/program
nothing_made

# JITWARM_TRUST_ACCOUNTS names accounts that count as root.
HOME=$home JITWARM_TRUST_ACCOUNTS=$((mallory + 1)) refused "JITWARM_TRUST_ACCOUNTS=$mallory" prime "$sample"
for accounts in everyone '**' '*,7' '7,*' '* *' ',' ' ' '7,,x' '-1' 4294967295 99999999999999999999; do
	HOME=$home JITWARM_TRUST_ACCOUNTS=$accounts run 64 prime "$sample"
	err_one_line
	err_has "takes numbers of accounts or *, not “$accounts”"
	nothing_made
done
for accounts in "$mallory" "7,$mallory" "*"; do
	HOME=$home JITWARM_TRUST_ACCOUNTS=$accounts run 0 prime "$sample"
	(($(cached "$home/.nv/ComputeCache") > 5)) || fail "its cache is not filled"
	rm -rf "${home:?}"/.[a-z]*
done
mkdir -p "$open/system/etc/jitwarm"
printf 'trust-accounts = %s\n' $mallory >"$open/system/etc/jitwarm/config"
(export JITWARM_SYSTEM_ROOT=$open/system && HOME=$home run 0 prime "$sample") || exit 1
# The folder is like a Kubernetes emptyDir: mode 0777, with and without a group of its own.
rm -rf "${home:?}"/.[a-z]*
mkdir -m 777 "$open/volume"
CUDA_CACHE_PATH=$open/volume/cache refused "JITWARM_TRUST_ACCOUNTS='*'" prime "$sample"
CUDA_CACHE_PATH=$open/volume/cache JITWARM_TRUST_ACCOUNTS='*' run 0 prime "$sample"
chmod 2775 "$open/volume" && chgrp $mallory "$open/volume" && rm -r "$open/volume/cache" "$roots"/.[a-z]*
CUDA_CACHE_PATH=$open/volume/cache refused "other accounts may write to $open/volume" prime "$sample"
CUDA_CACHE_PATH=$open/volume/cache JITWARM_TRUST_ACCOUNTS='*' run 0 prime "$sample"
rm -rf "$roots"/.[a-z]* "$open/volume"

# typed LINE: types it in a shell of root's, with this jitwarm and the simulated driver
typed() {
	# shellcheck disable=SC2086
	PATH=$open/bin:$PATH AWS_SECRET_ACCESS_KEY=1 PIP_INDEX_URL=https://user:password@host/ $runner env LD_LIBRARY_PATH="$open/build/tests/simdriver/lib" bash -o pipefail -c "$1" >"$out" 2>"$err"
}
# The printed line runs the command as the account, with the variables that were refused, and without root's others.
mkdir "$open/bin"
{
	printf '#!/bin/bash\n[[ -z ${AWS_SECRET_ACCESS_KEY-}${PIP_INDEX_URL-} ]] || exit 99\n'
	# shellcheck disable=SC2086
	$runner env | sed -n "s/^\(SIMDRIVER_[A-Z_]*\|JITWARM_PCI_DEVICES\|JITWARM_STORE\)=\(.*\)/export \1='\2'/p"
	echo '[[ $(readlink /proc/self/cwd) != */closed ]] || exit 97'
	printf 'SIMDRIVER_STATE=%s/theirs/driver exec %s/build/src/jitwarm "$@"\n' "$open" "$open"
} >"$open/bin/jitwarm"
chmod 755 "$open/bin/jitwarm"
account=$(getent passwd nobody >/dev/null && echo nobody)
# A sudo like the real one: the account gets few variables, and a PATH of the system's.
mkdir "$open/sudo"
cat >"$open/sudo/sudo" <<S
#!/bin/bash
[[ \$1 == -u ]] || exit 98
user=\$2 group=\$(id -g "\$2")
shift 2
[[ \$1 != -g ]] || { group=\${2#"#"} && shift 2; }
exec env -i PATH="$open/bin:/usr/sbin:/usr/bin:/sbin:/bin" TERM="\$TERM" SUDO_USER=root setpriv --reuid="\$user" --regid="\$group" --init-groups "\$@"
S
chmod 755 "$open/sudo/sudo"
# The account enters no folder of root's by its process's current folder.
mkdir -m 700 "$open/closed" && cd "$open/closed" || exit 1
mkdir "$open/none" && for name in runuser setpriv setsid; do ln -s "$(command -v $name)" "$open/none"; done
for number in $mallory ${account:+$(id -u nobody) sudo}; do
	with=$open/none wanted=" setpriv --reuid=$number "
	[[ $number != "$(id -u nobody 2>/dev/null)" ]] || wanted="runuser --pty -u nobody -- env "
	[[ $number != sudo ]] || { with=$open/sudo wanted="sudo -u nobody env " && number=$(id -u nobody); }
	mkdir -m 700 "$open/theirs" && chown "$number" "$open/theirs"
	(export CUDA_CACHE_PATH="$open/theirs/a cache" JITWARM_STATE=$open/theirs/state XDG_CONFIG_HOME=$work/config JITWARM="env PATH=$with $JITWARM" && run 2 prime --no-store "$sample") || exit 1
	line=$(to_type)
	[[ " $line" == *"$wanted"* ]] || fail "the line is: $line"
	# The account can take its process's descriptors: root's terminal is none of them.
	[[ $wanted != *setpriv* || $line == *" </dev/null 2>&1 | cat)" ]] || fail "the account gets root's terminal: $line"
	(export XDG_CONFIG_HOME=$work/config CUDA_CACHE_PATH="$open/theirs/a cache" JITWARM_STATE=$open/theirs/state PATH=$open/sudo:$PATH && typed "$line") ||
		fail "the line does not work: $line"
	(($(cached "$open/theirs/a cache") > 5)) || fail "$line has filled nothing"
	[[ -z $(find "$open/theirs" -not -user "$number") ]] || fail "not the account's: $(find "$open/theirs" -not -user "$number")"
	rm -rf "$open/theirs"
done
cd "$open" || exit 1
# An account cannot write an output into root's folder: the line is root's, with its own home and without the refused variables.
mkdir -p "$open/system/etc" "$work/own" "$work/made" && rm "$open/system/etc/jitwarm/config"
echo "root:x:0:0::$work/own:/bin/sh" >"$open/system/etc/passwd"
(
	export JITWARM_SYSTEM_ROOT=$open/system
	for command in "bake -o $work/made/ $sample" "run --record $work/made/x.json -- true" "make --target sm_86 --driver 550.163.01 -o $work/made/ $sample"; do
		# shellcheck disable=SC2086
		(export HOME=$home XDG_STATE_HOME=$home/state && refused "HOME=$home $theirs" $command) || exit 1
		line=$(to_type)
		[[ $line == "env -u XDG_STATE_HOME HOME=$work/own jitwarm $command" ]] || fail "the line is: $line"
		[[ $command == make* ]] || (unset AWS_SECRET_ACCESS_KEY && XDG_STATE_HOME=$home/state HOME=$home PATH=$open/bin:$PATH $runner bash -c "$line" >"$out" 2>"$err") || fail "the line does not work: $line"
	done
	[[ -s $work/made/$(basename "$sample") && -s $work/made/x.json ]] || fail "nothing was written: $(ls "$work/made")"
	# Nobody can write there with the account's cache.
	refused "--cache=$home/cache: $home $theirs" bake --cache "$home/cache" -o "$work/made/" "$sample"
	err_has "Name another file or folder."
) || exit 1
# The line has the HOME that was refused, which need not be the account's own.
[[ -z $account ]] || (mkdir "$open/nobodys" && chown nobody "$open/nobodys" && HOME=$open/nobodys refused "HOME=$open/nobodys belongs to nobody" prime "$sample" && err_has " env HOME=$open/nobodys ") || exit 1
# Into the account's own folder, the account writes.
(cd "$home" && HOME=$home refused "HOME=$home $theirs" bake -o made "$sample" && err_has "--reuid=$mallory ") || exit 1
# Files that root makes for other accounts are root's, with its own home.
HOME=$home JITWARM_STATE=$home/state refused "Type “env -u JITWARM_STATE HOME=" import --all-users "$open/pack"
JITWARM_STATE=$home/state refused "Type “env -u JITWARM_STATE HOME=" startup enable --all-users

# No one can log in as an account that a user namespace lacks; and root without its capabilities is no exception.
if unshare -r true 2>/dev/null; then
	mkdir -m 777 "$open/lacking" && chown $mallory "$open/lacking" && chmod 755 "$open/lacking"
	JITWARM="unshare -r $JITWARM" run '2|3' export -o "$open/lacking/pack"
	err_lacks "belongs to"
fi
mkdir "$roots/.nv" && chmod 700 "$home"
(JITWARM="setpriv --bounding-set=-dac_override,-dac_read_search,-fowner $JITWARM" run 2 prime --cache "$home/deep/cache" "$sample" && err_has "$home $theirs" && err_lacks "Permission denied") || exit 1

# jitwarm ignores the .venv in another account's project, and refuses nothing.
rm -rf "$roots"/.[a-z]*
as_mallory mkdir "$home/project" && environment "$home/project/.venv" 1.0 && chown -R $mallory "$home/project"
(cd "$home/project" && run '0|1|2' check && err_lacks "root changes" && err_lacks "remembers nothing" && run '0|1|2' status --json && json '".venv" not in (d.get("environment") or "")') || exit 1
# Neither is root's own .venv used where another account could exchange it.
mkdir -m 777 "$open/exchanged" && environment "$open/exchanged/.venv" 1.0
(cd "$open/exchanged" && run '0|1|2' status --json && json '".venv" not in (d.get("environment") or "")') || exit 1
chmod 755 "$open/exchanged"
(cd "$open/exchanged" && run '0|1|2' status --json && json '".venv" in d["environment"]') || exit 1
# Neither does root search the environments in a list of conda's that another account can change.
mkdir -p "$open/condas/.conda" && environment "$open/far/listed" 1.0 && echo "$open/far/listed" >"$open/condas/.conda/environments.txt"
(export HOME=$open/condas && run '0|1|2' find && out_has "$open/far/listed" && run '0|1|2' scan -e listed --target sm_86 &&
	chown $mallory "$open/condas/.conda/environments.txt" && run '0|1|2' find && out_lacks "$open/far/listed" && run 3 scan -e listed --target sm_86) || exit 1
# The line to type keeps the variables that say which driver, GPUs and packages the command is about.
(export CONDA_PREFIX=$open/far/listed VIRTUAL_ENV=$open/far/listed CUDA_VISIBLE_DEVICES=0 && CUDA_CACHE_PATH=$home/place run 2 prime "$sample" &&
	for name in LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX CUDA_VISIBLE_DEVICES; do err_has "$name=\"\$$name\""; done) || exit 1
# Root does not read the pyproject.toml in such a project, which could allow what root's lint refuses.
printf '[tool.jitwarm.lint]\nnonsense = true\n' >"$home/project/pyproject.toml"
(cd "$home/project" && run '0|1' lint "$sample" && err_has "pyproject.toml: root does not read this file: $home $theirs") || exit 1
# uv runs code of a project: jitwarm prints no such line to root.
for command in lint prime check "scan --index -r"; do
	# shellcheck disable=SC2086
	(cd "$home/project" && run '2|3|64' $command pyproject.toml && err_has account && err_lacks "uv pip") || exit 1
done
# Neither does root's status read other accounts' caches: it says the same with them and without.
rm -rf "$home"/.[a-z]* && CUDA_CACHE_PATH=$home/.nv/ComputeCache JITWARM_TRUST_ACCOUNTS=$mallory run 0 prime "$sample" && chown -R $mallory "$home/.nv"
(($(cached "$home/.nv/ComputeCache") > 5)) || fail "the account has no cache"
mkdir -p "$open/people/etc" && echo "mallory:x:$mallory:$mallory::$home:/bin/sh" >"$open/people/etc/passwd"
printf 'UID_MIN 1000\nUID_MAX 65000\n' >"$open/people/etc/login.defs"
(export JITWARM_SYSTEM_ROOT=$open/people && run '0|1|2' status && mv "$out" "$work/with" && mv "$home/.nv" "$home/nv" && run '0|1|2' status) || exit 1
diff "$work/with" "$out" || fail "status shows another account's cache"
# Root's own program may have a cache in the account's folder, where doctor looks only if root trusts the account.
CUDA_CACHE_PATH=$home/place sleep 60 &
run 2 doctor --pid $!
kill $!
err_has "CUDA_CACHE_PATH=$home/place: $home $theirs"
# Root does not examine other accounts' programs: the message is the line to type.
run 2 doctor --user nobody
err_has "jitwarm doctor --user nobody"
# examined COMMAND…: runs $sleeper by that command; the printed line examines it as its account
sleeper=$open/bin/sleeps-$$
cp "$(command -v sleep)" "$sleeper"
examined() {
	local begun pid
	"$@" &
	begun=$!
	await pgrep -f "^$sleeper" >/dev/null
	pid=$(pgrep -f "^$sleeper")
	run 2 doctor --pid "$pid"
	typed "$(sed 's/.*, type “//; s/”$//' "$err")" || (($? < 3)) || fail "the line does not work"
	out_has "Process $pid (${sleeper##*/}): "
	run 2 watch "$pid"
	err_has "for these programs, type “env -i "
	kill "$pid"
	wait $begun 2>/dev/null || :
}
examined as_mallory "$sleeper" 60
# In another group than the account's own, too, as pods and services with a group of their own have: the kernel compares both.
examined setpriv --reuid=$mallory --regid=$((mallory + 1)) --clear-groups "$sleeper" 60
[[ -z $account ]] || examined setpriv --reuid="$account" --regid=$mallory --clear-groups "$sleeper" 60
[[ -z $account ]] || ! su -s /bin/sh nobody -c true || examined su -s /bin/sh nobody -c "$sleeper 60; true"
