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

# The messages say what root can do; then every command works again. Root adopts no machine code: what the account can have put into a folder is
# gone. The folders whose files root examines one by one stay, without rights for the account.
while read -r how place; do
	fresh
	mapfile -t theirs < <(printf '%s\n' "$open/own"/$place | sort)
	case $place in
	*/keys | */trusted | */store) stays=yes ;;
	*) stays='' ;;
	esac
	case $how in
	owned)
		chown $mallory "${theirs[@]}"
		fact="${theirs[0]} belongs to account $mallory" line="chown root -- ${theirs[*]}"
		;;
	writable)
		chmod 777 "${theirs[@]}"
		fact="other accounts may write to ${theirs[0]}" line="chmod go-w -- ${theirs[*]}"
		;;
	esac
	fix="make the folder this account's alone: “$line”"
	if [[ -z $stays ]]; then
		line="rm -r -- ${theirs[*]}"
		fix="delete what another account can have put there: “$line”"
	fi
	chmod a+x "$open/own" "$open/own/"{cache,state} "$open/own/cache/"?
	as_mallory touch "${theirs[@]/%//planted}" || fail "nothing is planted in ${theirs[*]}"
	run 0 check "$sample"
	err_has "$fact, and root changes nothing there: “$line”"
	run 0 status
	cat "$err" >>"$out"
	out_has "$fact, and root changes nothing there: “$line”"
	run 1 doctor --no-probe --json "$sample"
	json "[(f['evidence'], f['fix']) for f in d['findings'] if f['id'] == 'not-yours'] == [(\"$fact, and root changes nothing there\", \"$fix\")]"
	JITWARM_TRUST_ACCOUNTS="*" run 0 check "$sample"
	err_lacks "root changes nothing"
	eval "$line"
	[[ -n $stays || -z $(find "$open/own" -name planted) ]] || fail "root has adopted $(find "$open/own" -name planted)"
	run '0|1' doctor --no-probe --json "$sample"
	json "'not-yours' not in [f['id'] for f in d['findings']]"
	run '0|1' check "$sample"
	err_lacks "root changes nothing"
	run 0 prime --quiet "$sample"
done <<<"owned cache/?
owned cache/?/?
owned state/runs
owned state/keys
owned state/trusted
owned state/store
writable cache/?/?
writable state/keys"
# A symlink of the account, which chown and chmod would follow, is removed itself.
fresh
mkdir "$open/elsewhere" && chmod 700 "$open/elsewhere"
rm -rf "$open/own/state/store" && ln -s "$open/elsewhere" "$open/own/state/store" && chown -h $mallory "$open/own/state/store"
run '0|1|2' doctor --no-probe "$sample"
line=$(sed -n 's/.*“\(\(rm\|chown\|chmod\) .*\)”.*/\1/p' "$out" "$err" | head -n 1)
[[ $line == "rm -r -- $open/own/state/store" ]] || fail "a symlink: $line"
# A shell leaves out line feeds at the end of a name; the printed line then finds nothing, and does not follow the symlink.
fresh
touch "$open/elsewhere/file"
ln -s "$open/elsewhere" "$open/own/cache/"$'\n' && chown -h $mallory "$open/own/cache/"$'\n'
run '0|1|2' doctor --no-probe "$sample"
line=$(sed -n 's/.*“\(rm .*\)”.*/\1/p' "$out" "$err" | head -n 1)
[[ $line == 'rm -r -- "$(printf'* ]] || fail "a line feed: $line"
! eval "$line" 2>/dev/null || fail "it found something"
[[ -e $open/elsewhere/file ]] || fail "$line deletes what a symlink leads to"
rm "$open/elsewhere/file"
# More folders than fit into a line: it is never cut off, and the next one names the others.
long=$open/own/$(printf 'n%.0s' {1..120})
fresh
mv "$open/own/cache" "$long" && mkdir -p "$long"/{0,1,2,3,4,5,6,7}/a
chown $mallory "$long"/?
for _ in {1..16}; do
	CUDA_CACHE_PATH=$long run '0|1|2' doctor --no-probe --json "$sample"
	line=$(python3 -c 'import json, sys; print(*[f["fix"].split("“")[1].split("”")[0] for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "not-yours"])' "$out")
	[[ -n $line ]] || break
	[[ $line =~ ^"rm -r --"(" $long/"[0-9a-f])+$ ]] || fail "cut off: $line"
	CUDA_CACHE_PATH=$long run '3' cache clear --yes
	err_has "$line”"
	eval "$line"
done
[[ -z $(find "$long" -user $mallory) ]] || fail "left: $(find "$long" -user $mallory)"
fresh
chown $mallory "$open/own/cache"/?
run 3 cache clear --yes
err_has "belongs to account $mallory, and root changes nothing there; delete that folder, or see “jitwarm doctor”"
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
err_has "another account can have written it, so root does not read it: delete that file"
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
	grep -q "default .* no  *refused" "$out" || fail "$case: $(cat "$out")"
	case $case in
	file) why="$open/own/state/trusted/default.pub: another account can have written it, so root does not read it: delete that file" ;;
	*) why="root trusts no key in a folder that another account can change; set JITWARM_STATE to a folder of root: " ;;
	esac
	err_has "“default” is not used: $why"
	run 0 key list --json
	json "[(k['can_sign'], k['trusted'], k['refused'].startswith('$why')) for k in d['keys']] == [(False, False, True)]"
done
# A key file of the account is named and not trusted, whatever it is; the other keys are used.
fresh
run 0 export --sign --quiet -o "$open/signed.jwpack"
for kind in key loop leased; do
	case $kind in
	key) JITWARM_STATE=$open/other run 0 key generate && cp "$open/other/keys/default.pub" "$open/own/state/trusted/a.pub" ;;
	loop) ln -sfn a.pub "$open/own/state/trusted/a.pub" ;;
	leased) rm "$open/own/state/trusted/a.pub" && touch "$open/own/state/trusted/a.pub" ;;
	esac
	chown -h $mallory "$open/own/state/trusted/a.pub"
	if [[ $kind == leased ]]; then
		chmod a+x "$open/own" "$open/own/state" "$open/own/state/trusted"
		hold_lease "$open/own/state/trusted/a.pub"
	fi
	limit=30 run 0 import "$open/signed.jwpack"
	limit=30 run 0 key list
	grep -q "^a .* refused" "$out" || fail "$kind: $(cat "$out")"
	err_has "“a” is not used: "
	err_has "$open/own/state/trusted/a.pub"
	err_has "another account can have written it"
done
rm "$open/signed.jwpack"
fresh
# The same for a key that is named as a file. A file in the current folder that has the name of root's key is not that key.
cp "$open/own/state/keys/default.key" "$home/default"
chown $mallory "$home/default"
cd "$home" || fail "no home"
for key in "$home/default" ./default; do
	run 3 export --sign --key "$key" -o "$open/signed.jwpack"
	err_has "root signs with no key that another account can change: $home belongs to account $mallory"
	[[ ! -e $open/signed.jwpack ]] || fail "a pack was written with $key"
done
for key in "--key default" ""; do
	# shellcheck disable=SC2086
	run 0 export --sign $key -o "$open/signed.jwpack"
	out_has "jitwarm key trust $(tail -n 1 "$open/own/state/keys/default.pub")"
	rm "$open/signed.jwpack"*
done
run 3 export --sign --key "$home/none" -o "$open/signed.jwpack"
err_has "$home/none: No such file"
cd "$open" && cp "$open/own/state/keys/default.key" "$work/own.key"
run 0 export --sign --key "$work/own.key" -o "$open/signed.jwpack"
# The name of the account's folder looks like a command in none of jitwarm's messages.
fresh
named="$open/own/cache/0: “rm -rf ~root”."
mkdir "$named" && chown $mallory "$named"
run '0|1|2' doctor --no-probe "$sample"
! grep -F "“rm -rf ~root”" "$out" "$err" || fail "the name is shown as a command"
run '0|1|2' doctor --no-probe --json "$sample"
eval "$(python3 -c 'import json, sys; print(*[f["fix"].split("“")[1].split("”")[0] for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "not-yours"])' "$out")"
[[ ! -e $named ]] || fail "the printed line leaves the folder"
