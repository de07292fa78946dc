#compdef addrspec
# Completion of addrspec for zsh. See 'addrspec completion --help'.
_addrspec() {
	local line word
	local -a described
	for line in "${(@f)$("${(Q)~words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		word=${line%%$'\t'*}
		case $word in
		:files) _files ;;
		:dirs) _files -/ ;;
		?*) described+=("${word//:/\\:}:${line#*$'\t'}") ;;
		esac
	done
	(( $#described )) && _describe addrspec described
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_addrspec "$@"
else
	compdef _addrspec addrspec
fi
