# Completion of weft for bash.  The program itself says what can be completed.

_weft() {
	local line=${COMP_LINE:0:COMP_POINT} word typed kept
	local -a words
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	typed=${words[${#words[@]} - 1]}
	# bash completes what is behind a sign that breaks words
	kept=${typed%"${typed##*[=:]}"}
	COMPREPLY=()
	while IFS=$'\t' read -r word _; do
		[[ $word == *= ]] && compopt -o nospace
		COMPREPLY+=("${word#"$kept"}")
	done < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
}

complete -o default -F _weft weft
