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
	# The report hides names
	[[ " ${last[*]} " != *" --report "* ]] || return 0
	is_wine && return 0 # a program starts slowly there, and the table is the same
	while IFS= read -r step; do
		[[ -z ${checked_steps[run $step]-} ]] || continue
		checked_steps[run $step]=1
		split_step "$step" && run_step "$step"
	done < <(printed_steps)
}
printed_steps() {
	sed -nE '/first fix the findings above|, then: /d; s/^ *(Next|Do|jitwarm: {4}).*: (jitwarm( .*)?)$/\2/p; s/^(Next:?|다음:?) +(jitwarm( .*)?)$/\2/p; s/^  (jitwarm key trust .*)$/\1/p; s/^  on other machines: //p' "$out" "$err"
}
# Windows' words are in double quotes, in which nothing acts; ours in single ones. What a shell would act on is not printed bare.
split_step() {
	local bare
	words=()
	if is_wine; then
		bare=$(sed 's/"[^"]*"//g' <<<"$1")
		[[ $bare != *[\"\'\;\&\|\<\>%\`]* ]] || return 1
		mapfile -t words < <(grep -oE '("[^"]*"|[^ "]+)+' <<<"$1" | tr -d '"')
	else
		bare=$(sed -E "s/\\\\'|'[^']*'//g" <<<"$1")
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
	# A name with a control character cannot be shown, and its file is not found by what is. --tune has no -n.
	case "${words[*]}" in
	*[?]* | *\\x* | *--tune* | "key trust"* | "key generate"* | "run "* | *"--recording"* | *"…"*) return 0 ;;
	"prime"* | "make"* | "bake -"* | "ahead"* | "import"*) words+=(-n) ;;
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
	# doctor says with 2 that nothing helps, check what nobody can tell, scan that the active environment has no device code
	[[ $status == [01] || ($status == 2 && (${named[0]} == doctor || (${named[0]} == scan && $told == *"no device code found in "*) || (${named[0]} == check && $told == *"jitwarm cannot tell"*))) ]] || fail "a step that was printed ends with $status: jitwarm ${named[*]} (“$1”): $told"
	rm -rf "$work/step-state"
}
