# Root whose places belong to another account is that account from its first word on, for good; places of two accounts are refused by
# name; what root does for others, it does in its own home
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
roots=$work/home
for name in .nv .local .config; do [[ ! -e $roots/$name ]] || fail "$name is in root's home before"; done

# Right after its first word: all ids, groups and capabilities, with those, too, that setuid() alone would leave
nothing_is_left() { # PID
	local status
	status=$(cat "/proc/$1/status")
	for line in "Uid:	$mallory	$mallory	$mallory	$mallory" "Gid:	$mallory	$mallory	$mallory	$mallory" "Groups:	$mallory " \
		"CapInh:	0000000000000000" "CapPrm:	0000000000000000" "CapEff:	0000000000000000" "CapAmb:	0000000000000000"; do
		grep -qxF "$line" <<<"$status" || fail "not “$line”: $(grep -E '^(Uid|Gid|Groups|Cap)' <<<"$status")"
	done
}
for before in "" "setpriv --securebits=+no_setuid_fixup --inh-caps=+chown,+setuid,+setgid --ambient-caps=+chown,+setuid,+setgid --groups=0,4,27"; do
	# A new one each time: what the last one started may still have the old one open.
	rm -f "$open/said" && mkfifo "$open/said"
	# shellcheck disable=SC2086
	HOME=$home $before $JITWARM run -- sleep 60 >/dev/null 2>"$open/said" </dev/null &
	begun=$!
	read -r said <"$open/said"
	[[ $said == "jitwarm: HOME=$home belongs to #$mallory: working as that account, without root's rights" ]] || fail "it says: $said"
	kill -STOP $begun && nothing_is_left $begun
	kill -CONT $begun
	# What it starts, too
	await pgrep -P $begun -x sleep >/dev/null
	nothing_is_left "$(pgrep -P $begun -x sleep)"
	kill -KILL "$(pgrep -P $begun -x sleep)" $begun
	wait $begun 2>/dev/null
	rm -rf "${home:?}"/.[a-z]*
done

# Whichever place it is; root's own home gets nothing then
becomes() { # LINE COMMAND…
	local line=$1
	shift
	"$@"
	err_has "jitwarm: $line belongs to #$mallory: working as that account"
	while read -r path; do is_theirs "$path"; done < <(find "$home" -mindepth 1)
	[[ -z $(find "$roots" -mindepth 1) ]] || fail "in root's home: $(find "$roots" -mindepth 1)"
	rm -rf "${home:?}"/* "${home:?}"/.[a-z]*
}
HOME=$home becomes "HOME=$home" run 0 prime "$sample"
JITWARM_STATE=$home/state becomes "JITWARM_STATE=$home/state" run '0|2' key list
XDG_STATE_HOME=$home/state becomes "XDG_STATE_HOME=$home/state" run '0|2' key list
XDG_CONFIG_HOME=$home/config becomes "XDG_CONFIG_HOME=$home/config" run 0 config
CUDA_CACHE_PATH=$home/cache becomes "CUDA_CACHE_PATH=$home/cache" run 0 prime --quiet "$sample"
becomes "--cache=$home/cache" run 0 prime --cache "$home/cache" "$sample"
becomes "--output=$home/made/" run '0|1|2' make --target sm_86 --driver 550.163.01 -o "$home/made/" "$sample"
becomes "--json-log=$home/log" run '0|1|2|3' prime --json-log "$home/log" "$sample"
(cd "$home" && becomes "--output=." run '0|1|2|3' export) || exit 1
# Behind links of root's; with a name
ln -s home "$open/link"
becomes "--cache=$open/link/cache" run 0 prime --cache "$open/link/cache" "$sample"
mkdir "$open/nobody" && chown 65534:65534 "$open/nobody"
HOME=$open/nobody run 0 status
err_has "HOME=$open/nobody belongs to nobody: working as that account"
rm -rf "$open/nobody"/.[a-z]*
# A setting of root's own, by tune
mkdir -p "$roots/.config/environment.d"
printf 'CUDA_CACHE_PATH=%s\n' "$home/cache" >"$roots/.config/environment.d/60-jitwarm.conf"
run '0|1' check "$sample"
err_has "CUDA_CACHE_PATH=$home/cache belongs to #$mallory"
rm -r "$roots/.config"

# Two accounts
refused() { # COMMAND…
	"$@"
	err_one_line
	err_has "works for one account"
	err_has "sudo -u"
	[[ -z $(find "$home" "$open/nobody" "$roots" -mindepth 1) ]] || fail "made: $(find "$home" "$open/nobody" "$roots" -mindepth 1)"
}
HOME=$home CUDA_CACHE_PATH=$open/nobody/cache refused run 2 prime "$sample"
err_has "HOME=$home belongs to #$mallory"
err_has "CUDA_CACHE_PATH=$open/nobody/cache to nobody"
err_has "sudo -u '#$mallory' jitwarm prime"
HOME=$open/nobody refused run 2 prime --cache "$home/cache" "$sample"
err_has "sudo -u nobody jitwarm prime --cache"
CUDA_CACHE_PATH=$work/cache JITWARM_STATE=$home/state refused run 2 prime "$sample"
err_has "to root"
CUDA_CACHE_PATH=$work/cache refused run 2 export -o "$home/pack"

# Root in its own home is root, and says whose cache it fills
SUDO_USER=nobody run 0 prime "$sample"
err_has "under sudo this warms root's cache, not that of nobody"
err_has "jitwarm:     without sudo: jitwarm prime $sample"
(($(cached "$roots/.nv/ComputeCache") > 5)) && [[ $(stat -c %u "$roots/.nv/ComputeCache/index") == 0 ]] || fail "root's cache is not filled"
rm -rf "$roots"/.[a-z]*

# What root does for others is not that account's, whose home sudo -E has kept
HOME=$home run '0|1|2|3' tune --scope system
err_lacks "working as"
HOME=$home JITWARM_STATE=$home/state refused run 2 import --all-users "$open/pack"
