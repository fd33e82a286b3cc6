# Completion for bash: the program itself says what may follow the words on the line.
_conclave() {
  local line files=''
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = :files ]; then files=1; else COMPREPLY+=("${line%%$'\t'*}"); fi
  done < <("$1" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  [ -n "$files${COMPREPLY[*]}" ] || compopt +o default 2> /dev/null
}
complete -o default -F _conclave conclave
