/*
 * The runtime that the C of wasm2c asks for: memory, tables and traps of one module without
 * imports. wasm2c's own keeps its state in variables of the process and takes over the
 * signal SIGSEGV, which a library must leave to its host; this one has a pointer of the
 * thread, and everything else in the checker.
 */
#ifndef ADDRSPEC_WASM_RT_H
#define ADDRSPEC_WASM_RT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "addrspec: numbers of WebAssembly are little-endian, and src/ copies them unchanged"
#endif
#if defined(__FAST_MATH__) || (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0)
#error "addrspec: the gibberish score needs IEEE 754: compile without -ffast-math and, on x86, with -msse2 -mfpmath=sse"
#endif

/* Names that no other library with a runtime of wasm2c has. */
#define wasm_rt_trap addrspec_rt_trap
#define wasm_rt_register_func_type addrspec_rt_register_func_type
#define wasm_rt_allocate_memory addrspec_rt_allocate_memory
#define wasm_rt_grow_memory addrspec_rt_grow_memory
#define wasm_rt_free_memory addrspec_rt_free_memory
#define wasm_rt_allocate_funcref_table addrspec_rt_allocate_funcref_table
#define wasm_rt_free_funcref_table addrspec_rt_free_funcref_table

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define wasm_rt_memcpy memcpy

/* Every access compares its place with the size of the memory; README.md has what it costs. */
#define WASM_RT_MEMCHECK_SIGNAL_HANDLER 0

/* Calls within calls are counted beside the memory, so that a trap ends a recursion before
   the thread's stack does. */
#define WASM_RT_USE_STACK_DEPTH_COUNT 1
#define WASM_RT_MAX_CALL_STACK_DEPTH 200
#define wasm_rt_call_stack_depth (instance->w2c_memory.depth)

/* The causes of a trap in the specification of WebAssembly. */
typedef enum wasm_rt_trap_t {
    WASM_RT_TRAP_OOB = 1,
    WASM_RT_TRAP_INT_OVERFLOW,
    WASM_RT_TRAP_DIV_BY_ZERO,
    WASM_RT_TRAP_INVALID_CONVERSION,
    WASM_RT_TRAP_UNREACHABLE,
    WASM_RT_TRAP_CALL_INDIRECT,
    WASM_RT_TRAP_EXHAUSTION
} wasm_rt_trap_t;

typedef enum wasm_rt_type_t { WASM_RT_I32, WASM_RT_I64, WASM_RT_F32, WASM_RT_F64 } wasm_rt_type_t;

typedef void (*wasm_rt_function_ptr_t)(void);

/* An entry of a table: a function, its type, and the instance that it is of. */
typedef struct wasm_rt_funcref_t {
    uint32_t func_type;
    wasm_rt_function_ptr_t func;
    void *module_instance;
} wasm_rt_funcref_t;

typedef struct wasm_rt_funcref_table_t {
    wasm_rt_funcref_t *data;
    uint32_t size;
} wasm_rt_funcref_table_t;

/* wasm2c writes a function about these tables, which the module does not have. */
typedef void *wasm_rt_externref_t;
typedef struct wasm_rt_externref_table_t {
    wasm_rt_externref_t *data;
    uint32_t size;
} wasm_rt_externref_table_t;
#define wasm_rt_externref_null_value NULL

/* The memory: size bytes at data, or none; whether it could not grow. */
typedef struct wasm_rt_memory_t {
    uint8_t *data;
    uint32_t size, pages, depth;
    bool starved;
} wasm_rt_memory_t;

/* Ends the call of addrspec_catch in this thread. */
_Noreturn void wasm_rt_trap(wasm_rt_trap_t cause);

/* Returns a number for a type, the same for the same type. */
uint32_t wasm_rt_register_func_type(uint32_t params, uint32_t results, ...);

void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint32_t pages, uint32_t max_pages);
uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t pages);
void wasm_rt_free_memory(wasm_rt_memory_t *memory);
void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t size, uint32_t max_size);
void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table);

static inline bool wasm_rt_is_initialized(void) { return true; }

/* Calls a function, and returns 0, or the cause of the trap that ended it. The module imports
   nothing, so no call is inside another. */
int addrspec_catch(void (*function)(void *), void *argument);

#endif
