/*
 * addrspec for SQLite: functions about email addresses.
 *
 *     .load ./addrspec
 *     SELECT addrspec_valid('jane@example.org'), addrspec('jane@hotmial.com') ->> 'typo_suggestion';
 *
 * README.md describes the functions. Each connection has a checker, made at first use. SQLite
 * lets one thread at a time use a connection, so the checker needs no lock.
 */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <stdbool.h>
#include <string.h>

#include "addrspec.h"

/* Flags of later versions of SQLite, which earlier ones ignore. */
#ifndef SQLITE_INNOCUOUS
#define SQLITE_INNOCUOUS 0x000200000
#endif
#ifndef SQLITE_DIRECTONLY
#define SQLITE_DIRECTONLY 0x000080000
#endif
#ifndef SQLITE_RESULT_SUBTYPE
#define SQLITE_RESULT_SUBTYPE 0x001000000
#endif

/* What SQLite's functions of JSON call JSON. */
enum { JSON = 'J' };

/* What a connection has. */
typedef struct connection {
    addrspec_checker *checker;
    int functions; /* how many of them use this */
} connection;

static void release(void *data) {
    connection *c = data;
    if (--c->functions > 0) return;
    addrspec_free(c->checker);
    sqlite3_free(c);
}

/* Returns the checker, or NULL after an error. */
static addrspec_checker *get_checker(sqlite3_context *context) {
    connection *c = sqlite3_user_data(context);
    if (c->checker == NULL) c->checker = addrspec_new();
    if (c->checker == NULL) sqlite3_result_error_nomem(context);
    return c->checker;
}

static void fail(sqlite3_context *context, addrspec_checker *checker) {
    if (addrspec_error_code(checker) == ADDRSPEC_ERROR_MEMORY) return sqlite3_result_error_nomem(context);
    char *message = sqlite3_mprintf("%s: %s", addrspec_error_code(checker) == ADDRSPEC_ERROR_POLICY ? "invalid policy" : "addrspec", addrspec_error_message(checker));
    if (message == NULL) return sqlite3_result_error_nomem(context);
    sqlite3_result_error(context, message, -1);
    sqlite3_free(message);
}

/* Checks an argument. Returns NULL for NULL, which is the result then, and after an error. An
   address that has more bytes than the library accepts is cut: it is not valid by its length
   alone. */
static const addrspec_result *check(sqlite3_context *context, sqlite3_value *value, unsigned flags) {
    if (sqlite3_value_type(value) == SQLITE_NULL) return NULL;
    addrspec_checker *checker = get_checker(context);
    if (checker == NULL) return NULL;
    const void *address = sqlite3_value_text(value);
    if (address == NULL) return sqlite3_result_error_nomem(context), NULL;
    size_t length = (size_t)sqlite3_value_bytes(value);
    if (length > ADDRSPEC_MAX_ADDRESS) length = ADDRSPEC_MAX_ADDRESS;
    const addrspec_result *result = addrspec_check(checker, address, length, flags);
    if (result == NULL) fail(context, checker);
    return result;
}

static void result_text(sqlite3_context *context, const char *text) { sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT); }

static void result_json(sqlite3_context *context, const char *text, size_t length) {
    sqlite3_result_text(context, text, (int)length, SQLITE_TRANSIENT);
    sqlite3_result_subtype(context, JSON);
}

static void valid(sqlite3_context *context, int count, sqlite3_value **values) {
    const addrspec_result *result = check(context, values[0], 0);
    if (result != NULL) sqlite3_result_int(context, result->valid);
}

static void normalized(sqlite3_context *context, int count, sqlite3_value **values) {
    const addrspec_result *result = check(context, values[0], 0);
    if (result != NULL && result->normalized != NULL) result_text(context, result->normalized);
}

static void canonical(sqlite3_context *context, int count, sqlite3_value **values) {
    const addrspec_result *result = check(context, values[0], ADDRSPEC_DETAILS);
    if (result != NULL && result->canonical != NULL) result_text(context, result->canonical);
}

/* The second argument asks for details, the third for the whole suggested address. */
static void facts(sqlite3_context *context, int count, sqlite3_value **values) {
    unsigned flags = 0;
    if (count > 1 && sqlite3_value_int(values[1])) flags |= ADDRSPEC_DETAILS;
    if (count > 2 && sqlite3_value_int(values[2])) flags |= ADDRSPEC_FULL_SUGGESTION;
    const addrspec_result *result = check(context, values[0], flags);
    if (result != NULL) result_json(context, result->json, result->json_length);
}

/* Fails like a constraint, with a message that says why but does not have the address. */
static void require(sqlite3_context *context, int count, sqlite3_value **values) {
    const addrspec_result *result = check(context, values[0], 0);
    if (result == NULL) return;
    if (result->valid) return sqlite3_result_int(context, 1);
    char *message = sqlite3_mprintf("invalid email address: %s (%s at byte %d, %s)", result->refusal.sentence, result->refusal.code,
                                    (int)result->refusal.offset, result->refusal.section);
    if (message == NULL) return sqlite3_result_error_nomem(context);
    sqlite3_result_error(context, message, -1);
    sqlite3_result_error_code(context, SQLITE_CONSTRAINT_CHECK);
    sqlite3_free(message);
}

static void verdict(sqlite3_context *context, int count, sqlite3_value **values) {
    if (sqlite3_value_type(values[1]) == SQLITE_NULL || check(context, values[0], 0) == NULL) return;
    addrspec_checker *checker = get_checker(context);
    const char *policy = (const char *)sqlite3_value_text(values[1]);
    if (policy == NULL) return sqlite3_result_error_nomem(context);
    const addrspec_verdict *decided = addrspec_decide(checker, policy, (size_t)sqlite3_value_bytes(values[1]), NULL);
    if (decided == NULL) return fail(context, checker);
    result_json(context, decided->json, strlen(decided->json));
}

static void version(sqlite3_context *context, int count, sqlite3_value **values) {
    addrspec_checker *checker = get_checker(context);
    if (checker == NULL) return;
    const char *versions = addrspec_versions(checker);
    if (versions == NULL) return fail(context, checker);
    result_json(context, versions, strlen(versions));
}

/* Replaces the lists of the connection by those in a blob, and returns the versions. */
static void load_lists(sqlite3_context *context, int count, sqlite3_value **values) {
    addrspec_checker *checker = get_checker(context);
    if (checker == NULL) return;
    const void *blob = sqlite3_value_blob(values[0]);
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    if (addrspec_load_lists(checker, blob, size) != ADDRSPEC_OK) return fail(context, checker);
    version(context, count, values);
}

/* Those that depend on the engine alone are deterministic, so that indexes and generated
   columns may have them; lists change the others. All are innocuous, so that a schema may call
   them, but the one that changes the connection. */
static const struct function {
    const char *name;
    int count, flags;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
} functions[] = {
    {"addrspec_valid", 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, valid},
    {"addrspec_normalized", 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, normalized},
    {"addrspec_require", 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, require},
    {"addrspec_canonical", 1, SQLITE_INNOCUOUS, canonical},
    {"addrspec", 1, SQLITE_INNOCUOUS | SQLITE_RESULT_SUBTYPE, facts},
    {"addrspec", 2, SQLITE_INNOCUOUS | SQLITE_RESULT_SUBTYPE, facts},
    {"addrspec", 3, SQLITE_INNOCUOUS | SQLITE_RESULT_SUBTYPE, facts},
    {"addrspec_verdict", 2, SQLITE_INNOCUOUS | SQLITE_RESULT_SUBTYPE, verdict},
    {"addrspec_version", 0, SQLITE_INNOCUOUS | SQLITE_RESULT_SUBTYPE, version},
    {"addrspec_lists", 1, SQLITE_DIRECTONLY | SQLITE_RESULT_SUBTYPE, load_lists},
};

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
int sqlite3_addrspec_init(sqlite3 *db, char **error, const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api);
    (void)error;
    connection *c = sqlite3_malloc(sizeof *c);
    if (c == NULL) return SQLITE_NOMEM;
    *c = (connection){NULL, 1}; /* this function uses it, too */
    int code = SQLITE_OK;
    for (size_t n = 0; n < sizeof functions / sizeof *functions && code == SQLITE_OK; n++) {
        const struct function *f = &functions[n];
        c->functions++; /* SQLite calls release even if it fails */
        code = sqlite3_create_function_v2(db, f->name, f->count, SQLITE_UTF8 | f->flags, c, f->call, NULL, NULL, release);
    }
    release(c);
    return code;
}
