# shellcheck shell=bash
# check_steps: every command that the last run has printed to be typed exists. A line of next_step (src/cli/next_step.h) ends with
# it; elsewhere it stands in “jitwarm …”. Each is split as a shell would, and read with the tables of options (--help behind it). Those of
# next_step are run, too, as far as that changes nothing: what changes something has -n, or goes without what has it write. DIR and FILE
# stand for names that a user chooses. Once each in a case.
declare -A checked_steps=()

check_steps() {
	local line step words=()
	grep -qaF 'jitwarm ' "$out" "$err" || return 0
	while IFS= read -r step; do
		[[ -z ${checked_steps[$step]-} ]] || continue
		checked_steps[$step]=1
		split_step "$step" || fail "no shell reads this as one command: $step"
		parse_step "$step"
	done < <(printed_steps; sed 's/“[^”]*” is no longer there//' "$out" "$err" | grep -aoE '“jitwarm [^”]*”' | sed 's/^“//; s/”$//; s/ [|].*//')
	# The report hides names.
	[[ " ${last[*]} " != *" --report "* ]] || return 0
	is_wine && return 0 # a program starts slowly there, and the table is the same
	while IFS= read -r step; do
		[[ -z ${checked_steps[run $step]-} ]] || continue
		checked_steps[run $step]=1
		split_step "$step" && run_step "$step"
	done < <(printed_steps)
	[[ -z ${JITWARM_FOLLOW-} ]] || follow_steps
}
printed_steps() {
	sed -nE '/first fix the findings above|, then: /d; s/^ *(Next|Do|jitwarm: {4}).*: (jitwarm( .*)?)$/\2/p; s/^(Next:?|다음:?) +(jitwarm( .*)?)$/\2/p; s/^  (jitwarm key trust .*)$/\1/p; s/^  on other machines: //p' "$out" "$err"
}
# Windows' words are in double quotes, which protect everything; ours are in single quotes. A character that a shell would interpret is not
# printed bare.
split_step() {
	local bare
	words=()
	if is_wine; then
		bare=$(sed 's/"[^"]*"//g' <<<"$1")
		[[ $bare != *[\"\'\;\&\|\<\>%\`]* ]] || return 1
		mapfile -t words < <(grep -oE '("[^"]*"|[^ "]+)+' <<<"$1" | tr -d '"')
	else
		bare=$(sed -E "s/\\\$'([^'\\\\]|\\\\.)*'|\\\\'|'[^']*'//g" <<<"$1")
		[[ $bare != *[\"\'\;\&\|\<\>\$\(\)\`*]* ]] || return 1
		eval "words=($1)"
	fi
	words=("${words[@]:1}")
}
parse_step() {
	local asked=() word behind= told
	for word in "${words[@]}"; do
		if [[ -z $behind && $word == -* ]]; then asked+=(--help) behind=1; fi
		case $word in PID) word=1 ;; COMMAND) word=check ;; esac
		asked+=("$word")
	done
	[[ -n $behind ]] || asked+=(--help)
	# shellcheck disable=SC2086
	told=$(timeout 200 $JITWARM "${asked[@]}" 2>&1 </dev/null) || fail "this is no command (“$1”): $told"
	[[ $told == *"jitwarm "* ]] || fail "this is no command (“$1”): $told"
}
run_step() {
	local word named=() status=0 told
	# A name with a control character is not printed as it is, so the printed name finds no file. --tune has no -n. An import is for another
	# machine.
	case "${words[*]}" in
	*[?]* | *\\x* | *--tune* | "key trust"* | "key generate"* | "run "* | *"--recording"* | "import "* | *"…"*) return 0 ;;
	"prime"* | "make"* | "bake -"* | "ahead"*) words+=(-n) ;;
	esac
	for word in "${words[@]}"; do
		case $word in
		--apply | --repair | --fetch | --if-changed) ;;
		-n) if [[ " ${words[*]} " == *" -- "* ]]; then named=("${named[0]}" -n "${named[@]:1}"); else named+=(-n); fi ;;
		DIR) named+=("$work/step-dir") ;;
		FILE) named+=("$sample") ;;
		FILE.jwpack) named+=("$work/step.jwpack") ;;
		*) named+=("$word") ;;
		esac
	done
	# shellcheck disable=SC2086
	told=$(unset CUDA_CACHE_DISABLE CUDA_FORCE_PTX_JIT CUDA_FORCE_JIT && JITWARM_STATE=$work/step-state timeout 200 $JITWARM "${named[@]}" 2>&1 </dev/null) || status=$?
	# doctor ends with 2 if nothing helps, check if it cannot tell.
	[[ $status == [01] || ($status == 2 && (${named[0]} == doctor || (${named[0]} == check && $told == *"jitwarm cannot tell"*))) ]] || fail "a step that was printed ends with $status: jitwarm ${named[*]} (“$1”): $told"
	rm -rf "$work/step-state"
}

# follow_steps: runs each printed command as printed on this case's machine, which is then restored. Status 64 is wrong, and so is a command
# that prints itself as the next step; after doctor's “Do:”, a finding that remains is wrong, too. This takes as long as the case itself, so
# only JITWARM_FOLLOW asks for it: one case for each part in ctest, all of them in tests/long (cli-follow).
follow_steps() {
	local step id status words=() named=() word said
	is_wine && return 0
	# Below unshare, each start has a file system of its own.
	# Without HOME a command would write into the real home.
	[[ -n ${HOME-} && $JITWARM != *"-u HOME"* && " ${last[*]} " != *" --report "* && $JITWARM != *unshare* && -z $(jobs -pr) ]] || return 0
	while IFS=$'\t' read -r id step; do
		[[ -z ${checked_steps[follow $step]-} ]] || continue
		checked_steps[follow $step]=1
		case $step in *[?…]* | *\\x* | *" PID"* | *COMMAND* | *" FILE" | *" FILE "* | *"startup "* | *"--index"* | *"key generate"* | *"sudo "* | "jitwarm import "*) continue ;; esac
		split_step "$step" || continue
		named=()
		for word in "${words[@]}"; do
			case $word in
			DIR) word=$work/step-dir ;;
			FILE.jwpack) word=$work/step.jwpack ;;
			esac
			named+=("$word")
		done
		keep_machine
		status=0
		# shellcheck disable=SC2086
		JITWARM_SYSTEM_ROOT=${JITWARM_SYSTEM_ROOT:-$work/system} timeout "${limit:-200}" $JITWARM "${named[@]}" >"$machine.said" 2>&1 </dev/null || status=$?
		said=$(cat "$machine.said")
		[[ $status != 64 ]] || fail "a printed command is used wrongly: “$step”: $said"
		[[ $(grep -vaF "to see it again: " "$machine.said")$'\n' != *": $step"$'\n'* ]] || fail "a command prints itself as the next step: “$step”: $said"
		if [[ -n $id && $id != - && ${last[0]} == doctor ]]; then
			# shellcheck disable=SC2086
			said=$(timeout 200 $JITWARM "${last[@]}" 2>&1 </dev/null)
			said=$(grep -A 1 -E "^ *[0-9]+  $id: " <<<"$said")
			[[ $said != *"Do: "* || $said == *"Do: log out and in again"* ]] || fail "“$step” leaves the finding $id: $said"
		fi
		restore_machine
	done < <(awk '/^ *[0-9]+  [a-z-]+: /{id=$2; sub(":","",id)} {print (($1=="Do:")?id:"-") "\t" $0}' "$out" "$err" |
		sed -nE '/, then: |first (fix|free some space)/d; s/^([^\t]*)\t *(Next|Do|jitwarm: {4}).*: (jitwarm( .*)?)$/\1\t\3/p; s/^([^\t]*)\t(Next:?|다음:?) +(jitwarm( .*)?)$/\1\t\3/p; s/^([^\t]*)\t.*\<try “(jitwarm [^”]*)”.*/\1\t\2/p')
}
keep_machine() {
	local folder
	machine=$(mktemp -d "${TMPDIR:-/tmp}/jitwarm-follow.XXXXXX")
	for folder in "$work" ${place:+"$place"}; do
		mkdir -p "$machine$folder" && cp -a "$folder/." "$machine$folder/"
	done
}
restore_machine() {
	local folder
	for folder in "$work" ${place:+"$place"}; do
		find "$folder" -mindepth 1 -delete
		cp -a "$machine$folder/." "$folder/"
	done
	rm -rf "$machine" "$machine.said"
	cd "$PWD" || fail "the folder of the case is lost" # it has been made again
}
