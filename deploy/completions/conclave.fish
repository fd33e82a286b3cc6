# Completion for fish: the program itself says what may follow the words on the line.
function __conclave_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program complete $words "$current" 2> /dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            printf '%s\n' $line
        end
    end
end
complete -c conclave -f -a '(__conclave_complete)'
