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

from coarsen.backend.llvm_module import with_argument
from coarsen.ir.graph.printer import signature_text
from coarsen.ir.kernel import Argument, Kernel

_LARGEST_WORK_GROUP = 256
_SPACES = {"0": "5", "2": "4", "4": "0"}
# Not in strings, names and labels.
_POINTER = re.compile(
    r'(?P<string>"[^"\n]*")|(?<![%@.\w-])ptr(?! addrspace|[-\w$.:])|\baddrspace\((?P<space>\d)\)'
)
_OVERLOADED = re.compile(r"(?<=@llvm\.)[\w.]+(?=\()")
_POINTER_SUFFIX = re.compile(r"(?<=\.p)[024](?=\.|$)")
_ALLOCA = re.compile(r"^(  %\S+ = alloca [^\n]*)$", re.MULTILINE)
_CONVENTION = re.compile(r"\bspir_(kernel|func) ")
_FRAME_POINTER = re.compile(r' "frame-pointer"="\w+"')
_FLAGS = re.compile(r"^!llvm\.module\.flags = [^\n]*\n", re.MULTILINE)
_BY_VALUE = re.compile(r"byval\((?P<type>[^()]+)\)")
_AFTER_PARAMETERS = re.compile(r"\)((?: local_unnamed_addr| unnamed_addr)?)(?=[^()]*$)")
_SCOPES = {'syncscope("device")': 'syncscope("agent")', 'syncscope("all_svm_devices") ': ""}
_EVENT = 'target("spirv.Event")'


def retargeted(text: str, kernel: Kernel) -> str:
    """Return the module's text in GCN's conventions; the triple and the data layout are left to the caller."""
    text = _with_own_signature(text, kernel)
    text = _CONVENTION.sub(lambda match: "amdgpu_kernel " if match[1] == "kernel" else "", text)
    text = _FLAGS.sub("", _FRAME_POINTER.sub("", text))
    text = _ALLOCA.sub(r"\1, addrspace(0)", text)
    text = _POINTER.sub(_renumbered, text)
    text = _OVERLOADED.sub(_renamed, text)
    for scope, counterpart in _SCOPES.items():
        text = text.replace(scope, counterpart)
    return text.replace(_EVENT, "i64")


def _renumbered(match: re.Match[str]) -> str:
    if match["string"]:
        return match["string"]
    space = match["space"]
    return f"addrspace({_SPACES.get(space, space)})" if space else "ptr addrspace(5)"


def _renamed(match: re.Match[str]) -> str:
    """An intrinsic's name, which ends with the address spaces that it works on."""
    return _POINTER_SUFFIX.sub(lambda space: _SPACES[space.group()], match.group())


def _with_own_signature(text: str, kernel: Kernel) -> str:
    """The kernel with the size of its work-groups, and its own copies of structures passed by value."""
    own = f"{signature_text(kernel.graph.function(kernel.name))} {{"
    signature, copies = own, ""
    for argument in kernel.arguments:
        passed = _BY_VALUE.search(argument.attributes)
        if passed is not None:
            signature = with_argument(signature, argument, _by_reference(argument))
            copies += _copied(argument.name, passed["type"])
    entry = f"{kernel.blocks[0].name}:\n"
    return text.replace(f"{own}\n{entry}", f"{_with_limit(signature, kernel)}\n{entry}{copies}", 1)


def _with_limit(signature: str, kernel: Kernel) -> str:
    required = kernel.required_work_group_size
    most = required[0] * required[1] * required[2] if required else _LARGEST_WORK_GROUP
    limit = f'"amdgpu-flat-work-group-size"="{most if required else 1},{most}"'
    return _AFTER_PARAMETERS.sub(rf")\1 {limit}", signature, count=1)


def _by_reference(argument: Argument) -> str:
    """A structure that arrives in constant memory."""
    arriving = argument.attributes.replace("ptr ", "ptr addrspace(2) ", 1).replace("byval(", "byref(")
    return f"{arriving}.passed"


def _copied(name: str, type_: str) -> str:
    copy = f"  %{name} = alloca {type_}, align 16\n"
    copy += f"  %{name}.passed.whole = load {type_}, ptr addrspace(2) %{name}.passed, align 4\n"
    return copy + f"  store {type_} %{name}.passed.whole, ptr %{name}, align 4\n"
