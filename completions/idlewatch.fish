complete -c idlewatch -s i -l idle -d 'Act when nothing that counts has changed for this long (\'off\': never)' -r
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
