"""Limits: how long questions, answers and names may be."""

#: Characters of a question, and facts of an answer, at most.
MAX_QUERY = 10_000
MAX_LIMIT = 1_000
#: Facts of an answer where nobody says how many.
RECALL_LIMIT = 5
#: Characters of an answer, where the settings say how many.
MAX_CHARACTERS = 1_000_000
#: Characters of files before a conversation, where a profile says how many.
MAX_PROMPT = 10_000_000
#: Characters of the frontmatter of an entry.
MAX_HEADER = 16_384
#: Characters of what is said about a write, for the history.
MAX_REASON = 4_000
#: Characters in the name of an agent or a session.
MAX_WHO = 200
#: So many folders deep a file may lie. History refuses what is much deeper, so that a stranger's folder could block it.
DEEPEST = 64
