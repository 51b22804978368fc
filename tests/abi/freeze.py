#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what tests/abi freezes, from plugin.h and the headers that it includes, as they are:

    tests/abi/freeze.py rows     abi_rows.inc: sizes, offsets, enumerators, opcodes as literals
    tests/abi/freeze.py header   plugin_2_0.h: all of them as one, opcodes and operators written out

Until 2.0 is released the rows follow plugin.h. With the release plugin_2_0.h is written, once, for
frozen_plugin.cpp, and `rows` is for the rows that are new: those that exist change no more, but for
the sizes of structs that grew.
Numbers come from the C compiler (CC, cc).
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, "../../core/include")
TABLE = r'#define (TUTTI_\w+)\(.*\n#include "(tutti/\w+[.]def)"\n#undef .*\n'
PART = r'#include "(tutti/plugin/\w+[.]h)"\n'


def read(name):
    with open(os.path.join(INCLUDE, name)) as file:
        return file.read()


def numbered(macro, table):
    """The enumerators of the rows of a table."""
    found = re.findall(rf"^{macro}\(\s*(\d+),\s*(\w+)", read(table), re.M)
    return "".join(f"  {macro}_{name} = {number},\n" for number, name in found)


def part(name):
    """What stands within the guard of a header."""
    text = read(name)
    body = re.search(r"\n#define TUTTI_\w+_H\n(.*)#endif", text, re.S).group(1)
    return text[: text.index("*/\n") + 3] + body.rstrip() + "\n"


def whole():
    text = re.sub(PART, lambda m: part(m.group(1)), read("tutti/plugin.h"))
    return re.sub(TABLE, lambda m: numbered(m.group(1), m.group(2)), text)


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
        if name.startswith("TUTTI_OP_") and name != "TUTTI_OP_INVALID":
            continue  # opcodes have rows of their own
        say(f"ABI_CONSTANT({name}, %lluu)", name)
    for name in re.findall(r"^#define (TUTTI_\w+) \S", plain, re.M):
        if name != "TUTTI_PLUGIN_EXPORT":
            say(f"ABI_CONSTANT({name}, %lluu)", name)
    program = "#include <stddef.h>\n#include <stdio.h>\n#include \"tutti/plugin.h\"\nint main(void) {\n"
    program += "\n".join(lines)
    program += '\n#define TUTTI_OP(id, name, ...) printf("ABI_OPCODE(%s, %d)\\n", #name, id);\n'
    program += '#include "tutti/op_table.def"\n  return 0;\n}\n'
    note = "// SPDX-License-Identifier: Apache-2.0\n//\n// Written by tests/abi/freeze.py rows.\n"
    return note + run(program)


def header(text):
    return text.replace(
        " * The plugin ABI of Tutti:",
        " * Frozen: plugin.h of ABI 2.0, which plugins that exist were built with (tests/abi/freeze.py).\n *\n"
        " * The plugin ABI of Tutti:", 1)


def main():
    made = {"rows": ("abi_rows.inc", rows), "header": ("plugin_2_0.h", header)}
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        sys.exit(__doc__)
    name, write = made[sys.argv[1]]
    result = write(whole())
    with open(os.path.join(HERE, name), "w") as file:
        file.write(result)


if __name__ == "__main__":
    main()
