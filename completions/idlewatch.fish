complete -c idlewatch -s i -l idle -d 'Act when nothing that counts has changed for this long (\'off\': never)' -r
complete -c idlewatch -s t -l timeout -d 'Act when the command has run this long in total' -r
complete -c idlewatch -l first-output -d 'Act when nothing at all was printed this long after the start' -r
complete -c idlewatch -l max-idle -d 'The ceiling: guards cannot defer beyond this much silence (\'off\': they can)' -r
complete -c idlewatch -l done -d 'The command has said that it is finished when this is on its screen' -r
complete -c idlewatch -l done-idle -d 'How long it may stay after that, silently, before it is ended as a success' -r
complete -c idlewatch -l warn -d 'Warn when this share of a limit has passed, in percent' -r
complete -c idlewatch -l activity -d 'What counts as activity: visible change with animation masked, or any byte' -r -f -a "screen\t'Visible change with animation masked'
bytes\t'Any byte'"
complete -c idlewatch -l ignore -d 'Text that never counts as activity (may be repeated)' -r
complete -c idlewatch -l only -d 'Only lines that match count as activity (may be repeated)' -r
complete -c idlewatch -l loop -d 'Suspect a loop when a cycle was seen this often' -r
complete -c idlewatch -l loop-for -d 'It is a loop when it lasts this long with nothing new (\'off\': never)' -r
complete -c idlewatch -l loop-pattern -d 'The same captured text N times is a loop, whatever lies between (may be repeated)' -r
complete -c idlewatch -l waiting -d 'Text near the cursor that means a question (may be repeated)' -r
complete -c idlewatch -l profile -d 'What is known of the program: a name, \'auto\' by its command, or \'none\'' -r
complete -c idlewatch -l guard -d 'What may defer: cpu, io, children, turn, file:PATH or cmd:SHELL (may be repeated)' -r
complete -c idlewatch -l nudge -d 'Type this into a silent command and submit it (may be repeated: one after the other)' -r
complete -c idlewatch -l max-nudges -d 'How many nudges in one run' -r
complete -c idlewatch -l nudge-wait -d 'How long to wait after a nudge' -r
complete -c idlewatch -s s -l signal -d 'The signal that asks a stuck command to end' -r
complete -c idlewatch -s k -l kill-after -d 'Send SIGKILL if the command is still there this long after the signal (\'off\': never)' -r
complete -c idlewatch -l on-idle -d 'The whole ladder for a silent command: steps with commas between, instead of the options above' -r
complete -c idlewatch -l on-loop -d 'The ladder for a command that loops; by default a warning' -r
complete -c idlewatch -l on-waiting -d 'The ladder for a command that waits for a person; by default a warning where there is one, else as for silence' -r
complete -c idlewatch -l on-timeout -d 'The ladder for a command that has run too long; by default it is ended' -r
complete -c idlewatch -l relaunch -d 'Start the command again after this' -r -f -a "crash\t'It ended with a code other than 0, or of a signal'
stuck\t'It was ended because it was silent, looped or waited'
any\t'Either'"
complete -c idlewatch -l relaunch-with -d 'Start this instead, in a shell, for example \'claude --continue\'' -r
complete -c idlewatch -l max-relaunches -d 'How often at most' -r
complete -c idlewatch -l relaunch-delay -d 'How long to wait before the first time; each further time twice as long' -r
complete -c idlewatch -l exit-code -d 'Use another code for a reason, for example \'timeout=75\' (may be repeated)' -r
complete -c idlewatch -l pty -d 'Which of the command\'s streams are terminals' -r -f -a "always\t'Standard output and error are terminals for the command'
mirror\t'Each stream is a terminal only where idlewatch\'s own is'
never\t'Pipes'"
complete -c idlewatch -l stdin -d 'What the command reads from' -r -f -a "auto\t'The terminal through the pseudo-terminal; a pipe or a file as it is'
pty\t'The pseudo-terminal, whatever idlewatch\'s own standard input is'
inherit\t'idlewatch\'s own standard input, untouched'
null\t'Nothing'"
complete -c idlewatch -l size -d 'The size of the terminal where there is none to take it from' -r
complete -c idlewatch -l no-guard -d 'Let nothing defer'
complete -c idlewatch -l preserve-status -d 'Exit with the command\'s own status even where idlewatch ended it'
complete -c idlewatch -l explain -d 'Say why, whenever the state of the command changes'
complete -c idlewatch -s v -l verbose -d 'Say more: also what guards and nudges do'
complete -c idlewatch -s q -l quiet -d 'Say nothing'
complete -c idlewatch -s h -l help -d 'Print help (see more with \'--help\')'
complete -c idlewatch -s V -l version -d 'Print version'
