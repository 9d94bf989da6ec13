# Completion of jitwarm for fish:   jitwarm completion fish | source
function __jitwarm_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (command $words[1] complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct) ''
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c jitwarm -f -a '(__jitwarm_complete)'
