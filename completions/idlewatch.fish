# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_idlewatch_global_optspecs
    string join \n i/idle= t/timeout= first-output= max-idle= done= done-idle= warn= activity= ignore= only= loop= loop-for= loop-pattern= waiting= profile= guard= no-guard nudge= max-nudges= nudge-wait= s/signal= k/kill-after= on-idle= on-loop= on-waiting= on-timeout= relaunch= relaunch-with= max-relaunches= relaunch-delay= exit-code= preserve-status events= progress-every= report= report-always checkpoint= record= heartbeat= no-notify no-history explain v/verbose q/quiet pty= stdin= size= config= print-config h/help V/version
end

function __fish_idlewatch_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_idlewatch_global_optspecs) -- $cmd 2>/dev/null
    or return 0
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_idlewatch_using_subcommand
    set -l cmd (__fish_idlewatch_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c idlewatch -n "__fish_idlewatch_needs_command" -s i -l idle -d 'Act after this long without activity (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s t -l timeout -d 'Act when the command has run this long in total, including relaunches' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l first-output -d 'Act when nothing has been printed this long after the start' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l max-idle -d 'The ceiling: act after this long without activity, whatever guards say (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l done -d 'The command is done once this appears on its screen' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l done-idle -d 'End it as a success after this long without activity, once --done has matched' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l warn -d 'Warn at this percentage of a limit: of --timeout with a message, of --idle only with the event idle_warning and the state quiet' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l activity -d 'What counts as activity: visible change with animation masked, or any byte' -r -f -a "screen\t'Visible change with animation masked'
bytes\t'Any byte'"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l ignore -d 'Ignore this text; the rest of its line still counts (for whole lines: \'.*text.*\'; may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l only -d 'Count only lines that match (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l loop -d 'Suspect a loop when a cycle has been seen this many times' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l loop-for -d 'Call it a loop once it has lasted this long with nothing new (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l loop-pattern -d 'Also call it a loop when the same captured text is seen --loop times, whatever lies between (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l waiting -d 'Text near the cursor that means a question (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l profile -d 'What is known of the program: the name of a profile, \'auto\' to choose by command, or \'none\'' -r -f -a "claude\t''
codex\t''
gemini\t''
opencode\t''
aider\t''
auto\t''
none\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l guard -d 'What can defer action on a silent command: cpu, disk, net, turn, io, children, file:PATH or cmd:SHELL (may be repeated; replaces the default)' -r -f -a "cpu\t''
disk\t''
net\t''
turn\t''
io\t''
children\t''
file:\t''
cmd:\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l nudge -d 'Type this into a silent command and submit it (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l max-nudges -d 'Nudge at most this many times per start of the command; by default 2, or more if there are more texts or nudge steps' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l nudge-wait -d 'How long to wait after each nudge' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s s -l signal -d 'The signal that asks a stuck command to end' -r -f -a "HUP\t''
INT\t''
QUIT\t''
ILL\t''
TRAP\t''
ABRT\t''
BUS\t''
FPE\t''
KILL\t''
USR1\t''
SEGV\t''
USR2\t''
PIPE\t''
ALRM\t''
TERM\t''
CHLD\t''
CONT\t''
STOP\t''
TSTP\t''
TTIN\t''
TTOU\t''
URG\t''
XCPU\t''
XFSZ\t''
VTALRM\t''
PROF\t''
WINCH\t''
IO\t''
SYS\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s k -l kill-after -d 'Send SIGKILL if the command is still running this long after the signal (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l on-idle -d 'The ladder for a silent command: steps separated by commas, taken one after the other; by default warn, the nudges, then stop' -r -f -a "warn\t''
nudge\t''
wait:\t''
key:\t''
int\t''
term\t''
hup\t''
quit\t''
kill\t''
signal:\t''
run:\t''
prompt\t''
relaunch\t''
stop\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l on-loop -d 'The ladder for a command that loops; by default warn' -r -f -a "warn\t''
nudge\t''
wait:\t''
key:\t''
int\t''
term\t''
hup\t''
quit\t''
kill\t''
signal:\t''
run:\t''
prompt\t''
relaunch\t''
stop\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l on-waiting -d 'The ladder for a command that waits for a person; by default warn if attended, else as --on-idle' -r -f -a "warn\t''
nudge\t''
wait:\t''
key:\t''
int\t''
term\t''
hup\t''
quit\t''
kill\t''
signal:\t''
run:\t''
prompt\t''
relaunch\t''
stop\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l on-timeout -d 'The ladder for a command that has run too long; by default warn, then stop' -r -f -a "warn\t''
nudge\t''
wait:\t''
key:\t''
int\t''
term\t''
hup\t''
quit\t''
kill\t''
signal:\t''
run:\t''
prompt\t''
relaunch\t''
stop\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l relaunch -d 'When to start the command again' -r -f -a "off\t'Never, except by a step of a ladder'
crash\t'When it exits with a code other than 0, or dies of a signal'
stuck\t'When it was ended because it was silent, looping or waiting'
any\t'In both cases'"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l relaunch-with -d 'Relaunch with this shell command instead, for example \'claude --continue\'' -r -f -a "(__fish_complete_command)"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l max-relaunches -d 'Relaunch at most this many times' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l relaunch-delay -d 'Pause before the first relaunch; doubled for each one after it' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l exit-code -d 'Use another exit code for a reason, for example \'timeout=75\' (may be repeated)' -r -f -a "completed\t''
aborted\t''
stopped\t''
idle_timeout\t''
loop\t''
waiting_input\t''
timeout\t''
error\t''"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l events -d 'Write events as JSON lines to a file, or to descriptor N with fd:N' -r
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l progress-every -d 'How often to write a progress event (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l report -d 'Write a report if the run ends stuck: what happened, why, and what was tried (.md, .json or .html)' -r -F
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l checkpoint -d 'The command\'s own list of tasks, quoted by ctl status and in the report' -r -F
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l record -d 'Record what the command prints as an asciicast; overwrites an existing file' -r -F
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l heartbeat -d 'Print a line on standard error each time the command has printed nothing for this long, even with --quiet' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l pty -d 'Which of the command\'s streams are terminals' -r -f -a "always\t'Standard output and error are terminals for the command'
mirror\t'Each stream is a terminal only where idlewatch\'s own is'
never\t'Pipes'"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l stdin -d 'What the command reads from' -r -f -a "auto\t'A terminal through the pseudo-terminal; a pipe or a file as it is'
pty\t'The pseudo-terminal: a pipe is typed into it, so ^C, ^D and the like in it act as keys, and lines over 4095 bytes are cut'
inherit\t'idlewatch\'s own standard input, untouched'
null\t'Nothing'"
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l size -d 'The size of the command\'s terminal, whatever idlewatch\'s own is' -r -f
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l config -d 'Read this file instead of $XDG_CONFIG_HOME/idlewatch/config.toml (/dev/null: none)' -r -F
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l no-guard -d 'Use no guards'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l preserve-status -d 'Exit with the command\'s own status even if idlewatch ended it'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l report-always -d 'Write the report however the run ends'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l no-notify -d 'As a systemd service, send no notifications and leave NOTIFY_SOCKET to the command'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l no-history -d 'Keep this run out of the history'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l explain -d 'Say why whenever the state of the command changes'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s v -l verbose -d 'Say what --explain says, and what guards and nudges do'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s q -l quiet -d 'Say nothing but errors'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -l print-config -d 'Print every option, with its value and where that comes from, as a configuration file, and exit'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -s V -l version -d 'Print version'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -a "ctl" -d 'Query and control runs in progress'
complete -c idlewatch -n "__fish_idlewatch_needs_command" -a "replay" -d 'Show what would have happened in a recorded session'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "list" -d 'List the runs in progress'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "status" -d 'Show the state of a run, and the evidence for it'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "watch" -d 'Watch all runs, or one run and its events, until q is pressed'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "extend" -d 'Leave a run alone for this long, and raise its --timeout by as much'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "nudge" -d 'Type a text into a run\'s command and submit it'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "stop" -d 'End a run; it exits with 119'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "complete" -d 'End a run as a success; it exits with 0'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "history" -d 'Show past runs, the newest last'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and not __fish_seen_subcommand_from list status watch extend nudge stop complete history explain" -f -a "explain" -d 'Explain the state of a run in detail'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from list" -l ids -d 'Print only their ids'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from list" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from status" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from watch" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from extend" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from extend" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from nudge" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from nudge" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from stop" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from complete" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from complete" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from history" -l reason -d 'Only runs that ended for this reason, for example idle_timeout (\'exited\': by themselves)' -r -f -a "completed\t''
aborted\t''
stopped\t''
idle_timeout\t''
loop\t''
waiting_input\t''
timeout\t''
error\t''
exited\t''"
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from history" -l since -d 'Only runs that began within this time' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from history" -l command -d 'Only runs with this text in their command' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from history" -s n -l number -d 'At most this many, the newest' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from history" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from explain" -l json -d 'Print JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -s i -l idle -d 'Act after this long without activity (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -s t -l timeout -d 'Act when the command has run this long in total, including relaunches' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l first-output -d 'Act when nothing has been printed this long after the start' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l max-idle -d 'The ceiling: act after this long without activity, whatever guards say (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l done -d 'The command is done once this appears on its screen' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l done-idle -d 'End it as a success after this long without activity, once --done has matched' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l warn -d 'Warn at this percentage of a limit: of --timeout with a message, of --idle only with the event idle_warning and the state quiet' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l activity -d 'What counts as activity: visible change with animation masked, or any byte' -r -f -a "screen\t'Visible change with animation masked'
bytes\t'Any byte'"
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l ignore -d 'Ignore this text; the rest of its line still counts (for whole lines: \'.*text.*\'; may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l only -d 'Count only lines that match (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l loop -d 'Suspect a loop when a cycle has been seen this many times' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l loop-for -d 'Call it a loop once it has lasted this long with nothing new (\'off\': never)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l loop-pattern -d 'Also call it a loop when the same captured text is seen --loop times, whatever lies between (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l waiting -d 'Text near the cursor that means a question (may be repeated)' -r -f
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l profile -d 'What is known of the program: the name of a profile, \'auto\' to choose by command, or \'none\'' -r -f -a "claude\t''
codex\t''
gemini\t''
opencode\t''
aider\t''
auto\t''
none\t''"
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l config -d 'Read this file instead of $XDG_CONFIG_HOME/idlewatch/config.toml (/dev/null: none)' -r -F
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l json -d 'Print the events as JSON lines'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -s v -l verbose -d 'Explain each state in detail'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -l marks -d 'Also show when each mark of the profile appears and disappears, and which never does'
complete -c idlewatch -n "__fish_idlewatch_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
# The words after the options are a command, with completions of its own.
complete -c idlewatch -n 'not __fish_idlewatch_using_subcommand replay; and not __fish_idlewatch_using_subcommand ctl' -d Command -a '(__fish_complete_subcommand -i --idle -t --timeout --first-output --max-idle --done --done-idle --warn --activity --ignore --only --loop --loop-for --loop-pattern --waiting --profile --guard --nudge --max-nudges --nudge-wait -s --signal -k --kill-after --on-idle --on-loop --on-waiting --on-timeout --relaunch --relaunch-with --max-relaunches --relaunch-delay --exit-code --events --progress-every --report --checkpoint --record --heartbeat --pty --stdin --size --config)'
# The runs in progress.
complete -c idlewatch -f -n '__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from status watch extend nudge stop complete explain' -d Run -a 'last (idlewatch ctl list --ids 2>/dev/null)'
