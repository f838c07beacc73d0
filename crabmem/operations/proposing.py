"""Who the agent is: written where a person lets agents, else proposed by them and decided on by a person."""

import dataclasses
from contextlib import suppress
from functools import partial

from ..disk.store import Scan
from ..errors import CrabmemError, Disabled, InvalidArguments
from ..git.proposals import Now, Proposals, against, applied
from ..results import Changed, Proposal, Proposed
from ..text.credentials import warnings
from ..text.edit import lenient_text
from ..text.entry import check_text, decode
from ..text.hashes import version_of
from ..text.merge import Conflicting
from ..write.writer import Draft
from .notes import Noting


class Proposing(Noting):
    """The file that says who the agent is, and what waits to be said in it."""

    def write_identity(self, content: str, if_version: str | None = None, reason: str = "") -> Changed:
        """Replace `Crab.md`; with `if_version`, only if it still is that version. `reason` is for the history.

        A person always may. Where the settings let agents only propose that, it is a `Proposed`, and the file stays as
        it is.

        Raises:
            Disabled: an agent asks, and the settings do not let agents do that.
        """
        self.check_identity_is_writable()
        if self._may_write_identity:
            return self._write_file(self.layout.identity, content, "soul", if_version, reason)
        return self.propose_identity(content, reason, if_version)

    def check_identity_is_writable(self) -> None:
        """Refuse an agent that may neither write `Crab.md` nor propose what it should say.

        Raises:
            Disabled: the settings do not let agents do that.
        """
        if not self._may_write_identity and self.settings.soul != "propose":
            raise Disabled(
                f"writing {self.layout.identity} is disabled; a person may edit the file, or set soul_editable = true "
                'in crabmem.toml, or soul = "propose" to be asked'
            )

    @property
    def _may_write_identity(self) -> bool:
        return self.soul_editable or not self._voice.is_agent

    def propose_identity(self, content: str, reason: str = "", if_version: str | None = None) -> Proposed:
        """Propose what `Crab.md` should say, for a person to decide on: no file changes, and the branch does not move.

        The same text again, while it waits, is the same proposal.

        Raises:
            InvalidArguments: it is blank, cannot be kept, or is what the file says.
            Full: too many wait already.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        path = self.layout.identity
        check_text("content", content, self.profile.largest)
        if not content.strip():
            raise InvalidArguments(f"a proposal is the whole new text of {path}, and this one is blank")
        waiting, note = self._proposals, self._reasoned("propose", path, reason)
        screen = self._screen(content, reason)

        def decide(scan: Scan) -> bytes:
            return self._file_written(scan, path, content, if_version, reason, screen)

        def propose(scan: Scan) -> tuple[Proposal, Now, str]:
            now = self._identity_in(scan)
            made = against(waiting.add(decide(scan), now, note, self._clock()), now)
            return made, now, version_of(scan.data(path) or b"")

        if not self._history.has_begun():
            decide(self._store.scan())  # what is refused anyway makes no workspace
            self.init()
        secrets = self.settings.secrets  # now: what can fail comes before what cannot be taken back
        made, now, version = self._writer.beside(propose)
        told = warnings(f"{lenient_text(made.data)}\n{reason}", now.text, secrets)
        return Proposed(path, version, None, False, made.diff, told, partial(self._origin, path, None), made)

    def proposals(self) -> list[Proposal]:
        """What waits for a person to decide, the oldest first."""
        found, now = self._proposals.all(), self._identity_now()
        return [against(each, now) for each in found]

    def proposal(self, id: str) -> Proposal:
        """The proposal whose id begins so.

        Raises:
            NotFound: there is none.
            InvalidArguments: there are several.
        """
        return against(self._proposals.named(id), self._identity_now())

    def apply_proposal(self, id: str) -> Changed:
        """Write the identity as it was proposed, with what was changed since, in a person's commit.

        Raises:
            Disabled: it is an agent that asks.
            Conflicting: the same lines were changed since.
            NotFound: there is no such proposal.
        """
        proposal = self._to_decide_on(id)
        path, words = proposal.path, f"{proposal.path.rpartition('/')[2]} as {proposal.author} proposed"
        keys = (("Proposal", proposal.id), ("Proposed-by", proposal.author))
        plain = self._note("apply", words)
        note = dataclasses.replace(plain, body=proposal.reason, trailers=(*plain.trailers, *keys))

        def decide(scan: Scan) -> Draft:
            done = applied(proposal, scan.data(path))
            if done.conflicts:
                raise Conflicting(
                    done.conflicts, f"nothing was applied: edit {path} yourself, then reject the proposal"
                )
            return Draft({path: done.data}, note)

        changed = self._changed(self._write(decide), path)
        with suppress(CrabmemError):  # it is applied: where it still waits, applying it again changes nothing else
            self._writer.beside(lambda scan: self._proposals.drop(proposal))
        return changed

    def reject_proposal(self, id: str) -> Proposal:
        """Let a proposal go. History keeps it no longer, and Git removes it by and by; `purge` does at once.

        Raises:
            Disabled: it is an agent that asks.
            NotFound: there is no such proposal.
        """
        proposal = self._to_decide_on(id)
        self._writer.beside(lambda scan: self._proposals.drop(proposal))
        return proposal

    def _identity_in(self, scan: Scan) -> Now:
        data = scan.data(path := self.layout.identity)
        return Now(data, self.identity().text if data is None else decode(path, data))

    def _identity_now(self) -> Now:
        return self._steadily(lambda: self._identity_in(self._store.scan()))

    @property
    def _proposals(self) -> Proposals:
        self._refuse_hidden(self.layout.identity)
        return Proposals(self._history, self.layout.identity)

    def _to_decide_on(self, id: str) -> Proposal:
        """The proposal whose id begins so, for a person to decide on."""
        if self._voice.agent:
            raise Disabled("a person decides on proposals, and no agent; ask the person to look at `crabmem proposals`")
        return self._proposals.named(id)
