# Each row of the table in src/cli/places.c: another account owns the path, a folder on the way or a link in it, or can write there. A command
# that would write there, or start it, ends with 2 and one line that names the part and the line to type, and has made nothing.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
roots=$work/home
export PIP_INDEX_URL=http://127.0.0.1:1/ PIP_RETRIES=0
theirs="belongs to account $mallory, so root does not use it: type “sudo -u '#$mallory' jitwarm"
mkdir -m 777 "$open/all"
mkdir "$open/links" "$open/given"
chown $mallory "$open/given" && mv "$open/given" "$open/links/given"
ln -s "$treasure/folder" "$open/links/link" && chown -h $mallory "$open/links/link"
# Each of these is planted in the place of a path: below a folder of the account, a folder of the account in one of root's, a link of the
# account in one of root's, and below a folder to which everybody may write
planted=("$home/place" "$open/links/given" "$open/links/link" "$open/all/place")
# refused WORD COMMAND…
refused() {
	local word=$1
	shift
	run 2 "$@"
	err_one_line
	err_has "$word"
	untouched
	[[ -z $(find "$home" "$roots" "$open/all" "$open/links/given" -mindepth 1) ]] || fail "made: $(find "$home" "$roots" "$open/all" "$open/links/given" -mindepth 1)"
}
word() { case $1 in "$open/all"*) echo "other accounts may write to $open/all, so root does not use it: type “chmod go-w $open/all”" ;; *) echo "$theirs" ;; esac; }
echo torch >"$work/list.txt"
for path in "${planted[@]}"; do
	word=$(word "$path")
	for name in HOME CUDA_CACHE_PATH JITWARM_STATE JITWARM_TRUSTED_KEYS; do
		(export $name="$path" && refused "$word" prime "$sample") || exit 1
	done
	refused "$word" prime --cache "$path" "$sample"
	refused "$word" prime --store "$path" "$sample"
	for name in HOME XDG_STATE_HOME XDG_CONFIG_HOME JITWARM_SYSTEM_ROOT; do
		(export $name="$path" && refused "$word" tune --apply --scope user --max-size 2GiB) || exit 1
		(export $name="$path" && refused "$word" uninstall) || exit 1
	done
	for name in XDG_CACHE_HOME JITWARM_PTXAS; do (export $name="$path" && refused "$word" compiler fetch 12.4) || exit 1; done
	XDG_CONFIG_HOME=$path refused "$word" config jobs 2
	(export CUDA_CACHE_PATH=$path && refused "$word" cache clear --yes && refused "$word" cache verify --repair && refused "$word" import "$open/a.jwpack") || exit 1
	(export JITWARM_STATE=$path && refused "$word" key generate && refused "$word" store clear) || exit 1
	refused "$word" tune --apply --scope user --path "$path"
	for name in PYTHONPATH PYTHONUSERBASE PYTHONHOME PIP_CONFIG_FILE PIP_CERT NETRC SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS; do
		(export $name="$path" && refused "$word" compiler fetch 12.4 && refused "$word" scan --index torch) || exit 1
		(export $name="$path" && run '0|1|2' check "$sample" && err_lacks "does not use") || exit 1
		rm -rf "$roots"/.[a-z]*
	done
	(export XDG_CACHE_HOME="$path" && refused "$word" make --fetch --target sm_86 --driver 550.163.01 -o "$work/made.jwpack" "$sample") || exit 1
	XDG_CONFIG_HOME=$path refused "$word" prime --tune "$sample"
	for index in "file://$path" "https://127.0.0.1:1/ $path"; do PIP_FIND_LINKS=$index refused "$word" scan --target sm_86 -r "$work/list.txt"; done
	for index in "file:$path" "file://localhost$path" "file:///%6d" "~mallory/x"; do PIP_FIND_LINKS=$index refused "neither a path nor an address" scan --index torch; done
	# Python takes these characters for white space, too, so that pip reads two indexes.
	for between in $'\u00a0' $'\u3000' $'\v' $'\x1f'; do
		PIP_FIND_LINKS="https://127.0.0.1:1/$between$path" refused "other than printable ASCII" scan --index torch
		PIP_EXTRA_INDEX_URL="https://127.0.0.1:1/${between}file://$path" refused "other than printable ASCII" scan --index torch
	done
	PYTHONPATH=/usr/lib:$path refused "$word" which --target rtx4090 --ask torch
done
for path in "$home" "$open/links/given" "$open/links/link" "$open/all"; do
	word=$(word "$path")
	refused "$word" export -o "$path/x.jwpack"
	refused "$word" prime --json-log "$path/log" "$sample"
	refused "$word" status --driver-profile "$path/profile"
	refused "$word" run --record "$path/x.json" -- touch "$roots/started"
done
# A folder that is missing now, and “..” behind it
(export JITWARM_STATE=$work/none/../../../../../../../..$home/state && run 2 prime "$sample" && [[ -z $(ls -A "$home") && ! -e $work/none ]]) || fail "made: $(ls -A "$home")"
# Links: root's own in root's folder leads to the account's folder; the account's own in the way of an output to root's file
ln -s "$home" "$open/to-home"
refused "$open/home $theirs prime --cache $open/to-home/cache $sample”" prime --cache "$open/to-home/cache" "$sample"
(export CUDA_CACHE_PATH=$work/cache JITWARM_STATE=$work/state && run 0 prime --quiet "$sample" && run 0 export --quiet -o "$treasure/pack") && before=$(state_of)
ln -s "$treasure/pack" "$open/output" && chown -h $mallory "$open/output"
refused "$open/output $theirs" export -o "$open/output"
cd "$home" || fail "no folder"
refused "--output jitwarm.jwpack: $home $theirs" export
cd "$open" || exit 1
# A file of the account in root's own folder is what pip, uninstall and config would use.
for file in ".config/pip/pip.conf scan --index torch" ".pip/pip.conf scan --index torch" ".netrc scan --index torch" ".config/jitwarm/config uninstall"; do
	mkdir -p "$(dirname "$roots/${file%% *}")" && touch "$roots/${file%% *}" && chown $mallory "$roots/${file%% *}"
	# shellcheck disable=SC2086
	run 2 ${file#* }
	err_has "$roots/${file%% *} belongs to account $mallory"
	rm -rf "$roots"/.[a-z]*
done
rm -rf "$roots"/.[a-z]* && mkdir -p "$roots/.local/lib" && chown $mallory "$roots/.local/lib" && run 2 scan --index torch
err_has "$roots/.local/lib belongs to account $mallory" && rm -r "$roots/.local"
# Each folder of root's settings, and root's home and ZDOTDIR, in which shells have theirs
for place in environment.d fish/conf.d systemd/user; do
	mkdir -p "$work/settings/$place" && chown $mallory "$work/settings/$place"
	XDG_CONFIG_HOME=$work/settings run 2 tune --apply --scope user --max-size 2GiB
	err_has "$work/settings/$place belongs to account $mallory" && rm -r "$work/settings"
done
for name in HOME ZDOTDIR; do
	(export CUDA_CACHE_PATH=$work/own JITWARM_STATE=$work/own XDG_CONFIG_HOME=$work/own "$name=$home" && refused "$theirs" tune --apply --scope shell --max-size 2GiB) || exit 1
done
# The settings of logins and the machine's: what the account has written is not believed.
mkdir -p "$open/root/etc/jitwarm" && echo "trust-accounts = yes" >"$open/root/etc/jitwarm/config" && chown $mallory "$open/root/etc/jitwarm/config"
(export JITWARM_SYSTEM_ROOT=$open/root && CUDA_CACHE_PATH=$home/place run 2 prime "$sample" && err_has "the settings were not read") || exit 1
rm -rf "$open/root" "$roots"/.[a-z]*
# A setting can be removed whatever it names; a command for all accounts is root's to type; a number that has a name is named.
(export HOME=$work/tuned && mkdir "$HOME" && run 0 config trusted-keys "$home/place" && run 0 config --unset trusted-keys && [[ ! -s $HOME/.config/jitwarm/config ]]) || exit 1
HOME=$home refused "type “sudo -H jitwarm startup enable --all-users”" startup enable --all-users
(export JITWARM_SYSTEM_ROOT=$open/root && mkdir -p "$open/root/etc" && echo "mallory:x:$mallory:$mallory::$home:/bin/sh" >"$open/root/etc/passwd" &&
	HOME=$home refused "$home belongs to mallory, so root does not use it: type “sudo -u mallory jitwarm prime $sample”" prime "$sample") || exit 1
# The number of “nobody” is no exception, and a long command is left out, not the end of the message.
mkdir -m 700 "$open/nobodys" && chown 65534 "$open/nobodys" && CUDA_CACHE_PATH=$open/nobodys refused "$open/nobodys belongs to" prime "$sample"
HOME=$home refused " jitwarm prime …”, or in a container set JITWARM_TRUST_ACCOUNTS=1" prime "/$(printf 'a%.0s' {1..600})"
