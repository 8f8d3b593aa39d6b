#!/bin/bash
#SBATCH --job-name=agent
#SBATCH --time=04:00:00
#SBATCH --requeue
# A job that is requeued when it is stuck (silent: 121, asking: 123), at most three times.
#
#   sbatch --export=ALL,AGENT='claude -p "make the tests pass"' slurm-job.sh
idlewatch --idle "${IDLE:-10m}" --stdin null -- sh -c "${AGENT:?the command that runs the agent}"
code=$?
case $code in
  121 | 123)
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
      scontrol requeue "$SLURM_JOB_ID"
    fi
    ;;
esac
exit "$code"
