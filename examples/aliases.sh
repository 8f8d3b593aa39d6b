# Source this in ~/.bashrc or ~/.zshrc: the agents are watched wherever you type their names.
#
# At a terminal a silent agent is only ended after ten minutes in which nothing that counts has changed, and never while
# it waits for you. `\claude` is the agent without idlewatch.
alias claude='idlewatch --idle 10m -- claude'
alias codex='idlewatch --idle 10m -- codex'
alias gemini='idlewatch --idle 10m -- gemini'
alias aider='idlewatch --idle 10m -- aider'
alias opencode='idlewatch --idle 10m -- opencode'
