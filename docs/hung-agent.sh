#!/bin/sh
# A make-believe agent that gets stuck: it does two things, then thinks for ever. The picture in the README is made with
# it, and one can watch idlewatch find it out: idlewatch --idle 6s -- docs/hung-agent.sh

# Like every program that draws, it takes the keys as they come.
if [ -t 0 ]; then
  settings=$(stty -g)
  stty -icanon -echo
else
  settings=
fi
leave() {
  printf '\033[?25h\n\n'
  [ -z "$settings" ] || stty "$settings"
  exit 130
}
trap leave INT TERM HUP
# Where a signal ends everything at once, the shell would have something to say about its sleep.
exec 2>/dev/null

bold='\033[1m' dim='\033[90m' green='\033[32m' violet='\033[35m' plain='\033[m'

# done_step NAME WHAT RESULT
done_step() {
  printf "${green}●${plain} ${bold}%s${plain} %s\n  ${dim}└ %s${plain}\n" "$1" "$2" "$3"
  sleep 0.9
}

printf '\033[?25l\n'
printf "${violet}✻${plain} ${bold}agent${plain} ${dim}· ~/shop · main${plain}\n\n"
printf "\033[40m${violet}>\033[39m the checkout test is flaky, please fix it\033[K${plain}\n\n"
sleep 0.7
done_step Read tests/checkout.rs '214 lines'
done_step Run 'cargo test checkout' '11 passed, 1 failed'
printf '\n'

turn=0
while :; do
  for mark in ✶ ✸ ✹ ✺ ✹ ✷; do
    printf "\r${violet}%s Thinking…${plain} ${dim}(%ds · esc to interrupt)${plain}\033[K" "$mark" $((turn / 6))
    turn=$((turn + 1))
    sleep 0.16
  done
done
