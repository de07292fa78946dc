#include "engine.h"

#include <stdint.h>

#include "fail.h"

/* In module.S. */
extern const uint8_t addrspec_module[], addrspec_module_end[];

addrspec_code addrspec_engine_result(wasmtime_error_t *failure, wasm_trap_t *trap, addrspec_error *error) {
    wasm_byte_vec_t message;
    if (failure == NULL && trap == NULL) return ADDRSPEC_OK;
    if (failure != NULL) {
        wasmtime_error_message(failure, &message);
        wasmtime_error_delete(failure);
    } else {
        wasm_trap_message(trap, &message);
    }
    if (trap != NULL) wasm_trap_delete(trap);
    int length = message.size < 200 ? (int)message.size : 200;
    addrspec_fail(error, ADDRSPEC_ERROR_ENGINE, "the engine failed: %.*s", length, message.data);
    wasm_byte_vec_delete(&message);
    return ADDRSPEC_ERROR_ENGINE;
}

/* Makes wasmtime keep machine code in the user's cache directory, by digests of the module and
   wasmtime's version. Without such a directory it compiles at each start. */
static void use_cache(wasm_config_t *config) {
#ifdef WASMTIME_FEATURE_CACHE
    wasmtime_error_t *failure = wasmtime_config_cache_config_load(config, NULL);
    if (failure != NULL) wasmtime_error_delete(failure);
#else
    (void)config;
#endif
}

addrspec_code addrspec_engine_new(addrspec_engine *engine, const addrspec_options *options, addrspec_error *error) {
    const uint8_t *wasm = options->module != NULL ? options->module : addrspec_module;
    size_t size = options->module != NULL ? options->module_size : (size_t)(addrspec_module_end - addrspec_module);
    wasm_config_t *config = wasm_config_new();
    if (config == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_ENGINE, "wasmtime gave no configuration");
    if (!options->no_cache) use_cache(config);
    engine->engine = wasm_engine_new_with_config(config);
    if (engine->engine == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_ENGINE, "wasmtime gave no engine");
    return addrspec_engine_result(wasmtime_module_new(engine->engine, wasm, size, &engine->module), NULL, error);
}

void addrspec_engine_free(addrspec_engine *engine) {
    if (engine->module != NULL) wasmtime_module_delete(engine->module);
    if (engine->engine != NULL) wasm_engine_delete(engine->engine);
}
