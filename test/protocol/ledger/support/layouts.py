"""Writes ledgers in many layouts, and gives Python's verdict on any ledger file. Uses only the standard library.

    layouts.py write SEED COUNT   prints COUNT ledgers, one JSON line each: {"name", "file" (base64), "verdict"}
    layouts.py judge              reads files from standard input, one in base64 on each line; prints their verdicts

A verdict is {"entries", "head", "other": number of lines in other layouts, "first": number of the first such line} or
{"line": number of the first bad line}.
"""
import base64
import hashlib
import json
import random
import sys

MAX_DEPTH = 128
FIELDS = {"timestamp", "task_id", "parent_hash", "payload", "current_hash"}


# --- The verdict ------------------------------------------------------------------------------------------------------


def no_duplicates(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def no_constant(name):
    raise ValueError(name)


def depth(value):
    """The depth of a value, counted without recursion, because Python limits recursion."""
    deepest, todo = 0, [(value, 1)]
    while todo:
        item, level = todo.pop()
        if isinstance(item, (dict, list)):
            deepest = max(deepest, level)
            todo += [(child, level + 1) for child in (item.values() if isinstance(item, dict) else item)]
    return deepest


def canonical(entry):
    return json.dumps(entry, sort_keys=True, allow_nan=False)


def is_hash(value):
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def read(text):
    entry = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constant)
    if not isinstance(entry, dict) or set(entry) != FIELDS or depth(entry) > MAX_DEPTH:
        raise ValueError("no entry")
    timestamp = entry["timestamp"]
    if isinstance(timestamp, bool) or not isinstance(timestamp, (int, float)):
        raise ValueError("timestamp")
    if not isinstance(entry["task_id"], str) or not isinstance(entry["payload"], dict):
        raise ValueError("task_id or payload")
    if not is_hash(entry["parent_hash"]) or not is_hash(entry["current_hash"]):
        raise ValueError("hash")
    return entry


def judge(data):
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    head, other, first = "0" * 64, 0, 0
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            entry = read(text)
            if entry["parent_hash"] != head:
                raise ValueError("parent")
            content = canonical(dict(entry, current_hash=""))
            if hashlib.sha256(content.encode()).hexdigest() != entry["current_hash"]:
                raise ValueError("hash")
            if line != canonical(entry).encode():
                other, first = other + 1, first or number
        except (ValueError, RecursionError):
            return {"line": number}
        head = entry["current_hash"]
    return {"entries": len(lines), "head": head, "other": other, "first": first}


# --- Contents ---------------------------------------------------------------------------------------------------------

INTS = [0, -1, 1, 10**15, 10**16, 2**53, 2**53 + 1, -(2**64), 10**300, 7]
FLOATS = [0.0, -0.0, 1.0, 1e15, 1e16, 123456789012345680.0, 1e-4, 9.9e-5, 1e22, 5e-324, 1.7976931348623157e308, 0.1, -2.5, 1e5]
TEXTS = ["", "a", "é", "\u2028", "\x7f", "\x00", "/", "\\", '"', "\U0001f91d", "\ud800", "\udc00\ud800", "\uffff", "\ufeff", "naïve\n", "\x1b[2J"]
KEYS = TEXTS + ["10", "9", "2", "01", "-1", "b", "B", "__proto__", "constructor", "toString", "\ue000", "\U0001f600", "current_hash", "4294967295"]


def value(rng, level=0):
    kind = rng.randrange(10 if level < 4 else 7)
    if kind < 2:
        return rng.choice(INTS + [rng.randrange(-(10 ** rng.randrange(1, 40)), 10 ** rng.randrange(1, 40))])
    if kind < 4:
        return rng.choice(FLOATS + [rng.uniform(-1, 1) * 10 ** rng.randrange(-20, 25), rng.random()])
    if kind < 6:
        return "".join(rng.choice(TEXTS) for _ in range(rng.randrange(4)))
    if kind == 6:
        return rng.choice([None, True, False])
    if kind == 7:
        return [value(rng, level + 1) for _ in range(rng.randrange(4))]
    return obj(rng, level + 1)


def obj(rng, level=0):
    keys = rng.sample(KEYS, rng.randrange(6))
    return {key: value(rng, level) for key in keys}


def ledger(rng, count):
    entries, parent = [], "0" * 64
    for i in range(count):
        timestamp = rng.choice([1767225600 + i, 1767225600.0 + i, 1767225600.125 + i, 1e9])
        entry = {"timestamp": timestamp, "task_id": rng.choice(TEXTS), "parent_hash": parent, "payload": obj(rng)}
        parent = entry["current_hash"] = hashlib.sha256(canonical(dict(entry, current_hash="")).encode()).hexdigest()
        entries.append(entry)
    return entries


# --- Layouts ----------------------------------------------------------------------------------------------------------


def own_text(rng, text):
    """A string in a random spelling: each character raw, escaped in upper or lower case, or with a short escape."""
    out = ""
    for char in text:
        point = ord(char)
        units = char.encode("utf-16-be", "surrogatepass")
        escaped = "".join("\\u%04x" % int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
        ways = [escaped, escaped.upper().replace("\\U", "\\u")]
        if char in '"\\/':
            ways.append("\\" + char)
        if char in "\n\r\t\f\b":
            ways.append("\\" + "nrtfb"["\n\r\t\f\b".index(char)])
        if point >= 0x20 and char not in '"\\' and not 0xD800 <= point <= 0xDFFF:
            ways += [char] * 3
        out += rng.choice(ways)
    return '"' + out + '"'


def own_number(rng, number):
    if isinstance(number, int):
        return "-0" if number == 0 and rng.randrange(2) else str(number)
    ways = [repr(number), "%.17e" % number, ("%.17e" % number).upper(), "%.17g" % number, repr(number).replace("e+", "E")]
    good = [way for way in ways if any(c in way for c in ".eE") and repr(float(way)) == repr(number)]
    return rng.choice(good)


def own(rng, item):
    """A value in a random layout."""
    gap = lambda: rng.choice(["", "", " ", "  ", "\t", "\r", " \r"])
    if isinstance(item, dict):
        members = list(item.items())
        rng.shuffle(members)
        inner = ",".join(gap() + own_text(rng, key) + gap() + ":" + gap() + own(rng, child) + gap() for key, child in members)
        return "{" + (inner or gap()) + "}"
    if isinstance(item, list):
        return "[" + (",".join(gap() + own(rng, child) + gap() for child in item) or gap()) + "]"
    if isinstance(item, str):
        return own_text(rng, item)
    if isinstance(item, bool) or item is None:
        return json.dumps(item)
    return own_number(rng, item)


def shuffled(rng, item):
    if isinstance(item, dict):
        members = [(key, shuffled(rng, child)) for key, child in item.items()]
        rng.shuffle(members)
        return dict(members)
    return [shuffled(rng, child) for child in item] if isinstance(item, list) else item


LAYOUTS = {
    "canonical": lambda rng, e: json.dumps(e, sort_keys=True),
    "insertion order": lambda rng, e: json.dumps(e),
    "any order": lambda rng, e: json.dumps(shuffled(rng, e)),
    "compact": lambda rng, e: json.dumps(e, separators=(",", ":")),
    "compact, sorted": lambda rng, e: json.dumps(e, separators=(",", ":"), sort_keys=True),
    "indent 0, joined": lambda rng, e: json.dumps(e, indent=2).replace("\n", " "),
    "raw characters": lambda rng, e: json.dumps(e, ensure_ascii=False),
    "own": own,
}


def put_in(rng, line, what):
    """The line with an additional member at its end."""
    at = line.rindex("}")
    return line[:at] + what + line[at:]


SPOILED = {
    "duplicate key": lambda rng, line: put_in(rng, line, ', "task_id": "x"'),
    "the same twice": lambda rng, line: put_in(rng, line, ', "payload": {}'),
    "duplicate key below": lambda rng, line: line.replace('"payload": {', '"payload": {"z z": 1, "z\\u0020z": 1, ', 1),
    "a field more": lambda rng, line: put_in(rng, line, ', "note": 1'),
    "NaN": lambda rng, line: line.replace('"payload": {', '"payload": {"nan": NaN, ', 1),
    "Infinity": lambda rng, line: line.replace('"payload": {', '"payload": {"inf": -Infinity, ', 1),
    "too large a float": lambda rng, line: line.replace('"payload": {', '"payload": {"big": 1e400, ', 1),
    "deep": lambda rng, line: line.replace('"payload": {', '"payload": {"deep": ' + "[" * 5000 + "]" * 5000 + ", ", 1),
    "trailing text": lambda rng, line: line + "x",
    "trailing comma": lambda rng, line: put_in(rng, line, ","),
    "half": lambda rng, line: line[: len(line) // 2],
    "empty": lambda rng, line: "",
    "mark": lambda rng, line: "\ufeff" + line,
    "number for number": lambda rng, line: line.replace("1767225600", "1767225601", 1),
}


def encoded(line):
    # UTF-8 has no lone surrogates. They are written as three bytes each, which a reader refuses.
    return line.encode("utf-8", "surrogatepass")


def write(seed, count):
    for n in range(count):
        rng = random.Random("%s/%d" % (seed, n))
        entries = ledger(rng, rng.randrange(1, 9))
        names = rng.choice([[name] * len(entries) for name in LAYOUTS] + [rng.choices(list(LAYOUTS), k=len(entries))])
        lines = [LAYOUTS[name](rng, entry) for name, entry in zip(names, entries)]
        name = "+".join(sorted(set(names)))
        if rng.randrange(4) == 0:
            spoil = rng.choice(list(SPOILED))
            at = rng.randrange(len(lines))
            lines[at] = SPOILED[spoil](rng, lines[at])
            name += ", %s in line %d" % (spoil, at + 1)
        end = rng.choice(["\n", "\n", "\n", "\r\n"])
        data = b"".join(encoded(line + end) for line in lines)
        if rng.randrange(8) == 0:
            data = b"\xef\xbb\xbf" + data
        if rng.randrange(8) == 0:
            data = data.rstrip(b"\n")
        if rng.randrange(4) == 0:
            at = rng.randrange(len(data))
            data = data[:at] + bytes([rng.choice([rng.randrange(256), data[at] ^ 1, data[at] ^ 0x20])]) + data[at + 1 :]
            name += ", byte %d changed" % at
        print(json.dumps({"name": name, "file": base64.b64encode(data).decode(), "verdict": judge(data)}))


def main():
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]))
    else:
        for line in sys.stdin:
            print(json.dumps(judge(base64.b64decode(line))))


main()
