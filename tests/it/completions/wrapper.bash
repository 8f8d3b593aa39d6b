# The words after the options are a command, with completions of its own; ctl and replay are verbs only as the first
# word.
_idlewatch_words() {
    local i word
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
            ctl | replay)
                ((i == 1)) && break
                _idlewatch_command "$i" "$2"
                return
                ;;
            --)
                _idlewatch_command "$((i + 1))" "$2"
                return
                ;;
            WITH_VALUE)
                # Readline takes the = of --idle=5m for a word.
                [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
                ((i++))
                ;;
            -*) ;;
            *)
                _idlewatch_command "$i" "$2"
                return
                ;;
        esac
    done
    if ((i == COMP_CWORD && i > 1)) && [[ $2 != -* && ${COMP_WORDS[1]} != @(ctl|replay) ]]; then
        _idlewatch_command "$i" "$2"
        return
    fi
    if [[ $2 != -* ]] && _idlewatch_run_is_next; then
        COMPREPLY=($(compgen -W "last $("${COMP_WORDS[0]}" ctl list --ids 2>/dev/null)" -- "$2"))
        return
    fi
    _idlewatch "$@"
    if ((COMP_CWORD == 1)) && [[ $2 != -* ]]; then
        COMPREPLY+=($(compgen -c -- "$2"))
    fi
}

# Whether the run is what is being typed: a verb of ctl that takes one came before, and nothing else but options.
_idlewatch_run_is_next() {
    local i verb=
    [[ ${COMP_WORDS[1]} == ctl ]] || return 1
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            -*) ;;
            OF_A_RUN)
                [[ -z $verb ]] || return 1
                verb=${COMP_WORDS[i]}
                ;;
            *) return 1 ;;
        esac
    done
    [[ -n $verb ]]
}

# Completes the command that begins at word $1.
_idlewatch_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        COMPREPLY=($(compgen -c -- "$2"))
    else
        COMPREPLY=($(compgen -f -- "$2"))
    fi
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _idlewatch_words -o nosort -o bashdefault -o default idlewatch
else
    complete -F _idlewatch_words -o bashdefault -o default idlewatch
fi
