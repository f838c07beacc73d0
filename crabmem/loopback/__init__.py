"""What servers on this machine have in common. Each answers on the loopback alone."""
