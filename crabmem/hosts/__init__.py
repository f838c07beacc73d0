"""The programs that run agents, and how crabmem becomes a part of them: by their own configs, and back again."""
