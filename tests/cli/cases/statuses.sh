# Each command in docs/commands.md's table of exit statuses ends in each state with the status of the table.
is_wine && skip "the states are made with Linux's folders and an absent driver"
plain=$JITWARM
with_simdriver sm_86
simulated=$JITWARM cache=$CUDA_CACHE_PATH
environment "$work/env" 1.0
empty_environment "$work/bare"
mkdir "$work/bare/lib/python3.11/site-packages/text" "$work/machine"
printf 'print("no device code")\n' >"$work/bare/lib/python3.11/site-packages/text/train.py"
export VIRTUAL_ENV=$work/env JITWARM_STORE=0

varies tree ^state/ # each cell begins with an empty one
# The parts from which the states are made
mkdir "$work/caches" "$work/caches/cold"
run 0 prime
cp -a "$cache" "$work/caches/warm"
snapshot run 0 export -o "$work/pack.jwpack"
cp -a "$cache" "$work/caches/damaged"
entry=$(find "$work/caches/damaged" -path '*/?/?/*' -type f | sort | head -1)
printf 'damage' | dd of="$entry" bs=1 seek=$(($(stat -c %s "$entry") - 100)) conv=notrunc 2>/dev/null
cp -a "$cache" "$work/caches/index"
printf 'no index' >"$work/caches/index/index"

# state NAME: sets up the driver, the settings, the cache and the files
state() {
	JITWARM=$simulated settings=(CUDA_CACHE_PATH="$cache") holds=cold driver=() remembers=
	case $1 in
	"no driver") JITWARM=$plain settings+=(JITWARM_SYSTEM_ROOT="$work/machine" JITWARM_PCI_DEVICES=) ;;
	"no driver beside a filled cache")
		state "no driver"
		holds=warm ;;
	"no cache yet") holds= ;;
	"CUDA_CACHE_DISABLE=1") settings+=(CUDA_CACHE_DISABLE=1) holds=warm ;;
	"HOME not set") settings=(-u HOME -u CUDA_CACHE_PATH) ;;
	"folder not writable") settings=(CUDA_CACHE_PATH=/proc/none/cache) ;;
	"CUDA_CACHE_MAXSIZE too small") settings+=(CUDA_CACHE_MAXSIZE=20000) holds= ;;
	"no file to judge") settings+=(VIRTUAL_ENV="$work/bare") files=$work/bare ;;
	"--driver 12.4") driver=(--target sm_86 --driver 12.4) ;;
	"no code for the GPU") settings+=(VIRTUAL_ENV="$work/newer") files=$work/newer ;;
	"a module that the driver refuses") settings+=(VIRTUAL_ENV="$work/refused") files=$work/refused remembers=$work/refused-state ;;
	"a file not readable") settings+=(VIRTUAL_ENV="$work/part") holds=warm files=$work/part ;;
	cold) ;;
	warm) holds=warm ;;
	"an entry damaged") holds=damaged ;;
	"index damaged") holds=index ;;
	*) fail "$table: this test knows no state “$1”" ;;
	esac
}

# arguments NAME: the words that a command needs after its name
arguments() {
	given=()
	case $1 in
	"find") given=("$files") ;;
	"lint") given=(--gpus sm_86 "$(site_of "$files")") ;;
	"export") given=(-o "$work/new.jwpack") ;;
	"import") given=(--allow-unsigned "$work/pack.jwpack") ;;
	esac
}

# judge STATE COMMAND STATUS: adds an outcome
judge() {
	local words=() files=$work/env
	state "$1"
	arguments "$2"
	rm -rf "$cache" "$work/new.jwpack" "$JITWARM_STATE"
	[[ -z $remembers ]] || cp -a "$remembers" "$JITWARM_STATE"
	[[ -z $holds ]] || cp -a "$work/caches/$holds" "$cache"
	[[ $2 == jitwarm ]] || read -ra words <<<"$2"
	# prime is only for this machine.
	if [[ ${driver[*]} && ${words[0]-} == prime ]]; then words[0]=make; fi
	JITWARM="env ${settings[*]} $JITWARM"
	run "0|1|2|3|64" "${words[@]}" "${driver[@]}" "${given[@]}"
	tried=$((tried + 1))
	[[ $ended == "$3" ]] || { echo "$1: $2: $ended, and the table says $3" && wrong=$((wrong + 1)); }
}

# The files have code for newer GPUs alone, cannot be read by this account, or are refused by the driver.
for each in newer part refused; do
	empty_environment "$work/$each"
done
dist_info "$(site_of "$work/newer")" newer 1.0 newer/k.ptx
dist_info "$(site_of "$work/part")" part 1.0 part/sample.so part/loop.so
dist_info "$(site_of "$work/refused")" refused 1.0 refused/k.ptx
printf '.version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$(site_of "$work/newer")/newer/k.ptx"
cp "$sample" "$(site_of "$work/part")/part/sample.so"
ln -s loop.so "$(site_of "$work/part")/part/loop.so"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret;\n' >"$(site_of "$work/refused")/refused/k.ptx"
VIRTUAL_ENV=$work/refused run 2 prime
cp -a "$JITWARM_STATE" "$work/refused-state"

table=$cases/../../../docs/commands.md tried=0 wrong=0
# A cell of the table counts for each state and each command that its row and column name.
sed -n '/^<!-- statuses -->$/,/^<!-- end -->$/p' "$table" | grep '^|' | grep -v '^|--' | tr -d '`' | awk -F ' *[|] *' '
	{ $0 = $0 (NR == 1 ? " tune |" : " 0 |"); states = split($2, state, ", ") }
	NR == 1 { fields = split($0, head); next }
	{ for (i = 3; i < fields; i++) { commands = split(head[i], command, ", ")
		for (s = 1; s <= states; s++) for (c = 1; c <= commands; c++) print state[s] "|" command[c] "|" $i } }' >"$work/cells"
printf -- '--driver 12.4|%s\n' "check|2" "prime -n|2" "find|2" "scan|0" >>"$work/cells"
while IFS='|' read -r each command held; do snapshot judge "$each" "$command" "$held"; done <"$work/cells"
[[ $wrong == 0 ]] || fail "$wrong of $tried statuses differ"
[[ $tried -gt 150 ]] || fail "only $tried statuses in $table"
