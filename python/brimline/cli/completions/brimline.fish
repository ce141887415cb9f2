# Tab for brimline in fish: brimline completion fish | source
function __brimline_candidates
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for line in ($words[1] completion fish -- $words[2..-1] "$last" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$last"
        else
            echo $line
        end
    end
end
complete -c brimline -f -a "(__brimline_candidates)"
