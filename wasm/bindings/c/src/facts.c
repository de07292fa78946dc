/* Makes facts of a record, in one piece of memory: the struct, the JSON, and the texts. */
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "json.h"
#include "record.h"

enum kind { TEXT, TEXT_OR_NULL, BOOL, NUMBER, MX };

/* The members of the JSON, in its order. */
static const struct member {
    const char *name;
    enum kind kind;
    size_t at;
} members[] = {
    {"{\"email\":", TEXT, offsetof(addrspec_facts, email)},
    {",\"valid\":", BOOL, offsetof(addrspec_facts, valid)},
    {",\"normalized\":", TEXT_OR_NULL, offsetof(addrspec_facts, normalized)},
    {",\"local_part\":", TEXT_OR_NULL, offsetof(addrspec_facts, local_part)},
    {",\"alias\":", BOOL, offsetof(addrspec_facts, alias)},
    {",\"ascii\":", BOOL, offsetof(addrspec_facts, ascii)},
    {",\"role\":", TEXT_OR_NULL, offsetof(addrspec_facts, role)},
    {",\"gibberish\":", BOOL, offsetof(addrspec_facts, gibberish)},
    {",\"gibberish_score\":", NUMBER, offsetof(addrspec_facts, gibberish_score)},
    {",\"domain\":", TEXT_OR_NULL, offsetof(addrspec_facts, domain)},
    {",\"mx\":", MX, offsetof(addrspec_facts, mx)},
    {",\"disposable\":", BOOL, offsetof(addrspec_facts, disposable)},
    {",\"public\":", BOOL, offsetof(addrspec_facts, is_public)},
    {",\"relay\":", BOOL, offsetof(addrspec_facts, relay)},
    {",\"typo\":", BOOL, offsetof(addrspec_facts, typo)},
    {",\"typo_suggestion\":", TEXT_OR_NULL, offsetof(addrspec_facts, typo_suggestion)},
};

/* Words of the report, and the first bit of word 0. */
enum { VALID = 1, OFFSET = 12, CODE = 13, SECTION = 15, SENTENCE = 17 };

enum { MEMBERS = sizeof members / sizeof members[0], REPORT_TEXTS = 3 };

/* Reads null, or false if there is no domain to look up. */
static bool read_mx(addrspec_json *json, const bool **mx) {
    static const bool no = false;
    *mx = addrspec_json_literal(json, "null") ? NULL : &no;
    return *mx == NULL || addrspec_json_literal(json, "false");
}

static bool read_value(addrspec_json *json, enum kind kind, void *value) {
    switch (kind) {
    case TEXT: return addrspec_json_text(json, value);
    case TEXT_OR_NULL: return addrspec_json_text_or_null(json, value);
    case BOOL: return addrspec_json_bool(json, value);
    case NUMBER: return addrspec_json_number(json, value);
    case MX: return read_mx(json, value);
    }
    return false;
}

/* Copies a text and adds a zero byte. */
static addrspec_text keep(addrspec_json *json, const void *data, size_t length) {
    addrspec_text text = {json->store, length};
    memcpy(json->store, data, length);
    json->store += length;
    *json->store++ = '\0';
    return text;
}

/* Keeps what is left before the last brace: an object, the details. */
static bool read_details(addrspec_json *json, addrspec_text *details) {
    if (addrspec_json_literal(json, ",\"details\":")) {
        if (json->end - json->at < 3 || *json->at != '{') return false;
        *details = keep(json, json->at, (size_t)(json->end - json->at) - 1);
        json->at = json->end - 1;
    }
    return addrspec_json_literal(json, "}") && json->at == json->end;
}

static bool read_members(addrspec_json *json, addrspec_facts *facts) {
    for (size_t n = 0; n < MEMBERS; n++) {
        if (!addrspec_json_literal(json, members[n].name)) return false;
        if (!read_value(json, members[n].kind, (char *)facts + members[n].at)) return false;
    }
    return read_details(json, &facts->details);
}

/* Keeps a text of the report, whose offset and length are at words[n]. */
static bool read_report_text(const addrspec_record *record, int n, addrspec_json *json, addrspec_text *text) {
    size_t at = record->words[n], length = record->words[n + 1];
    if (at > record->size || length > record->size - at) return false;
    *text = keep(json, record->data + at, length);
    return true;
}

static bool read_refusal(const addrspec_record *record, addrspec_json *json, addrspec_refusal *refusal) {
    if (record->words[0] & VALID) return true;
    refusal->offset = record->words[OFFSET];
    return read_report_text(record, CODE, json, &refusal->code) && read_report_text(record, SECTION, json, &refusal->section) &&
           read_report_text(record, SENTENCE, json, &refusal->sentence);
}

/* The JSON twice, once as it is and once decoded; the texts; and the zero bytes. No text
   of the report is longer than all of them. */
static size_t room(const addrspec_record *record) {
    size_t texts = 0;
    for (int n = CODE; n <= SENTENCE; n += 2) {
        texts += record->words[n + 1] < record->size ? record->words[n + 1] : record->size;
    }
    return 2 * record->json_length + texts + MEMBERS + REPORT_TEXTS + 2;
}

addrspec_facts *addrspec_facts_new(const addrspec_record *record, addrspec_error *error) {
    addrspec_facts *facts = calloc(1, sizeof *facts + room(record));
    if (facts == NULL) {
        addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for the facts");
        return NULL;
    }
    addrspec_json json = {NULL, NULL, (char *)(facts + 1)};
    facts->json = keep(&json, record->data, record->json_length);
    json.at = facts->json.data;
    json.end = json.at + record->json_length;
    if (!read_members(&json, facts) || !read_refusal(record, &json, &facts->refusal)) {
        addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "a result is not as expected at byte %zu", (size_t)(json.at - facts->json.data));
        free(facts);
        return NULL;
    }
    return facts;
}

void addrspec_facts_free(addrspec_facts *facts) {
    free(facts);
}
