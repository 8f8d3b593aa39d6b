# The runs in progress.
_idlewatch_runs() {
    local -a runs=(last ${(f)"$(_call_program runs idlewatch ctl list --ids 2>/dev/null)"})
    _describe -t runs 'run' runs
}

# ctl and replay are verbs only as the first word.
_idlewatch() {
    if (( CURRENT > 2 )) && [[ $words[2] == ctl ]]; then
        shift words
        (( CURRENT-- ))
        _idlewatch-ctl "$@"
        return
    fi
    if (( CURRENT > 2 )) && [[ $words[2] == replay ]]; then
        shift words
        (( CURRENT-- ))
        _idlewatch-replay "$@"
        return
    fi
    # Where nothing stands before the -- our options would complete nothing behind it.
    if (( CURRENT > 2 )) && [[ $words[2] == -- ]]; then
        shift 2 words
        (( CURRENT -= 2 ))
        _cmdambivalent
        return
    fi
    local ret=1
    if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
        local -a verbs=(
            'ctl:Query and control runs in progress'
            'replay:Show what would have happened in a recorded session'
        )
        _describe -t verbs 'verb' verbs && ret=0
    fi
    _idlewatch_run "$@" && ret=0
    return ret
}

if [ "$funcstack[1]" = "_idlewatch" ]; then
    _idlewatch "$@"
else
    compdef _idlewatch idlewatch
fi
