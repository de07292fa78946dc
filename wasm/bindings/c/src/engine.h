/* wasmtime: the compiled module. */
#ifndef ADDRSPEC_ENGINE_H
#define ADDRSPEC_ENGINE_H

#include <wasmtime.h>

#include "addrspec.h"

typedef struct addrspec_engine {
    wasm_engine_t *engine;
    wasmtime_module_t *module;
} addrspec_engine;

/* Compiles the module of the options or the one inside. Free it even after an error. */
addrspec_code addrspec_engine_new(addrspec_engine *engine, const addrspec_options *options, addrspec_error *error);
void addrspec_engine_free(addrspec_engine *engine);

/* Converts wasmtime's error or trap, and frees it. Both may be NULL: ADDRSPEC_OK. */
addrspec_code addrspec_engine_result(wasmtime_error_t *failure, wasm_trap_t *trap, addrspec_error *error);

#endif
