"""The page of the package: README with links and pictures that lead to the repository, at the tag of this version."""

import re
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# Parts of README for the time before a release, and commands that are for a clone.
_UNTIL_RELEASED = re.compile(r"<!-- until it is released -->\n.*?<!-- /until it is released -->\n", re.DOTALL)
_IN_CLONE = re.compile(r"^(pipx install|.*\bpip install --quiet) \.(?= |$)", re.MULTILINE)
_RELATIVE = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?![a-z]+:|#)(?P<target>[^)\s]+)\)")


class PackagePage(MetadataHookInterface):
    """Gives the metadata `readme` and `urls`, both made of the one `repository` that pyproject.toml names."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository, tag = self.config["repository"], f"v{metadata['version']}"
        with open(f"{self.root}/README.md", encoding="utf-8") as file:
            text = file.read()
        metadata["readme"] = {"content-type": "text/markdown", "text": page(text, repository, tag)}
        metadata["urls"] = {
            "Documentation": f"{repository}/blob/{tag}/docs/README.md",
            "Source": repository,
            "Issues": f"{repository}/issues",
            "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        }


def page(readme: str, repository: str, tag: str) -> str:
    """README as a package index shows it: of what is released, with whole addresses.

    Its last line shows the MCP registry that the package is the repository's.
    """
    readme = _IN_CLONE.sub(r"\1 crabmem", _UNTIL_RELEASED.sub("", readme))
    pictures = f"{repository.replace('//github.com/', '//raw.githubusercontent.com/')}/{tag}"

    def absolute(link: re.Match[str]) -> str:
        base = pictures if link["picture"] else f"{repository}/blob/{tag}"
        return f"{link['picture']}{link['text']}({base}/{link['target']})"

    return f"{_RELATIVE.sub(absolute, readme)}\n<!-- mcp-name: {registry_name(repository)} -->\n"


def registry_name(repository: str) -> str:
    """The name in the MCP registry: `io.github.OWNER/NAME`."""
    owner, name = repository.split("/")[-2:]
    return f"io.github.{owner}/{name}"
