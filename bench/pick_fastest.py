# SPDX-License-Identifier: Apache-2.0
"""The plain way to a schedule, as a peer for stab: the backend with the smallest average for each operation.

usage: pick_fastest.py TRACES averaged|all
  averaged: from the averaged files alone, as the first stab did (warm-up runs are in the averages)
  all:      from the runs of the Chrome files, warm-up left out; the averaged files are read as well
"""
import json
import os
import sys


def operation(label):
    words = label.split(" ")
    return int(words[-2][1:])


def averages_of(path, label):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)["Execution_Data"]
    return {operation(name): entry["Avg_Time"] for name, entry in data.get(label, {}).items()}


def samples_of(path, label, runs):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    times, begun = {}, {}
    for event in events:
        if not event or not event["name"].startswith("@"):
            continue
        if event["tid"].rsplit(" ", 1)[-1] != label:
            continue
        op = operation(event["name"])
        if event["ph"] == "B":
            begun[op] = int(event["ts"])
        else:
            times.setdefault(op, []).append(int(event["ts"]) - begun[op])
    return {op: sum(values[-runs:]) / runs for op, values in times.items()}


def main(folder, what):
    with open(os.path.join(folder, "profile.json"), encoding="utf-8") as file:
        runs = json.load(file)["runs"]
    seen = {}
    for run in runs:
        label = run["label"]
        times = averages_of(os.path.join(folder, run["files"]["averaged"]["name"]), label)
        if what == "all":
            times = samples_of(os.path.join(folder, run["files"]["chrome"]["name"]), label, run["runs"])
        for op, time in times.items():
            seen.setdefault(op, {}).setdefault(label, []).append(time)
    for op in sorted(seen):
        means = {label: sum(values) / len(values) for label, values in seen[op].items()}
        print(op, min(means, key=means.get))


main(sys.argv[1], sys.argv[2])
