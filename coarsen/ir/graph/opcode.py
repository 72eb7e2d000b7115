"""The instructions of LLVM IR that a kernel in normal form has."""

from __future__ import annotations

import enum


class Opcode(enum.StrEnum):
    """An instruction's kind; equal to LLVM's word for it."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    UDIV = "udiv"
    SDIV = "sdiv"
    UREM = "urem"
    SREM = "srem"
    SHL = "shl"
    LSHR = "lshr"
    ASHR = "ashr"
    AND = "and"
    OR = "or"
    XOR = "xor"
    FADD = "fadd"
    FSUB = "fsub"
    FMUL = "fmul"
    FDIV = "fdiv"
    FREM = "frem"
    FNEG = "fneg"
    ICMP = "icmp"
    FCMP = "fcmp"
    TRUNC = "trunc"
    ZEXT = "zext"
    SEXT = "sext"
    FPTRUNC = "fptrunc"
    FPEXT = "fpext"
    FPTOUI = "fptoui"
    FPTOSI = "fptosi"
    UITOFP = "uitofp"
    SITOFP = "sitofp"
    PTRTOINT = "ptrtoint"
    INTTOPTR = "inttoptr"
    BITCAST = "bitcast"
    ADDRSPACECAST = "addrspacecast"
    SELECT = "select"
    FREEZE = "freeze"
    PHI = "phi"
    GETELEMENTPTR = "getelementptr"
    ALLOCA = "alloca"
    LOAD = "load"
    STORE = "store"
    ATOMICRMW = "atomicrmw"
    CMPXCHG = "cmpxchg"
    FENCE = "fence"
    EXTRACTELEMENT = "extractelement"
    INSERTELEMENT = "insertelement"
    SHUFFLEVECTOR = "shufflevector"
    EXTRACTVALUE = "extractvalue"
    INSERTVALUE = "insertvalue"
    CALL = "call"
    BR = "br"
    RET = "ret"
    UNREACHABLE = "unreachable"


BINARY = frozenset(
    {
        *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM),
        *(Opcode.SHL, Opcode.LSHR, Opcode.ASHR, Opcode.AND, Opcode.OR, Opcode.XOR),
        *(Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV, Opcode.FREM),
    }
)
COMPARISONS = frozenset({Opcode.ICMP, Opcode.FCMP})
CASTS = frozenset(
    {
        *(Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT, Opcode.FPTRUNC, Opcode.FPEXT),
        *(Opcode.FPTOUI, Opcode.FPTOSI, Opcode.UITOFP, Opcode.SITOFP),
        *(Opcode.PTRTOINT, Opcode.INTTOPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST),
    }
)
TERMINATORS = frozenset({Opcode.BR, Opcode.RET, Opcode.UNREACHABLE})
