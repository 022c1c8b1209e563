"""A compact decoder that keeps to the standard, and copies of it, each wrong in one step.

Each copy names the check that has to catch it.
"""

import codecs
import re


class Whole:
    """Keeps every rule, for any chunks, in time that is linear in the bytes."""

    encoding, errors = "utf-8-sig", "replace"
    line_end = re.compile("\r\n|\r|\n")
    work = 0  # in units of anything, for tests that take it for the time

    def __init__(self):
        self.decoder = codecs.getincrementaldecoder(self.encoding)(self.errors)
        self.rest, self.after_cr = [], False
        self.event, self.data, self.id = "", [], ""

    def receive_data(self, chunk):
        return [event for line in self.lines(self.decode(chunk)) for event in self.process(line)]

    def receive_eof(self):
        return []

    def decode(self, chunk):
        self.work += len(chunk)
        return self.decoder.decode(chunk)

    def lines(self, text):
        if text:
            if self.after_cr:
                text = text.removeprefix("\n")
            self.after_cr = text.endswith("\r")
        *lines, rest = self.line_end.split(text)
        if lines:
            lines[0] = "".join(self.rest) + lines[0]
            self.rest = []
        self.rest.append(rest)
        return lines

    def process(self, line):
        if line == "":
            return self.dispatch()
        if not line.startswith(":"):
            self.field(*self.split(line))
        return []

    def split(self, line):
        name, _, value = line.partition(":")
        return name, value.removeprefix(" ")

    def field(self, name, value):
        if name == "data":
            self.data.append(value)
        elif name == "event":
            self.event = value
        elif name == "id":
            self.set_id(value)

    def set_id(self, value):
        if "\0" not in value:
            self.id = value

    def dispatch(self):
        event, data = self.event, self.data
        self.event, self.data = "", []
        return [(event or "message", self.join(data), self.id)] if data else []

    def join(self, data):
        return "\n".join(data)


class KeepsBom(Whole):
    check = "One leading BOM is dropped"
    encoding = "utf-8"


class DropsEveryBom(Whole):
    check = "A BOM further on is text"

    def lines(self, text):
        return super().lines(text.replace("\ufeff", ""))


class DecodesStrictly(Whole):
    check = "Invalid UTF-8 becomes U+FFFD"
    errors = "strict"


class SplitsLikeStr(Whole):
    check = "Only LF, CR and CRLF end a line"
    line_end = re.compile("\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


class TakesAnyId(Whole):
    check = "An id with a NUL is ignored"

    def set_id(self, value):
        self.id = value


class EndsTextAtNul(Whole):
    check = "A NUL elsewhere is text"

    def join(self, data):
        return super().join(data).partition("\0")[0]


class StaysWithLf(Whole):
    check = "Line ends may be mixed"
    kind = None

    def lines(self, text):
        if self.kind is None and self.line_end.search(text):
            self.kind = self.line_end.search(text)[0]
        return super().lines(text.replace("\r", " ") if self.kind == "\n" else text)


class KnowsNoCr(Whole):
    check = "A CR alone ends a line"

    def lines(self, text):
        return super().lines(re.sub("\r(?!\n)", " ", text))


class KnowsNoCrlf(Whole):
    check = "A CRLF ends one line"
    line_end = re.compile("\r|\n")


class FlushesAtTheEnd(Whole):
    check = "An unfinished event is dropped"

    def receive_eof(self):
        return [event for line in self.lines("\n\n") for event in self.process(line)]


class EndsEventsAtComments(Whole):
    check = "A line that begins with a colon is ignored"

    def process(self, line):
        return super().process("" if line.startswith(":") else line)


class TrustsRetry(Whole):
    check = "A retry field is not an event and changes none"

    def field(self, name, value):
        if name == "retry":
            int(value)
        super().field(name, value)


class KeepsTheIdIfEmpty(Whole):
    check = "An empty id clears the last one"

    def set_id(self, value):
        super().set_id(value or self.id)


class ForgetsTheIdWithoutData(Whole):
    check = "A block without data is not an event, but its id counts"
    before = ""

    def dispatch(self):
        self.before = self.id = self.id if self.data else self.before
        return super().dispatch()


class CarriesTypesOver(Whole):
    check = "A block without data leaves no event type"

    def dispatch(self):
        return super().dispatch() if self.data else []


class ForgetsIds(Whole):
    check = "An event carries the last id of the stream"

    def dispatch(self):
        events = super().dispatch()
        if events:
            self.id = ""
        return events


class IgnoresEmptyTypes(Whole):
    check = "An empty event type is message"

    def field(self, name, value):
        if name != "event" or value:
            super().field(name, value)


class KeepsTypes(Whole):
    check = "An event type is that of one event"

    def dispatch(self):
        event, had_data = self.event, bool(self.data)
        events = super().dispatch()
        self.event = event if had_data else ""
        return events


class IgnoresTypes(Whole):
    check = "The event field sets the type"

    def field(self, name, value):
        super().field(name, "" if name == "event" else value)


class FoldsNames(Whole):
    check = "Field names are exact, and all others are ignored"

    def field(self, name, value):
        super().field(name.lower(), value)


class JoinsWithSpaces(Whole):
    check = "Data lines are joined with LF"

    def join(self, data):
        return " ".join(data) if all(data) else super().join(data)


class StripsLineFeeds(Whole):
    check = "One LF is removed at the end of the data, no more"

    def join(self, data):
        return super().join(data).rstrip("\n")


class DropsEmptyData(Whole):
    check = "A data field without a value makes an event"

    def dispatch(self):
        events = super().dispatch()
        return [event for event in events if event[1]]


class SplitsAtTheLastColon(Whole):
    check = "The first colon ends the field name"

    def split(self, line):
        name, value = super().split(line)
        return (name, value.rpartition(":")[2])


class StripsValues(Whole):
    check = "One space after the colon is dropped, and no other"

    def split(self, line):
        name, value = super().split(line)
        return name, value.strip(" \t")


class SkipsEverySecondEvent(Whole):
    check = "A blank line dispatches the event"
    skips = False

    def dispatch(self):
        events = super().dispatch()
        if events:
            self.skips = not self.skips
        return events if self.skips else []


class RaisesForMuch(Whole):
    check = "No bytes make it raise"

    def field(self, name, value):
        if name == "datas":
            raise KeyError(name)
        super().field(name, value)


class LooksForABomInTheFirstChunk(Whole):
    check = "A leading BOM may be cut"
    encoding = "utf-8"
    first = True

    def decode(self, chunk):
        if self.first:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        self.first = False
        return super().decode(chunk)


class ForgetsTheCr(Whole):
    check = "A CRLF may be cut"

    def lines(self, text):
        self.after_cr = False
        return super().lines(text)


class DropsWhatFollowsACr(Whole):
    check = "A CR may be the end of a chunk"

    def lines(self, text):
        return super().lines("\n" + text[1:] if self.after_cr and text else text)


class DecodesEachChunk(Whole):
    check = "A character may be cut"

    def decode(self, chunk):
        return self.decoder.decode(chunk, final=True)


class DropsUnfinishedLines(Whole):
    check = "A stream may be cut anywhere"

    def lines(self, text):
        self.rest = []
        return super().lines(text)


class ScansTheLineAtChunks(Whole):
    check = "A long line costs in proportion to its length"

    def lines(self, text):
        self.work += 64 * len(self.rest)
        return super().lines(text)


class JoinsTheDataAtLines(Whole):
    check = "Many data lines cost in proportion to their number"

    def field(self, name, value):
        super().field(name, value)
        self.work += len(self.data)


class CopiesTheRestAtLines(Whole):
    check = "Many events in a chunk cost in proportion to their number"

    def lines(self, text):
        lines = super().lines(text)
        self.work += sum(range(len(lines)))
        return lines


class WaitsForALineFeed(Whole):
    check = "An event comes with the CR that completes it"
    held = ""

    def lines(self, text):
        text = self.held + text
        self.held = "\r" if text.endswith("\r") else ""
        return super().lines(text.removesuffix("\r"))

    def receive_eof(self):
        return [event for line in super().lines(self.held) for event in self.process(line)]


class IsOneEventLate(Whole):
    check = "An event comes with the chunk that completes it"
    held = ()

    def receive_data(self, chunk):
        events = [*self.held, *super().receive_data(chunk)]
        self.held = events[-1:]
        return events[:-1]

    def receive_eof(self):
        return self.held


BROKEN = Whole.__subclasses__()
