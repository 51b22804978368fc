#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/abi freezes, from plugin.h as it is:

    tests/abi/freeze.py rows     abi_rows.inc: sizes, offsets, enumerators, opcodes as literals
    tests/abi/freeze.py header   plugin_2_0.h: the header itself, with its opcodes written out

Until 2.0 is released both follow plugin.h. From then on plugin_2_0.h stays as it is, and `rows` is
for the rows that are new: those that exist change no more, but for the sizes of structs that grew.
Numbers come from the C compiler (CC, cc).
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "../../core/include")
HEADER = os.path.join(INCLUDE, "tutti/plugin.h")
OPCODES = '#define TUTTI_OP(id, name, ...) TUTTI_OP_##name = id,\n#include "tutti/op_table.def"\n#undef TUTTI_OP\n'


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def members(body):
    """The names of the fields of a struct, or union, without nested ones."""
    for declaration in body.split(";"):
        function = re.search(r"\(\*\s*(?:const\s+)?(\w+)\)\s*\(", declaration)
        if function:
            yield function.group(1)
            continue
        for part in declaration.split(","):
            name = re.search(r"(\w+)\s*(?:\[[^]]*\])?\s*$", part.strip())
            if name:
                yield name.group(1)


def structs(text):
    for kind, name, body in re.findall(r"typedef (struct|union) (\w+) \{(.*?)\n\} \2;", text, re.S):
        yield name, list(members(body))


def enumerators(text):
    for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\n?\} \1;", text, re.S):
        body = "\n".join(line for line in body.splitlines() if not line.startswith("#"))
        yield from re.findall(r"\b(TUTTI_\w+)\s*=", body)


def run(program):
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "rows.c"), os.path.join(folder, "rows")
        with open(source, "w") as out:
            out.write(program)
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-std=c99", "-I", INCLUDE, source, "-o", made], check=True)
        return subprocess.run([made], check=True, capture_output=True, text=True).stdout


def rows(text):
    plain = without_comments(text)
    lines = []

    def say(form, *values):
        lines.append('  printf("%s\\n"%s);' % (form, "".join(", (unsigned long long)" + v for v in values)))

    found = list(structs(plain))
    for name, _ in found:
        say(f"ABI_SIZE({name}, %lluu)", f"sizeof({name})")
    say("ABI_SIZE(void*, %lluu)", "sizeof(void*)")
    for name, fields in found:
        for field in fields:
            say(f"ABI_FIELD({name}, {field}, %lluu)", f"offsetof({name}, {field})")
    for name in enumerators(plain):
        say(f"ABI_CONSTANT({name}, %lluu)", name)
    for name in re.findall(r"^#define (TUTTI_\w+) \S", plain, re.M):
        if name not in ("TUTTI_PLUGIN_EXPORT", "TUTTI_OP"):
            say(f"ABI_CONSTANT({name}, %lluu)", name)
    program = "#include <stddef.h>\n#include <stdio.h>\n#include \"tutti/plugin.h\"\nint main(void) {\n"
    program += "\n".join(lines)
    program += '\n#define TUTTI_OP(id, name, ...) printf("ABI_OPCODE(%s, %d)\\n", #name, id);\n'
    program += '#include "tutti/op_table.def"\n  return 0;\n}\n'
    note = "// SPDX-License-Identifier: Apache-2.0\n//\n// Written by tests/abi/freeze.py rows.\n"
    return note + run(program)


def header(text):
    opcodes = re.findall(r"ABI_OPCODE\((\w+), (\d+)\)", rows(text))
    if OPCODES not in text:
        sys.exit("plugin.h includes its opcodes in another way than this script knows")
    written = "".join(f"  TUTTI_OP_{name} = {number},\n" for name, number in opcodes)
    text = text.replace(OPCODES, written)
    return text.replace(
        " * The plugin ABI of Tutti:",
        " * Frozen: plugin.h of ABI 2.0, which plugins that exist were built with (tests/abi/freeze.py).\n *\n"
        " * The plugin ABI of Tutti:", 1)


def main():
    with open(HEADER) as file:
        text = file.read()
    made = {"rows": ("abi_rows.inc", rows), "header": ("plugin_2_0.h", header)}
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        sys.exit(__doc__)
    name, write = made[sys.argv[1]]
    result = write(text)
    with open(os.path.join(HERE, name), "w") as file:
        file.write(result)


if __name__ == "__main__":
    main()
