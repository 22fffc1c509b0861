# Completion of weft for fish.  The program itself says what can be completed.

function __weft_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete $words[2..-1] 2>/dev/null
end

complete -c weft -a '(__weft_complete)'
