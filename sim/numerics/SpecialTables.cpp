// sim/numerics/SpecialTables.cpp -- sim/data/special_tables.bin as a piece of the library. TILETWIN_SPECIAL_TABLES is its path.
asm(".section .rodata.tw_special_segments,\"a\",@progbits\n"
    ".globl tw_special_segments\n"
    ".hidden tw_special_segments\n"
    ".balign 64\n"
    "tw_special_segments:\n"
    ".incbin \"" TILETWIN_SPECIAL_TABLES "\"\n"
    ".text\n");
