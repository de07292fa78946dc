/*
 * Checks email addresses with addrspec.wasm and wasmtime's C API:
 *
 *     cc -o addrspec-host addrspec.c -I WASMTIME/include -L WASMTIME/lib -lwasmtime -lpthread -ldl -lm
 *     ./addrspec-host addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS...]
 *
 * It prints one line of JSON for each address: its arguments or, without any, the
 * lines of standard input. With -0, addresses in the input end with a zero byte
 * instead; with -d, results have the member details; with -l, the lists are those of a
 * newer lists.blob, whose signature minisign verifies. wasm/ABI.md specifies the
 * interface. getdelim needs POSIX.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <wasmtime.h>

enum { ABI_MAJOR = 1 };
/* Flags: typo_suggestion is the whole address; the result has the member details,
   the evidence for it (interface 1.1). */
enum { FULL_SUGGESTION = 1, DETAILS = 2 };

/* One instance of the module. Only one thread may use it at a time. */
struct checker {
    wasmtime_store_t *store;
    wasmtime_context_t *context;
    wasmtime_memory_t memory;
    wasmtime_func_t check, lists;
    uint32_t in, capacity, out, report;
};

static void die(const char *why) {
    fprintf(stderr, "addrspec-host: %s\n", why);
    exit(1);
}

/* Exits if wasmtime reports an error or a trap. A server would discard the store
   instead and start a new one. */
static void succeed(wasmtime_error_t *error, wasm_trap_t *trap) {
    wasm_byte_vec_t message;
    if (error == NULL && trap == NULL) return;
    if (error != NULL) wasmtime_error_message(error, &message);
    else wasm_trap_message(trap, &message);
    fprintf(stderr, "addrspec-host: %.*s\n", (int)message.size, message.data);
    exit(1);
}

static wasmtime_extern_t export(struct checker *c, wasmtime_instance_t *instance, const char *name) {
    wasmtime_extern_t found;
    if (!wasmtime_instance_export_get(c->context, instance, name, strlen(name), &found)) die(name);
    return found;
}

/* Calls a function with up to two i32 parameters and an i32 result. */
static int32_t call(struct checker *c, wasmtime_func_t function, size_t count, int32_t a, int32_t b) {
    wasmtime_val_t params[2] = {{.kind = WASMTIME_I32, .of.i32 = a}, {.kind = WASMTIME_I32, .of.i32 = b}};
    wasmtime_val_t result;
    wasm_trap_t *trap = NULL;
    succeed(wasmtime_func_call(c->context, &function, params, count, &result, 1, &trap), trap);
    return result.of.i32;
}

static uint32_t get(struct checker *c, wasmtime_instance_t *instance, const char *name) {
    return (uint32_t)call(c, export(c, instance, name).of.func, 0, 0, 0);
}

/* Starts an instance. The module has no imports. */
static void start(struct checker *c, wasm_engine_t *engine, const wasmtime_module_t *module) {
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    c->store = wasmtime_store_new(engine, NULL, NULL);
    c->context = wasmtime_store_context(c->store);
    succeed(wasmtime_instance_new(c->context, module, NULL, 0, &instance, &trap), trap);
    if (get(c, &instance, "addrspec_abi_version") >> 16 != ABI_MAJOR) die("the module has another interface version");
    c->memory = export(c, &instance, "memory").of.memory;
    c->check = export(c, &instance, "addrspec_check").of.func;
    c->lists = export(c, &instance, "addrspec_lists").of.func;
    c->in = get(c, &instance, "addrspec_in_ptr");
    c->capacity = get(c, &instance, "addrspec_in_cap");
    c->out = get(c, &instance, "addrspec_out_ptr");
    c->report = get(c, &instance, "addrspec_report_ptr");
}

/* Prints the result for one address, a JSON object. */
static void check(struct checker *c, const char *address, size_t length, int32_t flags) {
    if (length > c->capacity) die("the address is longer than the input buffer");
    memcpy(wasmtime_memory_data(c->context, &c->memory) + c->in, address, length);
    int32_t size = call(c, c->check, 2, (int32_t)length, flags);
    if (size < 0) die("addrspec_check failed");
    /* The call may have moved the memory: get its address again. */
    fwrite(wasmtime_memory_data(c->context, &c->memory) + c->out, 1, (size_t)size, stdout);
    putchar('\n');
}

/* Checks the addresses in standard input. */
static void check_all(struct checker *c, bool zero, int32_t flags) {
    char *line = NULL;
    size_t size = 0;
    int end = zero ? '\0' : '\n';
    for (ssize_t length; (length = getdelim(&line, &size, end, stdin)) > 0;) {
        if (line[length - 1] == end) length--;
        if (!zero && length > 0 && line[length - 1] == '\r') length--;
        if (length > 0) check(c, line, (size_t)length, flags);
    }
    free(line);
}

/* Returns the bytes of a file, which the caller frees. */
static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) die("a file cannot be read");
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1); /* of an empty file, too */
    if (bytes == NULL || fread(bytes, 1, *size, file) != *size) die("a file cannot be read");
    fclose(file);
    return bytes;
}

/* Exits with the sentence of the report, which says why the module refused lists. */
static void die_of_report(struct checker *c) {
    const uint8_t *memory = wasmtime_memory_data(c->context, &c->memory);
    const uint8_t *words = memory + c->report + 11 * 4;
    uint32_t at = 0, size = 0;
    for (int n = 3; n >= 0; n--) {
        at = at << 8 | words[n];
        size = size << 8 | words[4 + n];
    }
    fprintf(stderr, "addrspec-host: %.*s\n", (int)size, (const char *)memory + c->out + at);
    exit(1);
}

/* Passes a piece of lists to the module; the empty piece installs them. A server
   would continue with its lists if the module refuses them. */
static void pass_lists(struct checker *c, const uint8_t *piece, size_t length) {
    if (length > 0) memcpy(wasmtime_memory_data(c->context, &c->memory) + c->in, piece, length);
    int32_t code = call(c, c->lists, 1, (int32_t)length, 0);
    if (code == -4) die_of_report(c);
    if (code == -5) die("the lists are larger than 4 MiB");
    if (code < 0) die("addrspec_lists failed");
}

/* Replaces the lists by those in a file. */
static void set_lists(struct checker *c, const char *path) {
    size_t size;
    uint8_t *blob = read_file(path, &size);
    for (size_t at = 0; at < size; at += c->capacity) {
        pass_lists(c, blob + at, size - at < c->capacity ? size - at : c->capacity);
    }
    pass_lists(c, NULL, 0);
    free(blob);
}

static wasmtime_module_t *compile(wasm_engine_t *engine, const char *path) {
    size_t size;
    uint8_t *wasm = read_file(path, &size);
    wasmtime_module_t *module = NULL;
    succeed(wasmtime_module_new(engine, wasm, size, &module), NULL);
    free(wasm);
    return module;
}

int main(int count, char **args) {
    if (count < 2) die("usage: addrspec-host addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS...]");
    wasm_engine_t *engine = wasm_engine_new();
    wasmtime_module_t *module = compile(engine, args[1]);
    struct checker c;
    start(&c, engine, module);

    bool zero = false;
    int32_t flags = 0;
    int first = 2;
    for (; first < count; first++) {
        if (strcmp(args[first], "-0") == 0) zero = true;
        else if (strcmp(args[first], "-d") == 0) flags |= DETAILS;
        else if (strcmp(args[first], "-l") == 0 && first + 1 < count) set_lists(&c, args[++first]);
        else break;
    }
    for (int n = first; n < count; n++) check(&c, args[n], strlen(args[n]), flags);
    if (first >= count) check_all(&c, zero, flags);

    wasmtime_store_delete(c.store);
    wasmtime_module_delete(module);
    wasm_engine_delete(engine);
    return fflush(stdout) == 0 ? 0 : 1;
}
