"""What a device's own compiler made of a kernel, read without launching it.

| platform | read | facts |
| --- | --- | --- |
| any | information on the kernel and work-groups | private and local memory, preferred multiple, largest group |
| Intel, CPU | build log; ELF in the program's binary | lanes, gathers, scatters; machine code |
| PoCL, CPU | LLVM's remarks; ELF in the program's binary | lanes; machine code, gathers, scatters |
| NVIDIA | log of `-cl-nv-verbose`; PTX, the program's binary | registers, spills, stack frame, occupancy, instructions |

machine code (x86-64, read by capstone where it is installed): its size, instructions, the data that one works on,
spills, the stack frame, gathers, scatters.

build.py    a built program, as the readers get it            elf.py, x86.py   machine code
probe.py    builds programs in a process of its own ◀── reading.py   asks it, for any number of programs
"""
