#include <setjmp.h>
#include <stdarg.h>

#include "wasm-rt.h"

/* A page of WebAssembly, and the most that a checker has: 256 MiB. */
enum { PAGE = 65536, MAX_PAGES = 4096 };

/* Where the last addrspec_catch of this thread continues after a trap, and its cause. The
   cause is no local variable, since a longjmp leaves those undefined (C11 7.13.2.1). */
static _Thread_local jmp_buf *caught;
static _Thread_local wasm_rt_trap_t trap;

int addrspec_catch(void (*function)(void *), void *argument) {
    jmp_buf place;
    caught = &place;
    if (setjmp(place) != 0) return (int)trap;
    function(argument);
    return 0;
}

void wasm_rt_trap(wasm_rt_trap_t cause) {
    trap = cause;
    longjmp(*caught, 1);
}

/* Two bits for each type and four for the number of parameters leave no two types equal. */
uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...) {
    va_list types;
    uint32_t number = 1;
    va_start(types, results);
    for (uint32_t i = 0; i < params + results; i++) number = number << 2 | va_arg(types, wasm_rt_type_t);
    va_end(types);
    return number << 4 | params;
}

void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint32_t pages, uint32_t max_pages) {
    (void)max_pages;
    memory->data = calloc(pages, PAGE);
    memory->pages = memory->data == NULL ? 0 : pages;
    memory->size = memory->pages * PAGE;
    memory->depth = 0;
    memory->starved = false;
}

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t pages) {
    uint32_t before = memory->pages;
    uint8_t *data = pages > MAX_PAGES - before ? NULL : realloc(memory->data, (size_t)(before + pages) * PAGE);
    memory->starved = data == NULL;
    if (data == NULL) return UINT32_MAX;
    memset(data + memory->size, 0, (size_t)pages * PAGE);
    memory->data = data;
    memory->pages += pages;
    memory->size = memory->pages * PAGE;
    return before;
}

void wasm_rt_free_memory(wasm_rt_memory_t *memory) { free(memory->data); }

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t size, uint32_t max_size) {
    (void)max_size;
    table->data = calloc(size, sizeof *table->data);
    table->size = table->data == NULL ? 0 : size;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table) { free(table->data); }
