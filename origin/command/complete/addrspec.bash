# Completion of addrspec for bash. See 'addrspec completion --help'.
_addrspec() {
	local line word current=${COMP_WORDS[COMP_CWORD]}
	[[ $current == = ]] && current=
	COMPREPLY=()
	while IFS= read -r line; do
		word=${line%%$'\t'*}
		case $word in
		:files) compopt -o filenames; while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current") ;;
		:dirs) compopt -o filenames; while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current") ;;
		*) COMPREPLY+=("$word") ;;
		esac
	done < <("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _addrspec addrspec
