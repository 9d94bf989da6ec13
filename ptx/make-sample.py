#!/usr/bin/env python3
"""Writes a PTX module of about a given number of statements: straight arithmetic, no loop, nothing dead.

    make-sample.py NAME STATEMENTS [--target sm_52] [--isa 6.3] [--shape kernel|function|caller] > NAME.ptx

The same arguments give the same text. Shapes: a kernel; a device function NAME to be linked; a kernel that calls the
device function NAME_function (given by another module). The old target makes every newer GPU's driver compile it.
"""
import argparse
import random

REGISTERS = 24
BODY = [
    "fma.rn.f32 {a}, {b}, {c}, {d};",
    "mul.f32 {a}, {b}, {c};",
    "add.f32 {a}, {b}, {c};",
    "sub.f32 {a}, {b}, {d};",
    "max.f32 {a}, {b}, {c};",
    "min.f32 {a}, {c}, {d};",
    "add.f32 {a}, {a}, 0f{k:08X};",
]


def arithmetic(statements, dice):
    """Every register takes part, and each result goes into the next, so that none can be left out."""
    lines = ["\tmov.f32 %%f%d, %%f0;" % i for i in range(1, REGISTERS)]
    for i in range(max(0, statements - 2 * REGISTERS)):
        a = i % REGISTERS
        b, c, d = (dice.randrange(REGISTERS) for _ in range(3))
        k = 0x3F800000 + dice.randrange(1 << 22)
        lines.append("\t" + dice.choice(BODY).format(a="%%f%d" % a, b="%%f%d" % b, c="%%f%d" % c, d="%%f%d" % d, k=k))
    lines += ["\tadd.f32 %%f0, %%f0, %%f%d;" % i for i in range(1, REGISTERS)]
    return [line.replace("%%", "%") for line in lines]


def function(name, statements, dice):
    return [
        ".visible .func (.param .b32 result) %s(.param .b32 value)" % name,
        "{",
        "\t.reg .f32 %%f<%d>;" % REGISTERS,
        "\tld.param.f32 %f0, [value];",
        *arithmetic(statements, dice),
        "\tst.param.f32 [result], %f0;",
        "\tret;",
        "}",
    ]


def kernel(name, statements, dice, called):
    call = []
    head = []
    if called:
        head = [".extern .func (.param .b32 result) %s(.param .b32 value);" % called, ""]
        call = [
            "\t{",
            "\t.param .b32 in;",
            "\t.param .b32 out;",
            "\tst.param.f32 [in], %f0;",
            "\tcall.uni (out), %s, (in);" % called,
            "\tld.param.f32 %f0, [out];",
            "\t}",
        ]
    return head + [
        ".visible .entry %s(.param .u64 data)" % name,
        "{",
        "\t.reg .f32 %%f<%d>;" % REGISTERS,
        "\t.reg .b32 %r<2>;",
        "\t.reg .b64 %d<4>;",
        "\tld.param.u64 %d1, [data];",
        "\tcvta.to.global.u64 %d2, %d1;",
        "\tmov.u32 %r1, %tid.x;",
        "\tmul.wide.u32 %d3, %r1, 4;",
        "\tadd.s64 %d2, %d2, %d3;",
        "\tld.global.f32 %f0, [%d2];",
        *arithmetic(statements, dice),
        *call,
        "\tst.global.f32 [%d2], %f0;",
        "\tret;",
        "}",
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("statements", type=int)
    parser.add_argument("--target", default="sm_52")
    parser.add_argument("--isa", default="6.3")
    parser.add_argument("--shape", choices=["kernel", "function", "caller"], default="kernel")
    given = parser.parse_args()
    dice = random.Random("%s %d" % (given.name, given.statements))
    lines = [".version " + given.isa, ".target " + given.target, ".address_size 64", ""]
    if given.shape == "function":
        lines += function(given.name, given.statements, dice)
    else:
        lines += kernel(given.name, given.statements, dice, given.name + "_function" if given.shape == "caller" else None)
    print("\n".join(lines))


main()
