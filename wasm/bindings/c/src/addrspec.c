#include "addrspec.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "result.h"

/* What wasm2c calls the module's functions. */
#define CALL(name) Z_addrspecZ_addrspec_##name

/* The longest policy, the longest exchanges and the largest lists; the flag of word 0 that is disposable. */
enum { LONGEST_POLICY = 2665536, LONGEST_EXCHANGES = 64 << 10, LARGEST_LISTS = 4 << 20, DISPOSABLE = 1 << 5 };

struct addrspec_checker {
    Z_addrspec_instance_t module;
    bool started;
    uint32_t in, out, report;
    addrspec_record record;
    char *policy; /* a copy of the one that was used last, which the module does not evict, or NULL */
    size_t policy_length;
    u32 handle; /* of that policy */
    void *lists; /* a copy of those that replaced the module's own, for the next instance */
    size_t lists_size;
    char versions[256], decision[96];
    addrspec_verdict verdict;
    addrspec_code code;
    size_t offset; /* of what is wrong in a policy that was refused */
    char message[512]; /* longer than any: none repeats more than 40 bytes of a document */
};

/* A call of the module. Each returns an i32. */
struct call {
    addrspec_checker *checker;
    u32 (*one)(Z_addrspec_instance_t *, u32);
    u32 (*two)(Z_addrspec_instance_t *, u32, u32);
    u32 a, b;
    int32_t value;
};

static addrspec_code fail(addrspec_checker *c, addrspec_code code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->message, sizeof c->message, format, arguments);
    va_end(arguments);
    return c->code = code;
}

/* Types of functions are the same for all instances. */
__attribute__((constructor)) static void prepare(void) { Z_addrspec_init_module(); }

static void instantiate(void *argument) {
    addrspec_checker *c = argument;
    Z_addrspec_instantiate(&c->module);
    c->in = CALL(in_ptr)(&c->module);
    c->out = CALL(out_ptr)(&c->module);
    c->report = CALL(report_ptr)(&c->module);
}

static void discard(addrspec_checker *c) {
    Z_addrspec_free(&c->module);
    memset(&c->module, 0, sizeof c->module);
    free(c->policy);
    c->policy = NULL;
    c->started = false;
}

static void run(void *argument) {
    struct call *call = argument;
    Z_addrspec_instance_t *module = &call->checker->module;
    call->value = (int32_t)(call->one != NULL ? call->one(module, call->a) : call->two(module, call->a, call->b));
}

/* Discards an instance that trapped or reports a defect of its own. */
static addrspec_code defect(addrspec_checker *c, int trap) {
    bool starved = c->module.w2c_memory.starved;
    discard(c);
    if (starved) return fail(c, ADDRSPEC_ERROR_MEMORY, "there is no memory for the module");
    return fail(c, ADDRSPEC_ERROR_INTERNAL, "the module failed (%d); the next call starts another instance", trap);
}

static addrspec_code call(addrspec_checker *c, struct call *call) {
    enum { DEFECT = -3 };
    call->checker = c;
    int trap = addrspec_catch(run, call);
    return trap == 0 && call->value != DEFECT ? ADDRSPEC_OK : defect(c, trap);
}

static size_t output_limit(const addrspec_checker *c) { return c->module.w2c_memory.size - c->out; }

/* Calls a function of the module that returns the size of its output. */
static addrspec_code call_for_output(addrspec_checker *c, struct call *each) {
    addrspec_code code = call(c, each);
    if (code != ADDRSPEC_OK || (each->value >= 0 && (size_t)each->value <= output_limit(c))) return code;
    return defect(c, each->value);
}

/* Writes a piece to the input. */
static void put(addrspec_checker *c, const void *data, size_t length) {
    if (length > 0) memcpy(c->module.w2c_memory.data + c->in, data, length);
}

static const uint8_t *output(addrspec_checker *c) { return c->module.w2c_memory.data + c->out; }

/* Passes a document in pieces of the size of the input, and at last an empty one. */
static addrspec_code pass(addrspec_checker *c, struct call *each, const char *data, size_t length) {
    for (bool last = false; !last; data += each->a, length -= each->a) {
        each->a = length < ADDRSPEC_MAX_ADDRESS ? (u32)length : ADDRSPEC_MAX_ADDRESS;
        last = length == 0;
        put(c, data, each->a);
        addrspec_code code = call(c, each);
        if (code != ADDRSPEC_OK || each->value != 0) return code;
    }
    return ADDRSPEC_OK;
}

/* Fails with the sentence of the report. */
static addrspec_code refused(addrspec_checker *c, addrspec_code code, const char *what) {
    const uint8_t *report = c->module.w2c_memory.data + c->report;
    if (!addrspec_record_fits(report, 0, output_limit(c))) return defect(c, 0);
    addrspec_text sentence = addrspec_report_sentence(report, output(c));
    c->offset = addrspec_report_offset(report);
    return fail(c, code, "%s%.*s", what, (int)sentence.length, sentence.data);
}

static addrspec_code install(addrspec_checker *c, const void *blob, size_t size) {
    struct call lists = {.one = CALL(lists)};
    addrspec_code code = pass(c, &lists, blob, size);
    if (code != ADDRSPEC_OK || lists.value == 0) return code;
    return refused(c, ADDRSPEC_ERROR_LISTS, "the lists were refused: ");
}

/* Begins a call: there is an instance, and no error. */
static bool begin(addrspec_checker *c) {
    if (c == NULL) return false;
    c->code = ADDRSPEC_OK;
    c->offset = 0;
    c->message[0] = '\0';
    if (c->started) return true;
    c->record.known = false;
    if (addrspec_catch(instantiate, c) != 0) {
        discard(c);
        return fail(c, ADDRSPEC_ERROR_MEMORY, "there is no memory for an instance of the module"), false;
    }
    c->started = true;
    if (c->lists == NULL || install(c, c->lists, c->lists_size) == ADDRSPEC_OK) return true;
    discard(c); /* an instance with other lists must not be used */
    return false;
}

addrspec_checker *addrspec_new(void) {
    addrspec_checker *c = calloc(1, sizeof *c);
    if (c == NULL || begin(c)) return c;
    addrspec_free(c);
    return NULL;
}

void addrspec_free(addrspec_checker *c) {
    if (c == NULL) return;
    discard(c);
    addrspec_record_free(&c->record);
    free(c->lists);
    free(c);
}

/* Runs a check of the module, and returns the length of its JSON, or -1. */
static int32_t check(addrspec_checker *c, const void *address, size_t length, unsigned flags) {
    struct call each = {.two = CALL(check), .a = (u32)length, .b = flags};
    if (!begin(c)) return -1;
    c->record.known = false;
    if (address == NULL && length > 0) return fail(c, ADDRSPEC_ERROR_ARGUMENT, "the address is NULL"), -1;
    if (length > ADDRSPEC_MAX_ADDRESS) return fail(c, ADDRSPEC_ERROR_TOO_LONG, "the address has more than 1 MiB"), -1;
    if (flags > (ADDRSPEC_FULL_SUGGESTION | ADDRSPEC_DETAILS)) return fail(c, ADDRSPEC_ERROR_ARGUMENT, "the flags %u are not defined", flags), -1;
    put(c, address, length);
    return call_for_output(c, &each) == ADDRSPEC_OK ? each.value : -1;
}

const addrspec_result *addrspec_check(addrspec_checker *c, const void *address, size_t length, unsigned flags) {
    int32_t size = check(c, address, length, flags);
    if (size < 0) return NULL;
    const uint8_t *report = c->module.w2c_memory.data + c->report;
    if (!addrspec_record_fits(report, (size_t)size, output_limit(c))) return defect(c, 0), NULL;
    if (addrspec_record_read(&c->record, report, output(c), (size_t)size)) return &c->record.result;
    return fail(c, ADDRSPEC_ERROR_MEMORY, "there is no memory for the result"), NULL;
}

const char *addrspec_check_json(addrspec_checker *c, const void *address, size_t length, unsigned flags, size_t *json_length) {
    int32_t size = check(c, address, length, flags);
    if (size < 0) return NULL;
    *json_length = (size_t)size;
    return (const char *)output(c);
}

addrspec_code addrspec_check_many(addrspec_checker *c, const addrspec_address *addresses, size_t count, unsigned flags,
                                  addrspec_each *each, void *context) {
    if (!begin(c)) return addrspec_error_code(c);
    if (each == NULL || (addresses == NULL && count > 0)) return fail(c, ADDRSPEC_ERROR_ARGUMENT, "the addresses or the function is NULL");
    for (size_t n = 0; n < count; n++) {
        const addrspec_result *result = addrspec_check(c, addresses[n].data, addresses[n].length, flags);
        if (result == NULL) return c->code;
        if (!each(context, n, result)) break;
    }
    return ADDRSPEC_OK;
}

/* Loads a policy unless it is the one that was used last, and keeps a copy of its document. */
static addrspec_code load(addrspec_checker *c, const char *policy, size_t length) {
    struct call each = {.one = CALL(load_policy)};
    if (c->policy != NULL && c->policy_length == length && memcmp(c->policy, policy, length) == 0) return ADDRSPEC_OK;
    addrspec_code code = pass(c, &each, policy, length);
    if (code != ADDRSPEC_OK) return code;
    if (each.value < 0) return refused(c, ADDRSPEC_ERROR_POLICY, "");
    free(c->policy);
    c->policy = malloc(length);
    if (c->policy == NULL) return fail(c, ADDRSPEC_ERROR_MEMORY, "there is no memory for a policy");
    memcpy(c->policy, policy, length);
    c->policy_length = length;
    c->handle = (u32)each.value;
    return ADDRSPEC_OK;
}

/* Writes a text after its length, and returns where it ends. */
static uint8_t *put_record(uint8_t *at, const char *text, size_t length) {
    uint32_t size = (uint32_t)length;
    memcpy(at, &size, sizeof size);
    memcpy(at + sizeof size, text, length);
    return at + sizeof size + length;
}

/* Writes what a policy needs of the last check to the input, and returns how many bytes. An address that
   is not valid has no normal form, and needs none. */
static u32 put_subject(addrspec_checker *c, const addrspec_found *found) {
    const char *address = c->record.result.normalized == NULL ? "" : c->record.result.normalized;
    const char *name = found->exchanges == NULL ? "" : found->exchanges;
    uint32_t words[3] = {c->record.words[0] | (found->disposable ? (uint32_t)DISPOSABLE : 0), c->record.words[1],
                         (uint32_t)found->mx | (uint32_t)found->address_record << 2}, size;
    uint8_t *start = c->module.w2c_memory.data + c->in, *at = start + sizeof words;
    memcpy(start, words, sizeof words);
    at = put_record(at, c->record.result.host, strlen(c->record.result.host));
    at = put_record(at, address, strlen(address));
    uint8_t *exchanges = at + sizeof size, *end = exchanges;
    for (const char *next; *name != '\0'; name = next + (*next == ' ')) {
        next = strchr(name, ' ');
        if (next == NULL) next = name + strlen(name);
        if (next > name) end = put_record(end, name, (size_t)(next - name));
    }
    size = (uint32_t)(end - exchanges);
    memcpy(at, &size, sizeof size);
    return (u32)(end - start);
}

static bool defined(addrspec_known known) { return known == ADDRSPEC_UNKNOWN || known == ADDRSPEC_NO || known == ADDRSPEC_YES; }

/* Copies the verdict, which follows its length. */
static const addrspec_verdict *read_verdict(addrspec_checker *c, int32_t size) {
    static const char before[] = "{\"action\":\"";
    size_t length = (size_t)size - 4;
    if (size < (int32_t)sizeof before + 4 || length >= sizeof c->decision) return fail(c, ADDRSPEC_ERROR_INTERNAL, "addrspec_decide returned %d", (int)size), NULL;
    memcpy(c->decision, output(c) + 4, length);
    c->decision[length] = '\0';
    c->verdict = (addrspec_verdict){c->decision, c->decision[sizeof before - 1]};
    return &c->verdict;
}

const addrspec_verdict *addrspec_decide(addrspec_checker *c, const char *policy, size_t length, const addrspec_found *found) {
    static const addrspec_found nothing = {.mx = ADDRSPEC_UNKNOWN};
    struct call decide = {.two = CALL(decide)};
    if (!begin(c)) return NULL;
    if (found == NULL) found = &nothing;
    if (policy == NULL || !defined(found->mx) || !defined(found->address_record)) return fail(c, ADDRSPEC_ERROR_ARGUMENT, "the policy is NULL, or found has a value that is not defined"), NULL;
    if (!c->record.known) return fail(c, ADDRSPEC_ERROR_ARGUMENT, "there is no result to decide about: check an address first"), NULL;
    if (length > LONGEST_POLICY) return fail(c, ADDRSPEC_ERROR_POLICY, "the policy has more than %d bytes", LONGEST_POLICY), NULL;
    if (found->exchanges != NULL && strlen(found->exchanges) > LONGEST_EXCHANGES) return fail(c, ADDRSPEC_ERROR_TOO_LONG, "the exchanges have more than 64 KiB"), NULL;
    if (load(c, policy, length) != ADDRSPEC_OK) return NULL;
    decide.a = c->handle;
    decide.b = put_subject(c, found);
    return call_for_output(c, &decide) == ADDRSPEC_OK ? read_verdict(c, decide.value) : NULL;
}

addrspec_code addrspec_load_lists(addrspec_checker *c, const void *blob, size_t size) {
    if (!begin(c)) return addrspec_error_code(c);
    if (blob == NULL || size == 0) return fail(c, ADDRSPEC_ERROR_ARGUMENT, "the lists are empty");
    if (size > LARGEST_LISTS) return fail(c, ADDRSPEC_ERROR_LISTS, "the lists are larger than 4 MiB");
    void *copy = malloc(size);
    if (copy == NULL) return fail(c, ADDRSPEC_ERROR_MEMORY, "there is no memory for the lists");
    memcpy(copy, blob, size);
    if (install(c, blob, size) != ADDRSPEC_OK) return free(copy), c->code;
    free(c->lists);
    c->lists = copy;
    c->lists_size = size;
    return ADDRSPEC_OK;
}

static u32 info(Z_addrspec_instance_t *module, u32 unused) {
    (void)unused;
    return CALL(info)(module);
}

const char *addrspec_versions(addrspec_checker *c) {
    struct call versions = {.one = info};
    if (!begin(c) || call_for_output(c, &versions) != ADDRSPEC_OK) return NULL;
    snprintf(c->versions, sizeof c->versions, "%.*s", (int)versions.value, (const char *)output(c));
    return c->versions;
}

addrspec_code addrspec_error_code(const addrspec_checker *c) { return c == NULL ? ADDRSPEC_ERROR_MEMORY : c->code; }

const char *addrspec_error_message(const addrspec_checker *c) { return c == NULL ? "there is no memory for a checker" : c->message; }

size_t addrspec_error_offset(const addrspec_checker *c) { return c == NULL ? 0 : c->offset; }
