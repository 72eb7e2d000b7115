"""Structures passed by value that the kernel changes become variables of its own.

    before                                          after
    define … (ptr byval(%struct.S) align 4 %s) {    define … (ptr byval(%struct.S) align 4 %s) {
    entry:                                          entry:
                                                      %s.own = alloca %struct.S, align 4
                                                      %s.whole = load %struct.S, ptr %s, align 4
                                                      store %struct.S %s.whole, ptr %s.own, align 4
      store i32 1, ptr %s                             store i32 1, ptr %s.own

So a transform need not know of them; and PoCL 3.1, like Intel's runtime given SPIR-V, keeps one structure for all
work-items of a group, where changes of the argument itself would meet. One that is only read stays as it is.
"""

from __future__ import annotations

import re

_KERNEL = re.compile(r"^define [^\n]*\bspir_kernel\b[^\n@]*@[^\s(]+\((?P<arguments>[^\n]*)\{\n", re.MULTILINE)
_BY_VALUE = re.compile(
    r"\bptr [^,%]*byval\((?P<type>%?[^()]+)\)[^,%]*?(?: align (?P<align>\d+))? (?P<name>%[-a-zA-Z$._0-9]+)"
)
_RESULT = re.compile(r"(%[-a-zA-Z$._0-9]+) = (?:getelementptr|addrspacecast|bitcast)\b")
_READING = re.compile(
    r"#dbg_|%[-a-zA-Z$._0-9]+ = (?:getelementptr|addrspacecast|bitcast|load(?! volatile)|icmp)\b"
)
_COPY_FROM = re.compile(r"call void @llvm\.memcpy[^(]*\((?P<target>[^,]*),(?P<source>[^,]*),")
_NAME_END = r"(?![-a-zA-Z$._0-9])"


def own_changed_structures(assembly: str) -> str:
    """Give every kernel of a module variables for the structures passed by value that it changes."""
    pieces, position = [], 0
    for kernel in _KERNEL.finditer(assembly):
        end = assembly.index("\n}\n", kernel.end() - 1) + 1
        pieces += [assembly[position : kernel.end()], _with_own(kernel["arguments"], assembly[kernel.end() : end])]
        position = end
    return "".join([*pieces, assembly[position:]])


def _with_own(arguments: str, body: str) -> str:
    for argument in _BY_VALUE.finditer(arguments):
        name = argument["name"]
        if not _is_changed(name, body):
            continue
        align = f", align {argument['align']}" if argument["align"] else ""
        type_ = argument["type"]
        label, separator, rest = _entry(body)
        body = (
            f"{label}{separator}  {name}.own = alloca {type_}{align}\n"
            f"  {name}.whole = load {type_}, ptr {name}{align}\n"
            f"  store {type_} {name}.whole, ptr {name}.own{align}\n"
            + re.sub(re.escape(name) + _NAME_END, f"{name}.own", rest)
        )
    return body


def _entry(body: str) -> tuple[str, str, str]:
    """The label of the first block, if it has one, and what follows."""
    first = body.partition("\n")[0]
    return (first, "\n", body[len(first) + 1 :]) if re.match(r"[-a-zA-Z$._0-9]+:", first) else ("", "", body)


def _is_changed(name: str, body: str) -> bool:
    """Whether anything is stored through the argument, or that can't be told from the text."""
    lines = body.splitlines()
    pointers = {name}
    pending = [name]
    while pending:
        used = re.compile(re.escape(pending.pop()) + _NAME_END)
        for line in lines:
            stripped = line.strip()
            match = _RESULT.match(stripped)
            if not used.search(stripped) or (match and match[1] in pointers):
                continue
            if not _only_reads(stripped, used):
                return True
            if match:
                pointers.add(match[1])
                pending.append(match[1])
    return False


def _only_reads(line: str, pointer: re.Pattern[str]) -> bool:
    copy = _COPY_FROM.search(line)
    if copy:
        return pointer.search(copy["target"]) is None
    return _READING.match(line) is not None
