# Source this in ~/.bashrc or ~/.zshrc: the agents are watched wherever you type their names.
#
# At a terminal, a silent agent is ended only after ten minutes without activity, and never while it waits for you.
# `\claude` runs the agent without idlewatch.
alias claude='idlewatch --idle 10m -- claude'
alias codex='idlewatch --idle 10m -- codex'
alias gemini='idlewatch --idle 10m -- gemini'
alias aider='idlewatch --idle 10m -- aider'
alias opencode='idlewatch --idle 10m -- opencode'
