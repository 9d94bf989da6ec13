#compdef jitwarm
# Completion of jitwarm for zsh:   source <(jitwarm completion zsh), or this file as _jitwarm in a folder of $fpath
_jitwarm() {
	local line
	local -a described
	while IFS= read -r line; do
		case $line in
		:files) _files ;;
		:folders) _files -/ ;;
		*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		esac
	done < <(command ${words[1]} complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	(( ! ${#described} )) || _describe -t jitwarm jitwarm described
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
	_jitwarm "$@"
else
	compdef _jitwarm jitwarm
fi
