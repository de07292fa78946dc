/*
 * The functions of addrspec--1.0.sql. Each backend has one checker, made at first use.
 *
 * No function of PostgreSQL is called while the library runs, so a longjmp of one never
 * passes through the other. What the library returns is valid until its next call, and it
 * owns it: an ereport in between leaves nothing behind.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "addrspec.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

/* The most that is read of a file of lists and of a policy. The library accepts less, and its
   errors say so. */
enum { MAX_DOCUMENT = 4 * 1024 * 1024 + 1 };

static addrspec_checker *checker;
static char *lists_path; /* the setting addrspec.lists */
static char loaded[MAXPGPATH]; /* its value when the checker got its lists */

/* A text of SQL in UTF-8. */
typedef struct utf8 {
    char *data;
    size_t length;
} utf8;

void _PG_init(void) {
    DefineCustomStringVariable("addrspec.lists", "File with the lists to use in place of those inside the library.",
                               "Its signature must have been verified. A new name makes all sessions read it.", &lists_path, "",
                               PGC_SUSET, 0, NULL, NULL, NULL);
    EmitWarningsOnPlaceholders("addrspec");
}

/* Returns a text of the library in the encoding of the database. A character that the encoding
   lacks is escaped as in JSON, or an error. */
static char *to_server(const char *data, size_t length, bool escape) {
    int encoding = GetDatabaseEncoding();
    Oid conversion = encoding == PG_UTF8 || encoding == PG_SQL_ASCII ? InvalidOid : FindDefaultConversionProc(PG_UTF8, encoding);
    unsigned char *next = (unsigned char *)data, *end = next + length;
    char *converted, *room;
    if (!OidIsValid(conversion)) return pg_any_to_server(data, (int)length, PG_UTF8);
    converted = room = palloc(length * MAX_CONVERSION_GROWTH + 1); /* no escape is longer */
    for (;;) {
        int left = (int)(end - next);
        pg_wchar lacking;
        next += pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding, next, left, (unsigned char *)room, left * MAX_CONVERSION_GROWTH + 1, true);
        room += strlen(room);
        if (next >= end) return converted;
        lacking = utf8_to_unicode(next);
        if (!escape || lacking > 0xffff) /* an escape has four digits; only an address in UTF-8 gives more */
            ereport(ERROR, (errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
                            errmsg("addrspec: the encoding %s of this database lacks a character of the result", GetDatabaseEncodingName()),
                            errhint("A database of UTF8 has it. The JSON of addrspec(text) has it as an escape, for what reads the JSON outside the database.")));
        next += pg_utf_mblen(next);
        room += sprintf(room, "\\u%04x", lacking);
    }
}

static char *message(const char *utf8) { return to_server(utf8, strlen(utf8), true); }

static int sqlstate(addrspec_code code) {
    switch (code) {
    case ADDRSPEC_ERROR_MEMORY: return ERRCODE_OUT_OF_MEMORY;
    case ADDRSPEC_ERROR_POLICY: return ERRCODE_INVALID_PARAMETER_VALUE;
    case ADDRSPEC_ERROR_LISTS: return ERRCODE_CONFIG_FILE_ERROR;
    default: return ERRCODE_INTERNAL_ERROR;
    }
}

/* Raises the error of the last call of the library. */
_Noreturn static void fail(void) {
    addrspec_code code = addrspec_error_code(checker);
    ereport(ERROR, (errcode(sqlstate(code)), errmsg("%s: %s", code == ADDRSPEC_ERROR_POLICY ? "invalid policy" : "addrspec", message(addrspec_error_message(checker))),
                    code != ADDRSPEC_ERROR_LISTS ? 0 : errhint("Set addrspec.lists to another file, or to an empty string for the lists inside the library.")));
    pg_unreachable();
}

static void make_checker(void) {
    addrspec_free(checker);
    checker = addrspec_new();
    loaded[0] = '\0';
    if (checker == NULL) fail();
}

static size_t read_lists(char *blob) {
    size_t size;
    FILE *file = AllocateFile(lists_path, PG_BINARY_R);
    if (file == NULL) ereport(ERROR, (errcode_for_file_access(), errmsg("could not open file \"%s\" of addrspec.lists: %m", lists_path)));
    size = fread(blob, 1, MAX_DOCUMENT, file);
    if (ferror(file)) ereport(ERROR, (errcode_for_file_access(), errmsg("could not read file \"%s\" of addrspec.lists: %m", lists_path)));
    FreeFile(file);
    return size;
}

static void load_lists(void) {
    char *blob;
    make_checker();
    if (lists_path[0] == '\0') return;
    blob = palloc(MAX_DOCUMENT);
    if (addrspec_load_lists(checker, blob, read_lists(blob)) != ADDRSPEC_OK) fail();
    pfree(blob);
    strlcpy(loaded, lists_path, sizeof loaded);
}

static void begin(bool with_lists) {
    CHECK_FOR_INTERRUPTS();
    if (checker == NULL) make_checker();
    if (with_lists && strcmp(lists_path, loaded) != 0) load_lists();
}

/* Returns a text in UTF-8, cut at a number of bytes without reading more of it. In a
   database of SQL_ASCII, whose bytes have no known meaning, they are taken for UTF-8. */
static utf8 get_text(Datum datum, size_t limit) {
    utf8 text;
    bool cut = toast_raw_datum_size(datum) - VARHDRSZ > limit;
    struct varlena *value = cut ? PG_DETOAST_DATUM_SLICE(datum, 0, limit + MAX_MULTIBYTE_CHAR_LEN) : PG_DETOAST_DATUM_PACKED(datum);
    text.data = VARDATA_ANY(value);
    text.length = VARSIZE_ANY_EXHDR(value);
    if (cut) text.length = pg_mbcliplen(text.data, (int)text.length, (int)limit);
    if (GetDatabaseEncoding() != PG_SQL_ASCII) {
        char *converted = pg_server_to_any(text.data, (int)text.length, PG_UTF8);
        if (converted != text.data) text = (utf8){converted, strlen(converted)};
    }
    text.length = Min(text.length, limit);
    return text;
}

/* Checks an address. One that has more bytes than the library accepts is cut: it is not valid
   by its length alone. */
static const addrspec_result *check(Datum address, unsigned flags, bool with_lists) {
    const addrspec_result *result;
    utf8 text = get_text(address, ADDRSPEC_MAX_ADDRESS);
    begin(with_lists);
    result = addrspec_check(checker, text.data, text.length, flags);
    if (result == NULL) fail();
    return result;
}

static Datum make_json(const char *data, size_t length) { return CStringGetTextDatum(to_server(data, length, true)); }

/* Returns an address; NULL is null. */
static Datum make_address(FunctionCallInfo fcinfo, const char *address) {
    if (address == NULL) PG_RETURN_NULL();
    return CStringGetTextDatum(to_server(address, strlen(address), false));
}

/* Raises the error of a constraint, which clients find by its name. It names the place in the
   address, but not the address: errors go to the log. */
_Noreturn static void refuse(const addrspec_refusal *refusal, const char *constraint) {
    ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION), errmsg("invalid email address: %s", message(refusal->sentence)),
                    errdetail("The reason is %s, at byte %zu.", refusal->code, refusal->offset),
                    errhint("The rule is in %s.", refusal->section),
                    constraint == NULL ? 0 : err_generic_string(PG_DIAG_CONSTRAINT_NAME, constraint)));
    pg_unreachable();
}

PG_FUNCTION_INFO_V1(sql_valid);
Datum sql_valid(PG_FUNCTION_ARGS) { PG_RETURN_BOOL(check(PG_GETARG_DATUM(0), 0, false)->valid); }

PG_FUNCTION_INFO_V1(sql_normalized);
Datum sql_normalized(PG_FUNCTION_ARGS) {
    return make_address(fcinfo, check(PG_GETARG_DATUM(0), 0, false)->normalized);
}

PG_FUNCTION_INFO_V1(sql_canonical);
Datum sql_canonical(PG_FUNCTION_ARGS) {
    return make_address(fcinfo, check(PG_GETARG_DATUM(0), ADDRSPEC_DETAILS, true)->canonical);
}

PG_FUNCTION_INFO_V1(sql_result);
Datum sql_result(PG_FUNCTION_ARGS) {
    unsigned flags = (PG_GETARG_BOOL(1) ? ADDRSPEC_DETAILS : 0) | (PG_GETARG_BOOL(2) ? ADDRSPEC_FULL_SUGGESTION : 0);
    const addrspec_result *result = check(PG_GETARG_DATUM(0), flags, true);
    return make_json(result->json, result->json_length);
}

PG_FUNCTION_INFO_V1(sql_verdict);
Datum sql_verdict(PG_FUNCTION_ARGS) {
    utf8 policy = get_text(PG_GETARG_DATUM(1), MAX_DOCUMENT);
    const addrspec_verdict *verdict;
    check(PG_GETARG_DATUM(0), 0, true);
    verdict = addrspec_decide(checker, policy.data, policy.length, NULL);
    if (verdict == NULL) fail();
    return make_json(verdict->json, strlen(verdict->json));
}

PG_FUNCTION_INFO_V1(sql_version);
Datum sql_version(PG_FUNCTION_ARGS) {
    const char *versions;
    begin(true);
    versions = addrspec_versions(checker);
    if (versions == NULL) fail();
    return make_json(versions, strlen(versions));
}

PG_FUNCTION_INFO_V1(sql_require);
Datum sql_require(PG_FUNCTION_ARGS) {
    const addrspec_result *result;
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    result = check(PG_GETARG_DATUM(0), 0, false);
    if (!result->valid) refuse(&result->refusal, PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1)));
    PG_RETURN_BOOL(true);
}
