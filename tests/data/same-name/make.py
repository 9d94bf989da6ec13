#!/usr/bin/env python3
"""make.py: writes one.ptx and two.ptx, whose entries have the same name and the same length of the key under the simulated driver on sm_86.

FNV-1a-64 is no cryptographic hash: a lattice reduction finds the bytes of a comment that give the second text the first one's hash, in a second."""
import os
import random

STAMP, TARGET = b"Feb 29 202423:59:58", b"HOST64sm_86"
PRIME, MASK, START = 0x100000001B3, (1 << 64) - 1, 0xCBF29CE484222325
INVERSE = pow(PRIME, -1, 1 << 64)
COUNT = 16


def forward(state, data):
    for byte in data:
        state = (state ^ byte) * PRIME & MASK
    return state


def back(state, data):
    for byte in reversed(data):
        state = state * INVERSE & MASK ^ byte
    return state


def gram_schmidt(basis):
    orthogonal = []
    for row in basis:
        rest = [float(x) for x in row]
        for other in orthogonal:
            share = sum(a * b for a, b in zip(row, other)) / sum(a * a for a in other)
            rest = [a - share * b for a, b in zip(rest, other)]
        orthogonal.append(rest)
    return orthogonal


def reduced(basis):
    """LLL with integers alone (Cohen, algorithm 2.6.7)."""
    size = len(basis)
    dot = lambda a, b: sum(x * y for x, y in zip(a, b))
    d, lam, k, most = [1] + [0] * size, [[0] * size for _ in range(size)], 1, 0
    d[1] = dot(basis[0], basis[0])

    def shorten(k, l):
        if 2 * abs(lam[k][l]) > d[l + 1]:
            q = (2 * lam[k][l] + d[l + 1]) // (2 * d[l + 1])
            basis[k] = [x - q * y for x, y in zip(basis[k], basis[l])]
            lam[k][l] -= q * d[l + 1]
            for i in range(l):
                lam[k][i] -= q * lam[l][i]

    while k < size:
        if k > most:
            most = k
            for j in range(k + 1):
                u = dot(basis[k], basis[j])
                for i in range(j):
                    u = (d[i + 1] * u - lam[k][i] * lam[j][i]) // d[i]
                if j < k:
                    lam[k][j] = u
                else:
                    d[k + 1] = u
        shorten(k, k - 1)
        if 4 * d[k + 1] * d[k - 1] < 3 * d[k] * d[k] - 4 * lam[k][k - 1] ** 2:
            basis[k], basis[k - 1] = basis[k - 1], basis[k]
            for j in range(k - 1):
                lam[k][j], lam[k - 1][j] = lam[k - 1][j], lam[k][j]
            step = lam[k][k - 1]
            new = (d[k - 1] * d[k + 1] + step * step) // d[k]
            for i in range(k + 1, most + 1):
                t = lam[i][k]
                lam[i][k] = (d[k + 1] * lam[i][k - 1] - step * t) // d[k]
                lam[i][k - 1] = (new * t + step * lam[i][k]) // d[k + 1]
            d[k], k = new, max(1, k - 1)
        else:
            for l in range(k - 2, -1, -1):
                shorten(k, l)
            k += 1
    return basis


def bytes_between(first, last):
    """Returns COUNT bytes, none of which ends a comment, that lead from one state to the other."""
    weights = [pow(PRIME, COUNT - i, 1 << 64) for i in range(COUNT)]
    inverse = pow(weights[-1], -1, 1 << 64)
    basis = [[int(i == k) for k in range(COUNT - 1)] + [-weights[i] * inverse & MASK] for i in range(COUNT - 1)]
    basis = reduced(basis + [[0] * (COUNT - 1) + [1 << 64]])
    orthogonal = gram_schmidt(basis)
    squares = [sum(a * a for a in row) for row in orthogonal]

    def nearest(vector):
        for i in range(COUNT - 1, -1, -1):
            share = round(sum(a * b for a, b in zip(vector, orthogonal[i])) / squares[i])
            vector = [x - share * y for x, y in zip(vector, basis[i])]
        return vector

    vector = [0] * (COUNT - 1) + [(last - first * pow(PRIME, COUNT, 1 << 64)) * inverse & MASK]
    for _ in range(6):
        vector = nearest(vector)
    while True:
        offset = [random.randint(-60, 60) for _ in range(COUNT)]
        state, found = first, []
        for step in (a + b for a, b in zip(nearest([a - b for a, b in zip(vector, offset)]), offset)):
            low = (state & 255) + step
            if not 0 <= low <= 255 or state & 255 ^ low < 32:
                break
            found.append(state & 255 ^ low)
            state = forward(state, found[-1:])
        if len(found) == COUNT and state == last:
            return bytes(found)


random.seed(1)
HEAD = b".version 6.3\n.target sm_52\n.address_size 64\n\n.visible .entry %s()\n{\n\tret;\n}\n//"
one = HEAD % b"one" + b" the first of two modules\n"
two = HEAD % b"two"
two += b" " * (len(one) - len(two) - COUNT - 1)
start = forward(START, STAMP + TARGET)
two += bytes_between(forward(start, two), back(forward(start, one), b"\n")) + b"\n"
assert len(one) == len(two) and one != two and forward(start, one) == forward(start, two)
for name, text in ("one.ptx", one), ("two.ptx", two):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "wb") as file:
        file.write(text)
