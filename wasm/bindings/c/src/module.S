/* The module, as bytes of the library. The assembler reads the file: C would need 14 MB of
   numbers for it, and #embed the newest compilers. ADDRSPEC_WASM is its path. */
#if defined(__APPLE__)
#define NAME(name) _##name
    .section __TEXT,__const
#elif defined(_WIN32)
#define NAME(name) name
    .section .rdata,"dr"
#else
#define NAME(name) name
    .section .rodata
#endif
    .globl NAME(addrspec_module)
    .globl NAME(addrspec_module_end)
#if defined(__ELF__)
    .hidden NAME(addrspec_module)
    .hidden NAME(addrspec_module_end)
#endif
    .balign 16
NAME(addrspec_module):
    .incbin ADDRSPEC_WASM
NAME(addrspec_module_end):
    .byte 0
#if defined(__ELF__)
    .section .note.GNU-stack,"",%progbits
#endif
