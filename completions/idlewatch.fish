complete -c idlewatch -s i -l idle -d 'Act when nothing that counts has changed for this long (\'off\': never)' -r
complete -c idlewatch -s t -l timeout -d 'Act when the command has run this long in total' -r
complete -c idlewatch -l first-output -d 'Act when nothing at all was printed this long after the start' -r
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
complete -c idlewatch -s s -l signal -d 'The signal that asks a stuck command to end' -r
complete -c idlewatch -s k -l kill-after -d 'Send SIGKILL if the command is still there this long after the signal (\'off\': never)' -r
complete -c idlewatch -l pty -d 'Which of the command\'s streams are terminals' -r -f -a "always\t'Standard output and error are terminals for the command'
mirror\t'Each stream is a terminal only where idlewatch\'s own is'
never\t'Pipes'"
complete -c idlewatch -l stdin -d 'What the command reads from' -r -f -a "auto\t'The terminal through the pseudo-terminal; a pipe or a file as it is'
pty\t'The pseudo-terminal, whatever idlewatch\'s own standard input is'
inherit\t'idlewatch\'s own standard input, untouched'
null\t'Nothing'"
complete -c idlewatch -l size -d 'The size of the terminal where there is none to take it from' -r
complete -c idlewatch -s h -l help -d 'Print help (see more with \'--help\')'
complete -c idlewatch -s V -l version -d 'Print version'
