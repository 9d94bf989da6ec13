# Folders of another account below root's own cache and state, as after a chown that was not recursive: root changes nothing in them, takes
# no pack of another account's from the store, and signs with no key that another account has written.
. "$cases/../lib.sh"
with_simdriver sm_86
export CUDA_CACHE_PATH=$open/own/cache JITWARM_STATE=$open/own/state JITWARM_STORE=1
run 0 prime --quiet "$sample"
run 0 export --quiet -o "$open/a.jwpack"
run 0 key generate
run 0 cache clear --yes
run 0 prime --quiet "$sample"
cp -a "$open/own" "$open/saved"
fresh() { rm -rf "$open/own" && cp -a "$open/saved" "$open/own"; }
theirs() { find "$open/own" -type d -user $mallory -exec find {} -mindepth 1 -printf '%p %i %s %m %T@\n' \; | sort; }

mapfile -t folders < <(cd "$open/own" && find cache state -mindepth 1 -type d | sort)
((${#folders[@]} > 15)) || fail "few folders: ${folders[*]}"
for folder in "${folders[@]}"; do
	fresh
	chown $mallory "$open/own/$folder"
	there=$(theirs)
	for command in "cache verify --repair" "key generate second" "store clear --yes" "cache clear --yes" "prime --quiet $sample" \
		"import --quiet --allow-unsigned $open/a.jwpack" uninstall; do
		# shellcheck disable=SC2086
		run '0|1|2|3' $command
		[[ $(theirs) == "$there" ]] || fail "$command changed $folder: $(diff <(echo "$there") <(theirs))"
	done
done

# The messages say what root can do; then every command works again.
for place in cache/? cache/?/? state/keys state/store writable; do
	fresh
	if [[ $place == writable ]]; then
		mapfile -t theirs < <(printf '%s\n' "$open/own/cache"/?/? | head -n 1)
		chmod 777 "${theirs[0]}"
		line="other accounts may write to ${theirs[0]}, and root changes nothing there: “chmod go-w ${theirs[0]}”"
	else
		mapfile -t theirs < <(printf '%s\n' "$open/own"/$place | head -n 1)
		chown $mallory "${theirs[0]}"
		line="${theirs[0]} belongs to account $mallory, and root changes nothing there: “chown -R root $open/own/${place%%/*}”"
	fi
	run 0 check "$sample"
	err_has "$line"
	run 0 status
	cat "$err" >>"$out"
	out_has "$line"
	run 1 doctor --no-probe --json "$sample"
	json "[(f['evidence'], f['fix']) for f in d['findings'] if f['id'] == 'not-yours'] == [('${line%%: *}', 'make the folder root\'s alone, or delete it: ${line##*: }')]"
	JITWARM_TRUST_ACCOUNTS="*" run 0 check "$sample"
	err_lacks "root changes nothing"
	eval "$(sed 's/.*“\(.*\)”/\1/' <<<"$line")"
	run '0|1' doctor --no-probe --json "$sample"
	json "'not-yours' not in [f['id'] for f in d['findings']]"
	run 0 check "$sample"
	err_lacks "root changes nothing"
done
fresh
chown $mallory "$open/own/cache"/?
run 3 cache clear --yes
err_has "belongs to account $mallory, and root changes nothing there; delete that folder, or make it root's alone"
chown root "$open/own/cache"/?
run 0 cache clear --yes

# The same below the folder of fetched compilers
fetched=$open/compilers/jitwarm/ptxas
mkdir -p "$fetched/12.4" "$fetched/12.5" && touch "$fetched/12.4/ptxas" "$fetched/12.5/ptxas" && chown $mallory "$fetched/12.4"
XDG_CACHE_HOME=$open/compilers run 1 uninstall
err_has "$fetched/12.4 belongs to account $mallory, and root changes nothing there"
[[ -e $fetched/12.4/ptxas ]] || fail "root removed the account's file"
chown 0 "$fetched/12.4"
XDG_CACHE_HOME=$open/compilers run 0 uninstall
[[ ! -e $open/compilers/jitwarm ]] || fail "left: $(find "$open/compilers")"

# Files that the account has written and a chown has made reachable again
fresh
chown $mallory "$open/own/state/store/"*.jwpack
run 0 cache clear --yes
run 0 prime "$sample"
err_has "root takes nothing from a store that another account may change: $open/own/state/store/"
out_has "Compiled 8 modules"
fresh
chown $mallory "$open/own/state/keys/default.key"
run 3 export --sign -o "$open/signed.jwpack"
err_has "root signs with no key that another account can change: $open/own/state/keys/default.key belongs to account $mallory"
[[ ! -e $open/signed.jwpack ]] || fail "a pack was written"
run 0 key list
err_has "“default” is not used: root signs with no key that another account can change: $open/own/state/keys/default.key belongs to account $mallory"
run 0 key list --json
json "[(k['can_sign'], k['trusted']) for k in d['keys']] == [(False, True)]"
for case in file folder writable; do
	fresh
	case $case in
	file) chown $mallory "$open/own/state/trusted/default.pub" ;;
	folder) chown $mallory "$open/own/state/trusted" ;;
	writable) chmod go+w "$open/own/state/trusted" ;;
	esac
	rm -r "$open/own/state/keys"
	run 0 key list
	grep -q "default .* no  *refused " "$out" || fail "$case: $(cat "$out")"
	err_has "“default” is not used: root trusts no key in a folder that another account can change; set JITWARM_STATE to a folder of root: "
	run 0 key list --json
	json "[(k['can_sign'], k['trusted'], k['refused'][:23]) for k in d['keys']] == [(False, False, 'root trusts no key in a')]"
done
fresh
# The same for a key that is named as a file, and for a file in the current folder that has the name of the default key
cp "$open/own/state/keys/default.key" "$home/default"
chown $mallory "$home/default"
cd "$home" || fail "no home"
for key in "$home/default" ./default default; do
	run 3 export --sign --key "$key" -o "$open/signed.jwpack"
	err_has "root signs with no key that another account can change: $home belongs to account $mallory"
	[[ ! -e $open/signed.jwpack ]] || fail "a pack was written with $key"
done
run 3 export --sign -o "$open/signed.jwpack"
err_has "$home belongs to account $mallory; name a key file that only root can change (--key FILE)"
run 3 export --sign --key "$home/none" -o "$open/signed.jwpack"
err_has "$home/none: No such file"
cd "$open" && cp "$open/own/state/keys/default.key" "$work/own.key"
run 0 export --sign --key "$work/own.key" -o "$open/signed.jwpack"
