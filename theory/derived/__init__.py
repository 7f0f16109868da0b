"""Rules that follow from those of the kernel: programs that call rules, and make no ``Proved`` themselves.

What is here can be wrong without a false sentence being proved: a rule of the kernel checks what comes out.
"""
