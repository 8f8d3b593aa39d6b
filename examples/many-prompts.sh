#!/bin/sh
# One agent per line of a file, four at a time; each is tried up to three times if it is stuck or fails.
#
#   many-prompts.sh prompts.txt
#
# What became of each is in prompts.log: the column Exitval holds idlewatch's exit status.
set -u
prompts=${1:?a file with one prompt per line}
agent=${AGENT:-claude -p}
exec parallel --will-cite --jobs "${JOBS:-4}" --retries 3 --joblog "${prompts%.*}.log" --tag \
  idlewatch --quiet --idle "${IDLE:-5m}" --stdin null -- "$agent" {} :::: "$prompts"
