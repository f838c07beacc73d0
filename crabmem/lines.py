"""Which lines of a text are lines of an earlier one, told as Git tells it. Pure functions.

Of two ways to tell the same change Git has its own: blame has to find the same, or it would name another author.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

# Equal ends are left out in blocks of so many bytes, up to the end of a line.
_BLOCK = 1_024
# Lines that stand in the other text so often say little, beside lines that are not there at all.
_MOST_COMMON = 1_024
_WINDOW = 100
_TELLING = 4
# After so many steps the search takes the best that it has.
_LEAST_PATIENCE = 256
_ENDLESS = 1 << 60
# How far a change may slide down where it can, and how far a blank or indented line is looked at.
_SLIDE = 100
_DEEPEST = 200
_BLANKS = 20
_BLANK = -1
_INDENT_WEIGHT = 60


def matched(before: bytes, after: bytes) -> dict[int, int]:
    """For each line of `after` that stood in `before`, by their numbers from 0, which one it was."""
    old, new = _without_common_end(before, after)
    rest = after[len(new) :].count(b"\n") + (not after.endswith(b"\n") and len(new) < len(after))
    a, b = _lines(old), _lines(new)
    gone, come = _changed(a, b)
    pairs = dict(zip(_unmarked(come, len(b)), _unmarked(gone, len(a)), strict=True))
    return pairs | {len(b) + each: len(a) + each for each in range(rest)}


def similarity(before: bytes, after: bytes) -> float:
    """How much of the larger text is in the other, from 0 to 1, as Git tells whether a file was renamed."""
    larger = max(len(before), len(after))
    if not before or not after or abs(len(before) - len(after)) * 2 > larger:
        return 0.0
    return sum((_chunks(before) & _chunks(after)).values()) / larger


def _chunks(text: bytes) -> Counter[bytes]:
    """How many bytes of a text are in which lines, long ones in pieces."""
    found: Counter[bytes] = Counter()
    for line in _lines(text.replace(b"\r\n", b"\n")):
        for start in range(0, len(line), 64):
            piece = line[start : start + 64]
            found[piece] += len(piece)
    return found


def _lines(text: bytes) -> list[bytes]:
    """The lines, each with its end; only a line feed ends one."""
    found = [line + b"\n" for line in text.split(b"\n")]
    last = found.pop()[:-1]
    return [*found, last] if last else found


def _without_common_end(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    shorter, cut = min(len(before), len(after)), 0
    while cut + _BLOCK <= shorter and _block(before, cut) == _block(after, cut):
        cut += _BLOCK
    if not cut:
        return before, after
    kept = before.find(b"\n", len(before) - cut) + 1
    cut = len(before) - kept if kept else 0
    return before[: len(before) - cut], after[: len(after) - cut]


def _block(text: bytes, cut: int) -> bytes:
    return text[len(text) - cut - _BLOCK : len(text) - cut]


def _unmarked(marks: Sequence[bool], length: int) -> list[int]:
    return [at for at in range(length) if not marks[at]]


def _changed(a: Sequence[bytes], b: Sequence[bytes]) -> tuple[list[bool], list[bool]]:
    """Which lines of each are not in the other. The marks end with one that is never set."""
    ids: dict[bytes, int] = {}
    left = [ids.setdefault(line, len(ids)) for line in a]
    right = [ids.setdefault(line, len(ids)) for line in b]
    gone, come = [False] * (len(a) + 1), [False] * (len(b) + 1)
    _mark(left, right, gone, come)
    _slid(a, left, gone, come)
    _slid(b, right, come, gone)
    return gone, come


def _mark(left: Sequence[int], right: Sequence[int], gone: list[bool], come: list[bool]) -> None:
    """Mark a shortest change from one row of lines to the other."""
    start = next((at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other), None)
    start = min(len(left), len(right)) if start is None else start
    shorter, end = min(len(left), len(right)) - start, 0
    while end < shorter and left[-1 - end] == right[-1 - end]:
        end += 1
    kept_left = _telling(left, Counter(right), start, len(left) - end, gone)
    kept_right = _telling(right, Counter(left), start, len(right) - end, come)
    _Search([left[at] for at in kept_left], [right[at] for at in kept_right]).mark(
        lambda at: gone.__setitem__(kept_left[at], True), lambda at: come.__setitem__(kept_right[at], True)
    )


def _telling(row: Sequence[int], other: Counter[int], start: int, end: int, marks: list[bool]) -> list[int]:
    """The places worth comparing; lines that the other row lacks are marked, and common ones among them."""
    most = min(_rough_root(len(row)), _MOST_COMMON)
    weights = [0 if not other[line] else 2 if other[line] >= most else 1 for line in row[start:end]]
    kept = []
    for at, weight in enumerate(weights):
        if weight == 1 or (weight == 2 and not _is_lost(weights, at)):
            kept.append(start + at)
        else:
            marks[start + at] = True
    return kept


def _rough_root(number: int) -> int:
    return 1 << (number.bit_length() + 1) // 2


def _is_lost(weights: Sequence[int], at: int) -> bool:
    """Whether a common line stands among lines that the other text lacks."""
    above = list(_until_telling(weights[max(0, at - _WINDOW) : at][::-1]))
    below = list(_until_telling(weights[at + 1 : at + 1 + _WINDOW]))
    if 0 not in above or 0 not in below:
        return False
    lacking = above.count(0) + below.count(0)
    common = 2 + above.count(2) + below.count(2)
    return common * _TELLING < common + lacking


def _until_telling(weights: Sequence[int]) -> Iterator[int]:
    for weight in weights:
        if weight == 1:
            return
        yield weight


class _Search:
    """Myers' search for the shortest change, from both ends at once."""

    def __init__(self, left: Sequence[int], right: Sequence[int]) -> None:
        self._left = left
        self._right = right
        self._patience = max(_LEAST_PATIENCE, _rough_root(len(left) + len(right) + 3))

    def mark(self, gone: Callable[[int], None], come: Callable[[int], None]) -> None:
        """Tell `gone` and `come` the places that have no partner."""
        boxes = [(0, len(self._left), 0, len(self._right))]
        while boxes:
            a, a_end, b, b_end = self._shrunk(*boxes.pop())
            if a == a_end or b == b_end:
                for at in range(a, a_end):
                    gone(at)
                for at in range(b, b_end):
                    come(at)
            else:
                i, j = self._middle(a, a_end, b, b_end)
                boxes += [(a, i, b, j), (i, a_end, j, b_end)]

    def _shrunk(self, a: int, a_end: int, b: int, b_end: int) -> tuple[int, int, int, int]:
        left, right = self._left, self._right
        while a < a_end and b < b_end and left[a] == right[b]:
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and left[a_end - 1] == right[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
        return a, a_end, b, b_end

    def _middle(self, a: int, a_end: int, b: int, b_end: int) -> tuple[int, int]:
        """Where the ways from the two ends meet, the one with the fewest steps."""
        left, right = self._left, self._right
        lowest, highest = a - b_end, a_end - b
        ahead, back = a - b, a_end - b_end
        is_odd = (ahead - back) & 1
        low, high, back_low, back_high = ahead, ahead, back, back
        forward, backward = {ahead: a}, {back: a_end}
        for _ in range(self._patience):
            low, high = _widened(low, high, lowest, highest, forward, -1)
            for way in range(high, low - 1, -2):
                i = forward[way - 1] + 1 if forward[way - 1] >= forward[way + 1] else forward[way + 1]
                while i < a_end and i - way < b_end and left[i] == right[i - way]:
                    i += 1
                forward[way] = i
                if is_odd and back_low <= way <= back_high and backward[way] <= i:
                    return i, i - way
            back_low, back_high = _widened(back_low, back_high, lowest, highest, backward, _ENDLESS)
            for way in range(back_high, back_low - 1, -2):
                i = backward[way - 1] if backward[way - 1] < backward[way + 1] else backward[way + 1] - 1
                while i > a and i - way > b and left[i - 1] == right[i - way - 1]:
                    i -= 1
                backward[way] = i
                if not is_odd and low <= way <= high and i <= forward[way]:
                    return i, i - way
        far = max((_inside(forward[way], way, a_end, b_end) for way in range(high, low - 1, -2)), key=sum)
        near = min((_above(backward[way], way, a, b) for way in range(back_high, back_low - 1, -2)), key=sum)
        return far if a_end + b_end - sum(near) < sum(far) - a - b else near


def _widened(low: int, high: int, lowest: int, highest: int, ways: dict[int, int], edge: int) -> tuple[int, int]:
    """The ways that a step more can reach."""
    if low > lowest:
        low -= 1
        ways[low - 1] = edge
    else:
        low += 1
    if high < highest:
        high += 1
        ways[high + 1] = edge
    else:
        high -= 1
    return low, high


def _inside(i: int, way: int, a_end: int, b_end: int) -> tuple[int, int]:
    i = min(i, a_end, b_end + way)
    return i, i - way


def _above(i: int, way: int, a: int, b: int) -> tuple[int, int]:
    i = max(i, a, b + way)
    return i, i - way


class _Run:
    """A run of marked lines, maybe of none; there is one before, between and behind any two that are not marked."""

    def __init__(self, marks: list[bool]) -> None:
        self._marks = marks
        self.start = self.end = 0
        self._stretch()

    def _stretch(self) -> None:
        while self._marks[self.end]:
            self.end += 1

    def __len__(self) -> int:
        return self.end - self.start

    def is_last(self) -> bool:
        return self.end == len(self._marks) - 1

    def go_on(self) -> None:
        self.start = self.end = self.end + 1
        self._stretch()

    def go_back(self) -> None:
        self.start = self.end = self.start - 1
        self._stretch_up()

    def _stretch_up(self) -> None:
        while self.start and self._marks[self.start - 1]:
            self.start -= 1

    def slides_up(self, row: Sequence[int]) -> bool:
        """Move a line up, if that says the same; what it then touches joins it."""
        if not self.start or row[self.start - 1] != row[self.end - 1]:
            return False
        self.start, self.end = self.start - 1, self.end - 1
        self._marks[self.start], self._marks[self.end] = True, False
        self._stretch_up()
        return True

    def slides_down(self, row: Sequence[int]) -> bool:
        """The same, down."""
        if self.is_last() or row[self.start] != row[self.end]:
            return False
        self._marks[self.start], self._marks[self.end] = False, True
        self.start, self.end = self.start + 1, self.end + 1
        self._stretch()
        return True


def _slid(lines: Sequence[bytes], row: Sequence[int], marks: list[bool], others: list[bool]) -> None:
    """Slide each change to where it reads best: onto one in the other text, else where paragraphs begin and end."""
    run, other = _Run(marks), _Run(others)
    while True:
        if len(run):
            _place(lines, row, run, other)
        if run.is_last():
            return
        run.go_on()
        other.go_on()


def _place(lines: Sequence[bytes], row: Sequence[int], run: _Run, other: _Run) -> None:
    size = -1
    while size != len(run):
        size = len(run)
        while run.slides_up(row):
            other.go_back()
        first, meets = run.end, len(other) > 0
        while run.slides_down(row):
            other.go_on()
            meets = meets or len(other) > 0
    if run.end == first:
        return
    best = None if meets else _best(lines, first, run)
    while run.end > best if best is not None else not len(other):
        run.slides_up(row)
        other.go_back()


def _best(lines: Sequence[bytes], first: int, run: _Run) -> int:
    """Where a change that can slide should end."""
    size = len(run)
    best, found = -1, (0, 0)
    for end in range(max(first, run.end - size - 1, run.end - _SLIDE), run.end + 1):
        tail, head = _split(lines, end), _split(lines, end - size)
        score = tail[0] + head[0], tail[1] + head[1]
        order = (score[0] > found[0]) - (score[0] < found[0])
        if best == -1 or _INDENT_WEIGHT * order + score[1] - found[1] <= 0:
            best, found = end, score
    return best


def _split(lines: Sequence[bytes], at: int) -> tuple[int, int]:
    """How bad it is to split a text before a line: by the indent there, and by what is around it."""
    is_end = at >= len(lines)
    own = _BLANK if is_end else _indent(lines[at])
    above, before = _surroundings(reversed(lines[max(0, at - _BLANKS) : at]))
    below, after = _surroundings(islice(lines, at + 1, at + 1 + _BLANKS))
    blank_below = 1 + below if own == _BLANK else 0
    blanks, indent = above + blank_below, after if own == _BLANK else own
    bad = (before == _BLANK and above == 0) + 21 * is_end - 30 * blanks + 6 * blank_below
    if indent != _BLANK and before != _BLANK:
        if indent > before:
            bad += 10 if blanks else -4
        elif indent < before:
            bad += 17 if blanks else 24 if after != _BLANK and after > indent else 23
    return indent, bad


def _surroundings(lines: Iterator[bytes]) -> tuple[int, int]:
    """How many blank lines there are, and the indent of the first that is not."""
    blanks = 0
    for line in lines:
        indent = _indent(line)
        if indent != _BLANK:
            return blanks, indent
        blanks += 1
    return blanks, 0 if blanks == _BLANKS else _BLANK


def _indent(line: bytes) -> int:
    """How far a line is indented; -1 for a blank one."""
    width = 0
    for byte in line:
        if byte not in b" \t\n\r\v\f":
            return width
        width += 1 if byte == 0x20 else 8 - width % 8 if byte == 0x09 else 0
        if width >= _DEEPEST:
            return _DEEPEST
    return _BLANK
