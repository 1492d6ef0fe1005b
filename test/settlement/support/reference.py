"""The reference algorithm of swarm.at section 5.3, from its text alone, with nothing but the standard library.

    reference.py write COUNT    prints a ledger of COUNT entries
    reference.py verify FILE    prints how many entries it has, and the last one's hash
"""
import hashlib
import json
import sys


def hash_of(entry):
    unsealed = dict(entry, current_hash="")
    return hashlib.sha256(json.dumps(unsealed, sort_keys=True).encode()).hexdigest()


def write(count):
    parent = "0" * 64
    for i in range(count):
        payload = {"type": "settlement", "data_update": {"n": i, "x": i / 3, "text": "naïve 🤝 \u2028\x7f", "big": 10**30}}
        payload["confidence_score"] = 0.9
        payload["agent_metadata"] = {"ä": None, "Z": [True, 1e-7, -0.0, 1e16, {}]}
        timestamp = 1767225600 + i if i % 2 else 1767225600.125 + i
        entry = {"timestamp": timestamp, "task_id": "python-%d" % i, "parent_hash": parent, "payload": payload}
        parent = entry["current_hash"] = hash_of(entry)
        print(json.dumps(entry, sort_keys=True))


def verify(file):
    parent, count = "0" * 64, 0
    with open(file, newline="\n") as lines:
        for line in lines:
            entry = json.loads(line)
            assert line == json.dumps(entry, sort_keys=True) + "\n", "line %d is not canonical" % (count + 1)
            assert entry["parent_hash"] == parent, "line %d has another parent" % (count + 1)
            assert entry["current_hash"] == hash_of(entry), "line %d has another hash" % (count + 1)
            parent, count = entry["current_hash"], count + 1
    print(count, parent)


if sys.argv[1] == "write":
    write(int(sys.argv[2]))
else:
    verify(sys.argv[2])
