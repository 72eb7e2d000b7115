"""From SPIR's conventions in LLVM IR to those of AMD's GCN, in a module's text.

    spir_kernel, spir_func                     amdgpu_kernel, the C convention
    address space 0 (private)                  5
    address space 2 (constant)                 4
    address space 4 (generic)                  0
    1 (global), 3 (local)                      the same
    alloca T                                   alloca T, addrspace(5)
    ptr byval(%S) %s   (an argument)           ptr addrspace(4) byref(%S) %s.passed, copied to a variable %s
    syncscope("device")                        syncscope("agent")
    frame pointers, kept for debuggers         none

A work-group has at most as many work-items as the kernel demands, else 256, AMD's limit on GCN.
"""

from __future__ import annotations

import re

from coarsen.ir.kernel import Kernel

_LARGEST_WORK_GROUP = 256
_SPACES = {"0": "5", "2": "4", "4": "0"}
_POINTER = re.compile(r"(?<![%@.\"\w-])ptr(?! addrspace)\b|\baddrspace\((?P<space>\d)\)")
_OVERLOADED = re.compile(r"(?<=@llvm\.)[\w.]+(?=\()")
_POINTER_SUFFIX = re.compile(r"(?<=\.p)[024](?=\.|$)")
_ALLOCA = re.compile(r"^(  %\S+ = alloca [^\n]*)$", re.MULTILINE)
_CONVENTION = re.compile(r"\bspir_(kernel|func) ")
_FRAME_POINTER = re.compile(r' "frame-pointer"="\w+"')
_FLAGS = re.compile(r"^!llvm\.module\.flags = [^\n]*\n", re.MULTILINE)
_VOID_CAST = re.compile(r"addrspacecast (ptr(?: addrspace\(\d\))?) (\S+) to \1(?=[\s,)]|$)", re.MULTILINE)
_BY_VALUE = re.compile(r"byval\((?P<type>[^()]+)\)")
_AFTER_PARAMETERS = re.compile(r"\)((?: local_unnamed_addr| unnamed_addr)?)(?=[^()]*$)")
_SCOPES = {'syncscope("device")': 'syncscope("agent")', 'syncscope("all_svm_devices") ': ""}
_EVENT = 'target("spirv.Event")'


def retargeted(text: str, kernel: Kernel) -> str:
    """The module's text in GCN's conventions; the triple and the data layout are left to the caller."""
    text = text.replace(kernel.signature, _with_limit(kernel))
    text = _with_own_copies(text, kernel)
    text = _CONVENTION.sub(lambda match: "amdgpu_kernel " if match[1] == "kernel" else "", text)
    text = _FLAGS.sub("", _FRAME_POINTER.sub("", text))
    text = _ALLOCA.sub(r"\1, addrspace(0)", text)
    text = _POINTER.sub(_renumbered, text)
    text = _OVERLOADED.sub(_renamed, text)
    for scope, counterpart in _SCOPES.items():
        text = text.replace(scope, counterpart)
    return _VOID_CAST.sub(r"bitcast \1 \2 to \1", text).replace(_EVENT, "i64")


def _renumbered(match: re.Match[str]) -> str:
    space = _SPACES.get(match["space"], match["space"]) if match["space"] else ""
    return f"addrspace({space})" if space else "ptr addrspace(5)"


def _renamed(match: re.Match[str]) -> str:
    """An intrinsic's name, which ends with the address spaces that it works on."""
    return _POINTER_SUFFIX.sub(lambda space: _SPACES[space.group()], match.group())


def _with_limit(kernel: Kernel) -> str:
    """The kernel's signature with the size of its work-groups."""
    required = kernel.required_work_group_size
    most = required[0] * required[1] * required[2] if required else _LARGEST_WORK_GROUP
    limit = f'"amdgpu-flat-work-group-size"="{most if required else 1},{most}"'
    return _AFTER_PARAMETERS.sub(rf")\1 {limit}", kernel.signature, count=1)


def _with_own_copies(text: str, kernel: Kernel) -> str:
    """Structures that are passed by value arrive in constant memory; the kernel's own is a copy."""
    entry = f"{kernel.blocks[0].name}:\n"
    for argument in kernel.arguments:
        passed = _BY_VALUE.search(argument.attributes)
        if passed is None:
            continue
        name, type_ = f"%{argument.name}", passed["type"]
        arriving = argument.attributes.replace("ptr ", "ptr addrspace(2) ", 1).replace("byval(", "byref(")
        text = text.replace(argument.attributes, arriving.replace(name, f"{name}.passed"), 1)
        copy = f"  {name} = alloca {type_}, align 16\n"
        copy += f"  {name}.passed.whole = load {type_}, ptr addrspace(2) {name}.passed, align 4\n"
        copy += f"  store {type_} {name}.passed.whole, ptr {name}, align 4\n"
        text = text.replace(f"\n{entry}", f"\n{entry}{copy}", 1)
    return text
