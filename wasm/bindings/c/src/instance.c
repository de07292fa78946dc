#include "instance.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "json.h"

/* The major version of the interface. */
enum { MAJOR = 2 };

/* A flag of addrspec_check_many: each result comes with its report. */
enum { REPORTS = 4 };

/* How much of the input a call fills, unless a single address is longer. With so much the
   costs of a call no longer matter, and the results are still in the processor's cache. */
enum { PIECE = 16 << 10, PREFIX = 4 };

/* How many policies an instance has; the bit of word 0 of the report that is disposable; and
   the bytes before the host text of a subject. */
enum { SLOTS = 16, DISPOSABLE = 1 << 5, SUBJECT = 16 };

/* A policy in a slot, and when it was used. data is NULL if there is none. */
struct slot {
    char *data;
    size_t length;
    uint64_t used;
};

struct addrspec_instance {
    wasmtime_store_t *store;
    wasmtime_context_t *context;
    wasmtime_instance_t instance;
    wasmtime_memory_t memory;
    wasmtime_func_t check, many, info, lists, policy, verdict;
    bool policies; /* since interface 2.2 */
    struct slot slots[SLOTS];
    uint64_t clock;
    uint32_t in, capacity, out, report;
};

static addrspec_code find(addrspec_instance *i, const char *name, wasmtime_extern_kind_t kind, wasmtime_extern_t *found,
                          addrspec_error *error) {
    if (wasmtime_instance_export_get(i->context, &i->instance, name, strlen(name), found)) {
        if (found->kind == kind) return ADDRSPEC_OK;
        wasmtime_extern_delete(found);
    }
    return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "the module does not export %s", name);
}

static addrspec_code find_function(addrspec_instance *i, const char *name, wasmtime_func_t *function, addrspec_error *error) {
    wasmtime_extern_t found;
    addrspec_code code = find(i, name, WASMTIME_EXTERN_FUNC, &found, error);
    if (code == ADDRSPEC_OK) *function = found.of.func;
    return code;
}

/* Calls a function with up to two i32 parameters and an i32 result. */
static addrspec_code call(addrspec_instance *i, const wasmtime_func_t *function, size_t count, size_t a, size_t b,
                          int32_t *value, addrspec_error *error) {
    wasmtime_val_t params[2], result;
    wasm_trap_t *trap = NULL;
    params[0].kind = params[1].kind = WASMTIME_I32;
    params[0].of.i32 = (int32_t)a;
    params[1].of.i32 = (int32_t)b;
    wasmtime_error_t *failure = wasmtime_func_call(i->context, function, params, count, &result, 1, &trap);
    addrspec_code code = addrspec_engine_result(failure, trap, error);
    if (code == ADDRSPEC_OK) *value = result.of.i32;
    return code;
}

/* Returns what an export without parameters returns. */
static addrspec_code constant(addrspec_instance *i, const char *name, uint32_t *value, addrspec_error *error) {
    wasmtime_func_t function;
    int32_t result;
    addrspec_code code = find_function(i, name, &function, error);
    if (code == ADDRSPEC_OK) code = call(i, &function, 0, 0, 0, &result, error);
    if (code == ADDRSPEC_OK) *value = (uint32_t)result;
    return code;
}

static addrspec_code version(addrspec_instance *i, addrspec_error *error) {
    uint32_t value;
    addrspec_code code = constant(i, "addrspec_abi_version", &value, error);
    if (code != ADDRSPEC_OK) return code;
    if (value >> 16 == MAJOR) return ADDRSPEC_OK;
    return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "the module's interface has version %u.%u; this library needs %d",
                         (unsigned)(value >> 16), (unsigned)(value & 0xffff), MAJOR);
}

static addrspec_code find_buffers(addrspec_instance *i, addrspec_error *error) {
    const struct {
        const char *name;
        uint32_t *value;
    } all[] = {{"addrspec_in_ptr", &i->in},
               {"addrspec_in_cap", &i->capacity},
               {"addrspec_out_ptr", &i->out},
               {"addrspec_report_ptr", &i->report}};
    addrspec_code code = ADDRSPEC_OK;
    for (size_t n = 0; code == ADDRSPEC_OK && n < sizeof all / sizeof all[0]; n++) {
        code = constant(i, all[n].name, all[n].value, error);
    }
    return code;
}

static addrspec_code find_exports(addrspec_instance *i, addrspec_error *error) {
    wasmtime_extern_t memory;
    addrspec_code code = find(i, "memory", WASMTIME_EXTERN_MEMORY, &memory, error);
    if (code != ADDRSPEC_OK) return code;
    i->memory = memory.of.memory;
    code = find_function(i, "addrspec_check", &i->check, error);
    if (code == ADDRSPEC_OK) code = find_function(i, "addrspec_info", &i->info, error);
    if (code == ADDRSPEC_OK) code = find_function(i, "addrspec_lists", &i->lists, error);
    if (code == ADDRSPEC_OK) code = find_function(i, "addrspec_check_many", &i->many, error);
    if (code != ADDRSPEC_OK) return code;
    i->policies = find_function(i, "addrspec_policy", &i->policy, NULL) == ADDRSPEC_OK &&
                  find_function(i, "addrspec_verdict", &i->verdict, NULL) == ADDRSPEC_OK;
    return ADDRSPEC_OK;
}

/* The module has no imports. */
static addrspec_code start(addrspec_instance *i, const addrspec_engine *engine, addrspec_error *error) {
    wasm_trap_t *trap = NULL;
    i->store = wasmtime_store_new(engine->engine, NULL, NULL);
    if (i->store == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_ENGINE, "wasmtime gave no store");
    i->context = wasmtime_store_context(i->store);
    wasmtime_error_t *failure = wasmtime_instance_new(i->context, engine->module, NULL, 0, &i->instance, &trap);
    addrspec_code code = addrspec_engine_result(failure, trap, error);
    if (code == ADDRSPEC_OK) code = version(i, error);
    if (code == ADDRSPEC_OK) code = find_buffers(i, error);
    if (code == ADDRSPEC_OK) code = find_exports(i, error);
    return code;
}

addrspec_instance *addrspec_instance_new(const addrspec_engine *engine, addrspec_error *error) {
    addrspec_instance *i = calloc(1, sizeof *i);
    if (i == NULL) {
        addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for an instance");
        return NULL;
    }
    if (start(i, engine, error) == ADDRSPEC_OK) return i;
    addrspec_instance_free(i);
    return NULL;
}

void addrspec_instance_free(addrspec_instance *i) {
    if (i == NULL) return;
    if (i->store != NULL) wasmtime_store_delete(i->store);
    for (int n = 0; n < SLOTS; n++) free(i->slots[n].data);
    free(i);
}

/* Returns the length bytes of the module's memory at offset, or NULL if they are outside. A
   call may move the memory: get the address again after each. */
static uint8_t *view(addrspec_instance *i, uint32_t offset, size_t length) {
    size_t size = wasmtime_memory_data_size(i->context, &i->memory);
    if (offset > size || length > size - offset) return NULL;
    return wasmtime_memory_data(i->context, &i->memory) + offset;
}

static addrspec_code outside(addrspec_error *error) {
    return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "a pointer of the module is outside its memory");
}

static addrspec_code returned(const char *function, int32_t value, addrspec_error *error) {
    return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "%s returned %d", function, (int)value);
}

/* Returns the report, and all memory after the output's beginning. */
static addrspec_code read_report(addrspec_instance *i, size_t json_length, addrspec_record *record, addrspec_error *error) {
    const uint8_t *report = view(i, i->report, 4 * ADDRSPEC_WORDS), *json = view(i, i->out, json_length);
    if (report == NULL || json == NULL) return outside(error);
    record->data = json;
    record->json_length = json_length;
    record->size = wasmtime_memory_data_size(i->context, &i->memory) - i->out;
    addrspec_read_words(record, report);
    return ADDRSPEC_OK;
}

addrspec_code addrspec_instance_check(addrspec_instance *i, const void *address, size_t length, unsigned flags,
                                      addrspec_record *record, addrspec_error *error) {
    uint8_t *in = view(i, i->in, length);
    int32_t size;
    if (in == NULL || length > i->capacity) return outside(error);
    if (length > 0) memcpy(in, address, length);
    addrspec_code code = call(i, &i->check, 2, length, flags, &size, error);
    if (code != ADDRSPEC_OK) return code;
    if (size < 0) return returned("addrspec_check", size, error);
    return read_report(i, (size_t)size, record, error);
}

bool addrspec_instance_fits_many(const addrspec_instance *i, size_t length) {
    return length + PREFIX <= i->capacity;
}

/* Writes addresses, each after its length, and returns how many bytes: at least those of
   the first one, which must fit. */
static size_t fill(const addrspec_instance *i, uint8_t *in, const addrspec_text *addresses, size_t count) {
    size_t filled = 0;
    for (size_t n = 0; n < count; n++) {
        size_t length = addresses[n].length, end = filled + PREFIX + length;
        if (end > i->capacity || (filled > 0 && end > PIECE)) break;
        for (int byte = 0; byte < PREFIX; byte++) in[filled + (size_t)byte] = (uint8_t)(length >> 8 * byte);
        if (length > 0) memcpy(in + filled + PREFIX, addresses[n].data, length);
        filled = end;
    }
    return filled;
}

addrspec_code addrspec_instance_check_many(addrspec_instance *i, const addrspec_text *addresses, size_t count, unsigned flags,
                                           uint8_t **output, size_t *size, addrspec_error *error) {
    uint8_t *in = view(i, i->in, i->capacity);
    int32_t written;
    if (in == NULL) return outside(error);
    addrspec_code code = call(i, &i->many, 2, fill(i, in, addresses, count), flags | REPORTS, &written, error);
    if (code != ADDRSPEC_OK) return code;
    if (written < 0) return returned("addrspec_check_many", written, error);
    *size = (size_t)written;
    const uint8_t *out = view(i, i->out, *size);
    if (out == NULL) return outside(error);
    *output = malloc(*size + 1);
    if (*output == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for the results");
    memcpy(*output, out, *size);
    return ADDRSPEC_OK;
}

/* Returns the sentence of the report as an error, after what was refused. */
static addrspec_code refused(addrspec_instance *i, addrspec_code why, const char *what, addrspec_error *error) {
    const uint8_t *report = view(i, i->report, 4 * ADDRSPEC_WORDS);
    if (report == NULL) return outside(error);
    uint32_t at = addrspec_word(report + 4 * 17), length = addrspec_word(report + 4 * 18);
    const uint8_t *sentence = at <= UINT32_MAX - i->out ? view(i, i->out + at, length) : NULL;
    if (sentence == NULL) return outside(error);
    return addrspec_fail(error, why, "%s%.*s", what, length < 256 ? (int)length : 256, (const char *)sentence);
}

/* Passes a piece of lists; the empty one installs them. */
static addrspec_code pass(addrspec_instance *i, const uint8_t *piece, size_t length, addrspec_error *error) {
    uint8_t *in = view(i, i->in, length);
    int32_t result;
    if (in == NULL) return outside(error);
    if (length > 0) memcpy(in, piece, length);
    addrspec_code code = call(i, &i->lists, 1, length, 0, &result, error);
    if (code != ADDRSPEC_OK) return code;
    if (result == -4) return refused(i, ADDRSPEC_ERROR_LISTS, "the lists were refused: ", error);
    if (result == -5) return addrspec_fail(error, ADDRSPEC_ERROR_LISTS, "the lists were refused: the lists are larger than 4 MiB");
    return result == 0 ? ADDRSPEC_OK : returned("addrspec_lists", result, error);
}

addrspec_code addrspec_instance_set_lists(addrspec_instance *i, const void *blob, size_t size, addrspec_error *error) {
    const uint8_t *bytes = blob;
    addrspec_code code = ADDRSPEC_OK;
    if (i->capacity == 0) return outside(error);
    for (size_t at = 0; code == ADDRSPEC_OK && at < size; at += i->capacity) {
        code = pass(i, bytes + at, size - at < i->capacity ? size - at : i->capacity, error);
    }
    return code == ADDRSPEC_OK ? pass(i, NULL, 0, error) : code;
}

/* Passes a piece of a policy; the empty one installs it. */
static addrspec_code pass_policy(addrspec_instance *i, size_t slot, const char *piece, size_t length, addrspec_error *error) {
    uint8_t *in = view(i, i->in, length);
    int32_t result;
    if (in == NULL) return outside(error);
    if (length > 0) memcpy(in, piece, length);
    addrspec_code code = call(i, &i->policy, 2, slot, length, &result, error);
    if (code != ADDRSPEC_OK) return code;
    if (result == -7) return refused(i, ADDRSPEC_ERROR_POLICY, "", error);
    return result == 0 ? ADDRSPEC_OK : returned("addrspec_policy", result, error);
}

/* Loads a policy into a slot, which then keeps a copy of its document. */
static addrspec_code load(addrspec_instance *i, size_t slot, addrspec_text policy, addrspec_error *error) {
    addrspec_code code = ADDRSPEC_OK;
    free(i->slots[slot].data);
    i->slots[slot].data = NULL;
    if (!i->policies) return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "the module has no policies; take one of interface 2.2 or later");
    if (i->capacity == 0) return outside(error);
    for (size_t at = 0; code == ADDRSPEC_OK && at < policy.length; at += i->capacity) {
        code = pass_policy(i, slot, policy.data + at, policy.length - at < i->capacity ? policy.length - at : i->capacity, error);
    }
    if (code == ADDRSPEC_OK) code = pass_policy(i, slot, NULL, 0, error);
    if (code != ADDRSPEC_OK) return code;
    i->slots[slot].data = malloc(policy.length);
    if (i->slots[slot].data == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for a policy");
    memcpy(i->slots[slot].data, policy.data, policy.length);
    i->slots[slot].length = policy.length;
    return ADDRSPEC_OK;
}

/* Finds the slot of a policy, which replaces the one that was used least recently. */
static addrspec_code find_slot(addrspec_instance *i, addrspec_text policy, size_t *slot, addrspec_error *error) {
    addrspec_code code = ADDRSPEC_OK;
    size_t least = 0;
    for (*slot = 0; *slot < SLOTS; ++*slot) {
        const struct slot *s = &i->slots[*slot];
        if (s->data != NULL && s->length == policy.length && memcmp(s->data, policy.data, policy.length) == 0) break;
        if (s->used < i->slots[least].used) least = *slot;
    }
    if (*slot == SLOTS) code = load(i, *slot = least, policy, error);
    i->slots[*slot].used = code == ADDRSPEC_OK ? ++i->clock : 0;
    return code;
}

static void put_word(uint8_t *at, size_t word) {
    for (int byte = 0; byte < 4; byte++) at[byte] = (uint8_t)(word >> 8 * byte);
}

/* Writes what a policy needs of a check to the input, and returns how many bytes, or 0. */
static size_t write_subject(addrspec_instance *i, const addrspec_record *record, const addrspec_found *found) {
    size_t at = record->words[9], length = record->words[10];
    uint8_t *in = view(i, i->in, i->capacity);
    if (in == NULL || at > record->size || length > record->size - at || SUBJECT + length > i->capacity) return 0;
    put_word(in, record->words[0] | (found->disposable ? (uint32_t)DISPOSABLE : 0));
    put_word(in + 4, record->words[1]);
    put_word(in + 8, (size_t)found->mx | (size_t)found->address_record << 2);
    put_word(in + 12, length);
    memcpy(in + SUBJECT, record->data + at, length);
    return SUBJECT + length;
}

/* Copies the verdict after its length. */
static addrspec_code read_verdict(addrspec_instance *i, int32_t size, addrspec_verdict *verdict, addrspec_error *error) {
    static const char before[] = "{\"action\":\"";
    size_t length = (size_t)size - PREFIX;
    const uint8_t *out = size <= PREFIX ? NULL : view(i, i->out, (size_t)size);
    if (out == NULL || length >= sizeof verdict->json || length <= sizeof before) return returned("addrspec_verdict", size, error);
    memcpy(verdict->json, out + PREFIX, length);
    verdict->json[length] = '\0';
    verdict->action = verdict->json[sizeof before - 1];
    return ADDRSPEC_OK;
}

addrspec_code addrspec_instance_decide(addrspec_instance *i, const void *address, size_t length, addrspec_text policy,
                                       const addrspec_found *found, addrspec_verdict *verdict, addrspec_error *error) {
    addrspec_record record;
    size_t slot;
    int32_t size;
    addrspec_code code = find_slot(i, policy, &slot, error);
    if (code == ADDRSPEC_OK) code = addrspec_instance_check(i, address, length, 0, &record, error);
    if (code != ADDRSPEC_OK) return code;
    size_t subject = write_subject(i, &record, found);
    if (subject == 0) return outside(error);
    code = call(i, &i->verdict, 2, slot, subject, &size, error);
    return code == ADDRSPEC_OK ? read_verdict(i, size, verdict, error) : code;
}

/* Reads a member of the info whose value has less than size bytes, without an escape. */
static bool read_version(addrspec_json *json, const char *name, char *value, size_t size) {
    addrspec_text text;
    if (!addrspec_json_literal(json, name) || json->at == json->end) return false;
    const char *close = memchr(json->at + 1, '"', (size_t)(json->end - json->at) - 1);
    if (close == NULL || (size_t)(close - json->at) > size) return false;
    addrspec_json member = {json->at, close + 1, value};
    json->at = close + 1;
    return addrspec_json_text(&member, &text) && member.at == member.end;
}

addrspec_code addrspec_instance_versions(addrspec_instance *i, addrspec_versions *versions, addrspec_error *error) {
    int32_t size;
    addrspec_code code = call(i, &i->info, 0, 0, 0, &size, error);
    if (code != ADDRSPEC_OK) return code;
    if (size < 0) return returned("addrspec_info", size, error);
    const char *info = (const char *)view(i, i->out, (size_t)size);
    if (info == NULL) return outside(error);
    addrspec_json json = {info, info + size, NULL};
    if (read_version(&json, "{\"engine\":", versions->engine, sizeof versions->engine) &&
        read_version(&json, ",\"lists\":", versions->lists, sizeof versions->lists) &&
        read_version(&json, ",\"model\":", versions->model, sizeof versions->model)) return ADDRSPEC_OK;
    return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "addrspec_info is not as expected");
}
