# Tab for brimline in bash: eval "$(brimline completion bash)"
_brimline() {
  local line="${COMP_LINE:0:COMP_POINT}" candidate
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local last="${words[-1]}" kept=""
  # bash replaces what stands behind the last of these signs alone.
  [[ $COMP_WORDBREAKS == *=* && $last == *=* ]] && kept="${last%"${last##*=}"}"
  [[ $COMP_WORDBREAKS == *:* && $last == *:* ]] && kept="${last%"${last##*:}"}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [[ $candidate == :files ]]; then
      compopt -o filenames
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${last#"$kept"}")
    else
      COMPREPLY+=("${candidate#"$kept"}")
    fi
  done < <("${COMP_WORDS[0]}" completion bash -- "${words[@]:1}" 2>/dev/null)
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}
complete -F _brimline brimline
