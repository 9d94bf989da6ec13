# Completion of jitwarm for bash:   eval "$(jitwarm completion bash)"
# jitwarm itself prints what can follow: a candidate a line, a tab and its description. After “:files” or “:folders” the shell completes
# names of files or folders.
_jitwarm() {
	local line current candidate at=
	local -a words
	line=${COMP_LINE:0:COMP_POINT}
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=("")
	current=${words[-1]}
	COMPREPLY=()
	# bash takes “=” and “:” for ends of words, and replaces only what follows.
	[[ $current != *[=:]* || $COMP_WORDBREAKS != *=* ]] || at=${current%"${current##*[=:]}"}
	while IFS= read -r candidate; do
		case $candidate in
		:files) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${current#"$at"}") ;;
		:folders) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${current#"$at"}") ;;
		*)
			candidate=${candidate%%$'\t'*}
			[[ $candidate != *= ]] || compopt -o nospace
			COMPREPLY+=("${candidate#"$at"}")
			;;
		esac
	done < <(command "${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _jitwarm jitwarm
