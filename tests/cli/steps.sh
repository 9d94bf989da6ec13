# shellcheck shell=bash
# check_steps: every command that the last run has printed to be typed exists. A line of next_step (src/cli/next_step.h) ends with
# it; elsewhere it stands in “jitwarm …”. Each is split as a shell would, and read with the tables of options (--help behind it). Those of
# next_step are run, too, as far as that changes nothing: what changes something has -n, or goes without what has it write. DIR and FILE
# stand for names that a user chooses. Once each in a case.
declare -A checked_steps=()
follow_python=$(type -P python3) # a case may hide it
printed_by() { (cd / && "$follow_python" -I -S "$cases/../../cli/printed.py" "$@"); }

check_steps() {
	local step words=() quoted next
	read_steps
	for step in "${next[@]}" "${quoted[@]}"; do
		[[ -z ${checked_steps[$step]-} ]] || continue
		checked_steps[$step]=1
		split_step "$step" || fail "no shell reads this as one command: $step"
		parse_step "$step"
	done
	[[ -z ${JITWARM_FOLLOW-} ]] || follow_steps
	# The report hides names.
	[[ " ${last[*]} " != *" --report "* ]] || return 0
	is_wine && return 0 # a program starts slowly there, and the table is the same
	for step in "${next[@]}"; do
		[[ -z ${checked_steps[run $step]-} ]] || continue
		checked_steps[run $step]=1
		split_step "$step" && run_step "$step"
	done
}
# read_steps: sets `next` to the commands behind “Next”, and `quoted` to the others
read_steps() {
	local line lines gone='“[^”]*” is no longer there' quotation='“(jitwarm [^”]*)”(.*)'
	next=() quoted=()
	mapfile -t lines <"$out"
	mapfile -t -O ${#lines[@]} lines <"$err"
	for line in "${lines[@]}"; do
		[[ $line == *jitwarm* ]] || continue
		if [[ $line =~ "first fix the findings above"|", then: " ]]; then
			:
		elif [[ $line =~ ^\ *(Next|Do|jitwarm:\ {4}).*:\ (jitwarm(\ .*)?)$ || $line =~ ^(Next:?|다음:?)\ +(jitwarm(\ .*)?)$ || $line =~ ^(\ \ )(jitwarm\ key\ trust\ .*)$ ||
			$line =~ ^(\ \ on\ other\ machines:\ )(.*)$ ]]; then
			next+=("${BASH_REMATCH[2]}")
		fi
		while [[ $line =~ $gone ]]; do line=${line/"${BASH_REMATCH[0]}"/}; done
		while [[ $line =~ $quotation ]]; do
			quoted+=("${BASH_REMATCH[1]%%" |"*}")
			line=${BASH_REMATCH[2]}
		done
	done
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
		bare=$1
		[[ $bare != *[\"\']* ]] || bare=$(sed -E "s/\"\\\$\\(printf '[^']*'\\)\"|\\\\'|'[^']*'//g" <<<"$1")
		[[ $bare != *[\"\'\;\&\|\<\>\$\(\)\`*]* ]] || return 1
		eval "words=($1)"
	fi
	words=("${words[@]:1}")
}
parse_step() {
	local asked=() word behind= told='' try
	for word in "${words[@]}"; do
		if [[ -z $behind && $word == -* ]]; then asked+=(--help) behind=1; fi
		case $word in PID) word=1 ;; COMMAND) word=check ;; esac
		asked+=("$word")
	done
	[[ -n $behind ]] || asked+=(--help)
	for try in 1 2 3; do
		# shellcheck disable=SC2086
		told=$(timeout 200 $JITWARM "${asked[@]}" 2>&1 </dev/null) && break
		# A loaded Wine sometimes does not start a program (run, in lib.sh).
		is_wine && [[ -z $told && $try != 3 ]] || fail "this is no command (“$1”): $told"
	done
	[[ $told == *"jitwarm "* ]] || fail "this is no command (“$1”): $told"
}
run_step() {
	local word named=() status=0 told
	# A name with a control character is not printed as it is, so the printed name finds no file. --tune has no -n. An import is for another
	# machine.
	case "${words[*]}" in
	*[?]* | *\\x* | *--tune* | "key trust"* | "key generate"* | "run "* | *"--recording"* | "import "* | *"…"*) return 0 ;;
	"prime"* | "make"*) words+=(-n) ;;
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

# follow_steps: runs each command behind “Next”, “Do” and “try” (printed.py) as printed on this case's machine, which is then restored. Status 64
# is wrong, and so is a command that prints itself as the next step; after doctor's “Do:”, a finding that remains is wrong, too. This takes as
# long as the case itself, so only JITWARM_FOLLOW asks for it, a file that gets a line for each command: cli-follow for all cases, ctest for one
# case of each part.
follow_steps() {
	local id when step status words=() named=() word said why
	is_wine && return 0
	while IFS=$'\t' read -r id when step; do
		[[ -z ${checked_steps[follow $id $when $step]-} ]] || continue
		checked_steps[follow $id $when $step]=1
		why=$(left_out "$when" "$step")
		printf '%s\t%s\t%s\n' "$(basename "${cases%/*}")-$case" "${why:-followed}" "$step" >>"$JITWARM_FOLLOW"
		[[ -z $why ]] || continue
		split_step "$step" || fail "no shell reads this as one command: $step"
		keep_machine
		named=()
		for word in "${words[@]}"; do
			case $word in
			DIR) word=$machine.dir ;;
			FILE) word=${sample:-$work/step-file} ;;
			FILE.jwpack) word=$work/step.jwpack ;;
			PID) word=$$ ;;
			PROGRAM | COMMAND) word=true ;;
			esac
			named+=("$word")
		done
		status=0
		# shellcheck disable=SC2086
		JITWARM_SYSTEM_ROOT=${JITWARM_SYSTEM_ROOT:-$work/system} timeout "${limit:-200}" $JITWARM "${named[@]}" >"$machine.said" 2>&1 </dev/null || status=$?
		said=$(cat "$machine.said")
		[[ $status != 64 ]] || fail "a printed command is used wrongly: “$step”: $said"
		sed -i '/to see it again: /d' "$machine.said"
		! grep -qxF -e "$step" < <(printed_by "$machine.said" | cut -f 3) || fail "a command prints itself as the next step: “$step”: $said"
		# Below unshare, each start has a new file system, which no command cures. Doctor also reports a DIR in a container's own layer.
		if [[ $id != - && ${last[0]} == doctor && $JITWARM != *unshare* && ("$step" != *" DIR"* || $(stat -f -c %T /var/tmp) != overlay*) ]]; then
			# shellcheck disable=SC2086
			said=$(timeout 200 $JITWARM "${last[@]}" 2>&1 </dev/null)
			said=$(grep -A 1 -E "^ *[0-9]+  $id: " <<<"$said")
			[[ $said != *"Do: "* || $said =~ "Do: "("log out and in again"|로그아웃) ]] || fail "“$step” leaves the finding $id: $said"
		fi
		restore_machine
	done < <(printed_by "$out" "$err")
}
# left_out WHEN COMMAND: prints why a command is not run here. This is the only list of such reasons.
left_out() {
	if [[ $2 =~ " --"(ask|fetch|index)( |$) ]]; then
		echo "it needs the package index; elsewhere-… run its like"
	elif [[ $1 == then ]]; then
		echo "its line names another step, which comes first"
	elif [[ -z ${HOME-} || $JITWARM == *"-u HOME"* ]]; then
		echo "without HOME it would write into the account's real home"
	elif [[ " ${last[*]} " == *" --report "* ]]; then
		echo "a report hides the names"
	elif [[ -n $(jobs -pr) ]]; then
		echo "a program of the case runs, which a restored machine would not have"
	fi
}
keep_machine() {
	local folder
	kept=("$work")
	[[ ${place-} != /* || ! -d $place ]] || kept+=("$place") # the name may mean something else in a case
	mkdir "$machine" || fail "no $machine"
	for folder in "${kept[@]}"; do
		mkdir -p "$machine$folder" && cp -a "$folder/." "$machine$folder/"
	done
}
restore_machine() {
	local folder
	for folder in "${kept[@]}"; do
		mkdir -p "$folder"
		find "$folder" -mindepth 1 -delete
		cp -a "$machine$folder/." "$folder/"
	done
	rm -rf "$machine" "$machine.dir" "$machine.said"
	cd "$PWD" || fail "the folder of the case is lost" # it has been made again
}
