#!/bin/sh
# Runs an agent until it is done. After a hang, a loop or a question that nobody answers, it is resumed.
#
#   resume-until-done.sh 'claude -p "make the tests pass"' 'claude --continue -p "go on"' 5
#
# The first argument starts it, the second resumes it, the third is how many attempts there are.
set -u
first=${1:?the command that starts the agent} again=${2:-$1} most=${3:-5}

command=$first attempt=1
while :; do
  idlewatch --idle "${IDLE:-5m}" --on-loop warn,stop -- sh -c "$command"
  code=$?
  case $code in
    121 | 122 | 123) ;;  # silent, looping, asking: stuck
    *) exit "$code" ;;   # done, failed by itself, or somebody ended it
  esac
  [ "$attempt" -lt "$most" ] || exit "$code"
  attempt=$((attempt + 1))
  command=$again
done
