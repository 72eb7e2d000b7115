"""Facts of what a device's own compiler made of a kernel, read without launching it.

| platform | what is read | facts |
| --- | --- | --- |
| any | OpenCL's information on kernels | private and local memory, preferred multiple, largest group |
| Intel, CPU | build log; ELF in the program's binary | lanes; machine code |
| PoCL, CPU | LLVM's remarks; ELF in the program's binary | lanes; machine code |
| NVIDIA | log of `-cl-nv-verbose`; PTX | registers, spills, stack frame, occupancy, instructions |

Machine code (x86-64, read by capstone where it is installed) has its size, the instructions, the data that one
works on, spills, the stack frame, gathers and scatters.

build.py    a built program, as the readers get it            elf.py, x86.py   machine code
probe.py    builds programs in a process of its own ◀── reading.py   asks it, for any number of programs
"""
