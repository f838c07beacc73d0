"""What hosts run at the events of a session: `crabmem hook`."""
