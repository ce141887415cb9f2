#compdef brimline
# Tab for brimline in zsh, after compinit: eval "$(brimline completion zsh)"
_brimline() {
  local -a found open
  local line with_files
  for line in "${(@f)$("${words[1]}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      (:files) with_files=1 ;;
      ("") ;;
      (*=:*|*=) open+=("$line") ;;
      (*) found+=("$line") ;;
    esac
  done
  (( $#found )) && _describe brimline found
  (( $#open )) && _describe brimline open -S ""
  [[ -n $with_files ]] && _files
  return 0
}
compdef _brimline brimline
