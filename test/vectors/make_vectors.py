#!/usr/bin/env python3
"""Writes the golden vectors into this folder. Uses only Python's standard library.

    python3 test/vectors/make_vectors.py            writes the files
    python3 test/vectors/make_vectors.py --print    prints {name: content} as JSON instead

So the tests compare the project with a second implementation in another language. JSON and SHA-256 are those of Python.
RFC 6962 trees, keccak256, secp256k1 (RFC 6979) and EIP-712 are written here from their specifications.
"""

import hashlib
import hmac
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def dumps(value):
    return json.dumps(value, sort_keys=True)


def sha256(data):
    return hashlib.sha256(data).digest()


# --- Python's JSON ---------------------------------------------------------------------------------------------------

TEXTS = {
    "float one": "1.0",
    "int one": "1",
    "float from an exponent": "1e0",
    "small, exponent form": "0.00001",
    "small, exponent form with an upper-case E": "1E-05",
    "smallest without exponent": "0.0001",
    "just below the smallest without exponent": "0.000099999999999999991",
    "largest without exponent": "9999999999999998.0",
    "1e16": "1e16",
    "1e16 spelled out": "10000000000000000.0",
    "1e15": "1e15",
    "1e22": "1e22",
    "1e23": "1e23",
    "three exponent digits": "1.5e+300",
    "largest double": "1.7976931348623157e308",
    "smallest double": "5e-324",
    "smallest normal double": "2.2250738585072014e-308",
    "underflow to zero": "1e-400",
    "tenths do not add up": "0.30000000000000004",
    "a time": "1767225600.123",
    "a time with microseconds": "1767225600.123456",
    "minus zero float": "-0.0",
    "minus zero int": "-0",
    "minus zero by underflow": "-1e-400",
    "negative float": "-273.15",
    "2^53": "9007199254740992",
    "2^53 + 1": "9007199254740993",
    "15 digits": "999999999999999",
    "16 digits": "9999999999999999",
    "2^64": "18446744073709551616",
    "2^256": str(2**256),
    "minus 2^256": str(-(2**256)),
    "1000 digits": "1" + "0" * 998 + "7",
    "empty string": '""',
    "every ASCII character": json.dumps("".join(map(chr, range(128)))),
    "short escapes": '"\\" \\\\ \\/ \\b \\f \\n \\r \\t"',
    "DEL, raw": '"\x7f"',
    "Latin": '"caf\u00e9"',
    "escape in upper case": '"\\u00E9\\uABCD"',
    "line separators": '"\u2028\u2029"',
    "astral, raw": '"\U0001f600\U0010ffff"',
    "astral, escaped": '"\\ud83d\\ude00"',
    "lone high surrogate": '"\\ud800"',
    "lone low surrogate": '"\\udc00x"',
    "surrogates the wrong way round": '"\\ude00\\ud83d"',
    "NUL": '"\\u0000"',
    "literals": "[true, false, null]",
    "white space": ' \t\r\n{ "b" : [ 1 , 2.0 ] ,\n"a" : { } } ',
    "compact": '{"b":[1,2.0,[]],"a":{}}',
    "keys by code point": '{"\U0001f600": 1, "\uffff": 2, "\ue000": 3, "\ud7ff": 4, "z": 5, "A": 6, "": 7, "a": 8, "aa": 9}',
    "keys of astral characters": '{"\U0001f601": 1, "\U0001f600": 2, "\U00010000": 3, "\uffff": 4}',
    "keys with lone surrogates": '{"\\udfff": 1, "\\ud800": 2, "\\ud800\\udc00": 3, "\\ue000": 4, "\\ud83d\\ud83d\\ude00": 5, "\\ud83d\\ude00": 6, "\\ud83d": 7, "\\ud83dz": 8}',
    "keys that differ late": '{"ab\U0001f600c": 1, "ab\U0001f600b": 2, "ab\uff5e": 3, "ab": 4}',
    "keys like numbers": '{"10": 1, "9": 2, "01": 3, "-1": 4, "1.5": 5}',
    "keys of JavaScript's prototype": '{"__proto__": {"a": 1}, "constructor": 2, "toString": 3}',
    "duplicate keys": '{"a": 1, "b": 2, "a": 3}',
    "nested": '{"z": {"y": [{"b": 1.0, "a": [1, [2.5, [3e0]]]}], "x": {}}, "a": []}',
    "128 deep": "[" * 128 + "]" * 128,
}

REFUSED = {
    "nothing": "",
    "white space only": " ",
    "NaN": "NaN",
    "Infinity": "[Infinity]",
    "minus Infinity": "-Infinity",
    "overflowing float": "1e400",
    "leading zero": "01",
    "plus sign": "+1",
    "point without digits": "1.",
    "point without whole part": ".5",
    "exponent without digits": "1e",
    "hex": "0x10",
    "minus alone": "-",
    "single quotes": "{'a': 1}",
    "trailing comma in an array": "[1,]",
    "trailing comma in an object": '{"a": 1,}',
    "missing comma": "[1 2]",
    "missing colon": '{"a" 1}',
    "missing value": '{"a":}',
    "key that is no string": "{1: 2}",
    "unclosed array": "[1",
    "unclosed object": '{"a": 1',
    "unclosed string": '"a',
    "control character": '"a\nb"',
    "unknown escape": '"\\x41"',
    "short unicode escape": '"\\u12"',
    "text after the value": "1 2",
    "two documents": "{}{}",
    "comment": "[1] // one",
    "literal in upper case": "True",
    "byte order mark": "\ufeff1",
    "no-break space": "\u00a01",
    "129 deep": "[" * 129 + "]" * 129,
    "4301 digits": "1" * 4301,
}


def python_json():
    cases = []
    for name, text in TEXTS.items():
        canonical = dumps(json.loads(text))
        digest = sha256(canonical.encode()).hex()
        cases.append({"name": name, "text": text, "canonical": canonical, "sha256": digest})
    refused = [{"name": name, "text": text} for name, text in REFUSED.items()]
    return {"about": "canonical is json.dumps(json.loads(text), sort_keys=True)", "cases": cases, "refused": refused}


# --- A ledger ---------------------------------------------------------------------------------------------------------

PAYLOADS = [
    {"type": "settlement", "data_update": {"greeting": "hello"}, "confidence_score": 1.0, "agent_metadata": {}},
    {"type": "settlement", "data_update": {"small": 1e-05, "large": 1e16, "zero": -0.0}, "confidence_score": 0.95},
    {"data_update": {"big": 2**200, "negative": -(2**70)}, "confidence_score": 1},
    {"data_update": {"\U0001f600": "\U0001f600 caf\u00e9", "\uffff": "\x7f\x00", "": None}, "confidence_score": 0.85},
    {"data_update": {"nested": [{"b": [1, 1.0, "1"], "a": {"deep": [[], {}, [[True, False]]]}}]}},
    {},
]


def python_ledger(sort_lines):
    """The lines of a ledger that Python writes. The hash is over sorted keys. The written keys are sorted or unsorted."""
    lines = []
    parent = "0" * 64
    for i, payload in enumerate(PAYLOADS):
        timestamp = [1767225600.123, 1767225601.0, 1767225602, 1767225603.5, 1767225604.25, 1e16][i]
        entry = {
            "timestamp": timestamp,
            "task_id": f"task-{i} \u2713",
            "parent_hash": parent,
            "payload": payload,
            "current_hash": "",
        }
        parent = sha256(dumps(entry).encode()).hex()
        entry["current_hash"] = parent
        lines.append(json.dumps(entry, sort_keys=sort_lines))
    return lines


# --- RFC 6962 trees ---------------------------------------------------------------------------------------------------


def leaf_hash(data):
    return sha256(b"\x00" + data)


def split(n):
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def mth(leaves):
    if not leaves:
        return sha256(b"")
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:]))


def path(m, leaves):
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if m < k:
        return path(m, leaves[:k]) + [mth(leaves[k:])]
    return path(m - k, leaves[k:]) + [mth(leaves[:k])]


def subproof(m, leaves, whole):
    if m == len(leaves):
        return [] if whole else [mth(leaves)]
    k = split(len(leaves))
    if m <= k:
        return subproof(m, leaves[:k], whole) + [mth(leaves[k:])]
    return subproof(m - k, leaves[k:], False) + [mth(leaves[:k])]


def merkle():
    size = 12
    leaves = [leaf_hash(f"leaf {i}".encode()) for i in range(size)]
    return {
        "about": 'leaf i is SHA-256(0x00, "leaf i"); proofs as RFC 6962 sections 2.1.1 and 2.1.2 define them',
        "leaves": [leaf.hex() for leaf in leaves],
        "roots": [mth(leaves[:n]).hex() for n in range(size + 1)],
        "inclusion": [
            {"index": i, "size": n, "proof": [node.hex() for node in path(i, leaves[:n])]}
            for n in range(1, size + 1)
            for i in range(n)
        ],
        "consistency": [
            {"from": m, "to": n, "proof": [] if m == 0 else [node.hex() for node in subproof(m, leaves[:n], True)]}
            for n in range(size + 1)
            for m in range(n + 1)
        ],
    }


# --- keccak256 --------------------------------------------------------------------------------------------------------

LANE = (1 << 64) - 1


def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & LANE if n else x


def keccak_f(state):
    lfsr = 1
    for _ in range(24):
        c = [state[x][0] ^ state[x][1] ^ state[x][2] ^ state[x][3] ^ state[x][4] for x in range(5)]
        d = [c[(x + 4) % 5] ^ rotl(c[(x + 1) % 5], 1) for x in range(5)]
        state = [[state[x][y] ^ d[x] for y in range(5)] for x in range(5)]
        x, y, current = 1, 0, state[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, state[x][y] = state[x][y], rotl(current, (t + 1) * (t + 2) // 2 % 64)
        for y in range(5):
            row = [state[x][y] for x in range(5)]
            for x in range(5):
                state[x][y] = row[x] ^ (~row[(x + 1) % 5] & LANE & row[(x + 2) % 5])
        for j in range(7):
            if lfsr & 1:
                state[0][0] ^= 1 << ((1 << j) - 1)
            lfsr = (lfsr << 1) ^ (0x171 if lfsr & 0x80 else 0)
    return state


def keccak256(data):
    rate = 136
    padded = bytearray(data) + b"\x01" + bytes(-(len(data) + 1) % rate)
    padded[-1] ^= 0x80
    state = [[0] * 5 for _ in range(5)]
    for block in range(0, len(padded), rate):
        for i in range(rate // 8):
            lane = int.from_bytes(padded[block + 8 * i : block + 8 * i + 8], "little")
            state[i % 5][i // 5] ^= lane
        state = keccak_f(state)
    return b"".join(state[i % 5][i // 5].to_bytes(8, "little") for i in range(4))


# --- secp256k1 --------------------------------------------------------------------------------------------------------

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def add(a, b):
    if a is None:
        return b
    if b is None:
        return a
    if a[0] == b[0]:
        if (a[1] + b[1]) % P == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P) % P
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P) % P
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(k, point=G):
    result = None
    while k:
        if k & 1:
            result = add(result, point)
        point = add(point, point)
        k >>= 1
    return result


def address(key):
    x, y = multiply(key)
    return "0x" + keccak256(x.to_bytes(32, "big") + y.to_bytes(32, "big"))[12:].hex()


def sign(key, digest):
    """RFC 6979 deterministic ECDSA with low s; returns r, s, v."""
    x, h = key.to_bytes(32, "big"), (int.from_bytes(digest, "big") % N).to_bytes(32, "big")
    v, k = b"\x01" * 32, b"\x00" * 32
    for tag in (b"\x00", b"\x01"):
        k = hmac.new(k, v + tag + x + h, hashlib.sha256).digest()
        v = hmac.new(k, v, hashlib.sha256).digest()
    v = hmac.new(k, v, hashlib.sha256).digest()
    nonce = int.from_bytes(v, "big")
    assert 0 < nonce < N
    rx, ry = multiply(nonce)
    r = rx % N
    s = pow(nonce, -1, N) * (int.from_bytes(digest, "big") + r * key) % N
    parity = (ry & 1) ^ (1 if rx >= N else 0)
    if s > N // 2:
        s, parity = N - s, parity ^ 1
    return r, s, 27 + parity


def hex_signature(r, s, v):
    return "0x" + r.to_bytes(32, "big").hex() + s.to_bytes(32, "big").hex() + bytes([v]).hex()


# --- Signed records ---------------------------------------------------------------------------------------------------

SELLER = 0x1111111111111111111111111111111111111111111111111111111111111111
BUYER = 0x2222222222222222222222222222222222222222222222222222222222222222


def utf16_order(key):
    return key.encode("utf-16-be")


def canonical_body(value):
    """RFC 8785: keys sorted by UTF-16 code unit, no spaces, characters beyond ASCII not escaped."""
    if isinstance(value, dict):
        keys = sorted(value, key=utf16_order)
        return "{" + ",".join(canonical_body(key) + ":" + canonical_body(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_body, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def sign_body(key, body):
    digest = keccak256(canonical_body(body).encode())
    return digest, sign(key, keccak256(b"\x19Ethereum Signed Message:\n32" + digest))


def record(name, record_type, key, body):
    digest, (r, s, v) = sign_body(key, body)
    return {
        "name": name,
        "type": record_type,
        "privateKey": "0x" + key.to_bytes(32, "big").hex(),
        "body": body,
        "canonical": canonical_body(body),
        "digest": "0x" + digest.hex(),
        "signer": address(key),
        "signature": hex_signature(r, s, v),
        "highS": hex_signature(r, N - s, 55 - v),
    }


def records():
    listing = {
        "agent_id": address(SELLER),
        "capability": "text.translate.en.it",
        "price_usdc": "0.50",
        "currency": "USDC",
        "chain": "base",
        "max_latency_ms": 8000,
        "first_call_free": True,
        "endpoint": "https://seller.example/hire",
    }
    receipt = {
        "protocol_version": "swarmwage/v0.3",
        "hire_id": "rcpt_01HRX",
        "agent_id": address(SELLER),
        "buyer": address(BUYER),
        "capability": "text.translate.en.it",
        "amount_usdc_atomic": "500000",
        "network": "base",
        "tx_hash": "0x" + "fe" * 32,
        "completed_at": "2026-01-31T12:00:00.000Z",
        "verification": {"all_passed": True, "checks": {"non_empty": True, "lang_is_it": True}},
    }
    countersigned = dict(receipt, buyer_signature=hex_signature(*sign_body(BUYER, receipt)[1]))
    strange = {
        "\U0001f600": "astral key sorts before U+FFFF here",
        "\uffff": ["\u2028", "\x7f", "\x01", '"', "\\", "/"],
        "numbers": [0, -1, 2**53 - 1, -(2**53) + 1],
        "nested": {"b": None, "a": {"d": [], "c": {}}},
        "": False,
        "10": 1,
        "9": 2,
    }
    return {
        "about": "signature is EIP-191 over the 32 bytes keccak256(utf8(canonical)); highS is its malleable twin",
        "records": [
            record("listing of an existing SDK", "listing", SELLER, listing),
            record("receipt of an existing SDK", "receipt", SELLER, receipt),
            record("receipt countersigned by the buyer", "receipt", SELLER, countersigned),
            record("strange keys and characters", "listing", BUYER, strange),
            record("empty body", "listing", BUYER, {}),
        ],
    }


# --- EIP-712 ----------------------------------------------------------------------------------------------------------


def word(value):
    if isinstance(value, int):
        return value.to_bytes(32, "big")
    return bytes.fromhex(value[2:]).rjust(32, b"\x00") if len(value) == 42 else bytes.fromhex(value[2:])


def typed_digest(domain_name, chain_id, contract, type_text, values):
    domain = keccak256(
        keccak256(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
        + keccak256(domain_name.encode())
        + keccak256(b"1")
        + word(chain_id)
        + word(contract)
    )
    struct = keccak256(keccak256(type_text.encode()) + b"".join(map(word, values)))
    return "0x" + keccak256(b"\x19\x01" + domain + struct).hex()


HIRE_TYPE = (
    "Hire(bytes32 hireId,address buyer,address seller,address payee,uint128 amount,uint128 fee,"
    "address feeRecipient,uint64 deadline,address arbiter)"
)


def eip712():
    escrow, ledger, chain_id = "0x" + "e5" * 20, "0x" + "1e" * 20, 31337
    hire = {
        "hireId": "0x" + "07" * 32,
        "buyer": address(BUYER),
        "seller": address(SELLER),
        "payee": "0x" + "00" * 20,
        "amount": "500000",
        "fee": "2500",
        "feeRecipient": "0x" + "fe" * 20,
        "deadline": "1767225630",
        "arbiter": "0x" + "ab" * 20,
    }
    values = [int(value) if key in ("amount", "fee", "deadline") else value for key, value in hire.items()]
    escrow_id = typed_digest("Tallystick HireEscrow", chain_id, escrow, HIRE_TYPE, values)
    origin = "tallystick.example/main"
    guardian = "0x" + "9a" * 20
    origin_words = len(origin).to_bytes(32, "big") + origin.encode().ljust(32, b"\x00")
    ledger_id = "0x" + keccak256(
        word(chain_id) + word(ledger) + word(address(SELLER)) + word(guardian)
        + (160).to_bytes(32, "big") + origin_words
    ).hex()
    on_escrow = lambda text, values: typed_digest("Tallystick HireEscrow", chain_id, escrow, text, values)
    on_ledger = lambda text, values: typed_digest("Tallystick AnchoredLedger", chain_id, ledger, text, values)
    root = "0x" + "5a" * 32
    return {
        "about": "digests wallets sign; amounts and sizes are decimal strings",
        "chainId": chain_id,
        "escrow": escrow,
        "anchoredLedger": ledger,
        "hire": hire,
        "escrowId": escrow_id,
        "release": on_escrow("Release(bytes32 escrowId)", [escrow_id]),
        "split": {"toSeller": "1", "digest": on_escrow("Split(bytes32 escrowId,uint128 toSeller)", [escrow_id, 1])},
        "refund": {
            "signer": address(SELLER),
            "digest": on_escrow("Refund(bytes32 escrowId,address signer)", [escrow_id, address(SELLER)]),
        },
        "markDelivered": {
            "resultHash": root,
            "digest": on_escrow("MarkDelivered(bytes32 escrowId,bytes32 resultHash)", [escrow_id, root]),
        },
        "ledger": {"writer": address(SELLER), "guardian": guardian, "origin": origin, "ledgerId": ledger_id},
        "anchor": {
            "seq": "3",
            "newSize": "41",
            "newRoot": root,
            "digest": on_ledger(
                "Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)", [ledger_id, 3, 41, root]
            ),
        },
        "head": {
            "size": "41",
            "root": root,
            "digest": on_ledger("Head(bytes32 ledgerId,uint64 size,bytes32 root)", [ledger_id, 41, root]),
        },
    }


# --- The files --------------------------------------------------------------------------------------------------------


def files():
    def page(value):
        return json.dumps(value, indent=1) + "\n"

    return {
        "python-json.json": page(python_json()),
        "python-ledger.jsonl": "".join(line + "\n" for line in python_ledger(True)),
        "python-ledger-unsorted.jsonl": "".join(line + "\n" for line in python_ledger(False)),
        "merkle.json": page(merkle()),
        "records.json": page(records()),
        "eip712.json": page(eip712()),
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        json.dump(files(), sys.stdout)
    else:
        for name, content in files().items():
            (HERE / name).write_bytes(content.encode())
            print(name)
