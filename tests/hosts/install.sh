#!/usr/bin/env bash
# Install the hosts that `pytest -m hosts` tests into a folder, each in the newest version that npm has.
#
#   tests/hosts/install.sh FOLDER
#   CRABMEM_HOSTS=FOLDER pytest -m hosts
set -euo pipefail
folder=${1:?"usage: tests/hosts/install.sh FOLDER"}
mkdir -p "$folder"
cd "$folder"
# "@latest" by name: without it npm takes the newest version that asks for no newer Node than there is.
npm install --prefix . --no-audit --no-fund --ignore-scripts=false \
    @anthropic-ai/claude-code@latest @openai/codex@latest @google/gemini-cli@latest opencode-ai@latest \
    @github/copilot@latest @anthropic-ai/mcpb@latest
# npm may be set up to run no scripts of packages: these two fetch the program itself.
node node_modules/@anthropic-ai/claude-code/install.cjs
(cd node_modules/opencode-ai && node postinstall.mjs)
for program in claude codex gemini opencode copilot mcpb; do
    printf '%s ' "$program"
    "node_modules/.bin/$program" --version 2>&1 | head -n 1
done
