"""The page in a real browser."""

#: Why a test here is skipped, and what to do.
NO_BROWSER = "needs `pip install -e '.[browser]'`, and a Chromium: CRABMEM_CHROMIUM=FILE, or one on the path"
