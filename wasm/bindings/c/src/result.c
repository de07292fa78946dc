#define _POSIX_C_SOURCE 200809L
#include "result.h"

#include <stdlib.h>
#include <string.h>

/* Words of the report, and the bits of word 0. */
enum { FACTS = 0, MORE = 1, EMAIL_END = 2, HOST = 9, OFFSET = 12, CODE = 13, SECTION = 15, SENTENCE = 17 };
enum { VALID = 1, ALIAS = 2, ASCII = 4, GIBBERISH = 16, DISPOSABLE = 32, PUBLIC = 64, RELAY = 128, TYPO = 256 };

/* The longest texts of which memory is kept for the next result. */
enum { KEPT = 16 << 10 };

static uint32_t word(const uint8_t *report, int n) {
    const uint8_t *at = report + 4 * n;
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

addrspec_text addrspec_report_sentence(const uint8_t *report, const uint8_t *output) {
    return (addrspec_text){(const char *)output + word(report, SENTENCE), word(report, SENTENCE + 1)};
}

size_t addrspec_report_offset(const uint8_t *report) { return word(report, OFFSET); }

bool addrspec_record_fits(const uint8_t *report, size_t size, size_t limit) {
    static const int places[] = {HOST, CODE, SECTION, SENTENCE};
    bool fits = size <= limit && word(report, EMAIL_END) <= size;
    for (int n = 0; n < 4; n++) fits = fits && (uint64_t)word(report, places[n]) + word(report, places[n] + 1) <= limit;
    return fits;
}

/* Makes room for the JSON twice, once decoded, and for the texts of the report. */
static bool make_room(addrspec_record *record, const uint8_t *report, size_t size) {
    size_t room = 2 * size + 16;
    for (int n = CODE; n <= SENTENCE; n += 2) room += word(report, n + 1);
    room += word(report, HOST + 1);
    if (room <= record->room && (record->room <= KEPT || room > KEPT)) return true;
    free(record->texts);
    record->room = room < KEPT ? KEPT : room;
    record->texts = malloc(record->room);
    if (record->texts == NULL) record->room = 0;
    return record->texts != NULL;
}

/* Copies bytes and a zero byte to *at, and moves it behind them. */
static const char *keep(char **at, const void *data, size_t length) {
    char *text = *at;
    memcpy(text, data, length);
    text[length] = '\0';
    *at = text + length + 1;
    return text;
}

static const char *keep_place(char **at, const uint8_t *report, const uint8_t *output, int n) {
    return keep(at, output + word(report, n), word(report, n + 1));
}

static int hexadecimal(char digit) { return digit <= '9' ? digit - '0' : (digit | 32) - 'a' + 10; }

/* Returns the byte for the escape after a backslash, and moves *json behind it. Only bytes
   below space have four digits (RFC 8259 section 7). */
static char escaped(const char **json) {
    static const char letters[] = "btnfr", bytes[] = "\b\t\n\f\r";
    char letter = **json;
    if (letter == 'u' && strnlen(*json, 5) == 5) {
        *json += 5;
        return (char)(hexadecimal((*json)[-2]) * 16 + hexadecimal((*json)[-1]));
    }
    const char *found = strchr(letters, letter);
    *json += letter != '\0';
    return found != NULL ? bytes[found - letters] : letter;
}

/* Decodes the string at *json and moves *json behind it, or returns NULL for null. */
static const char *decode(char **at, const char **json) {
    char *text = *at;
    if (**json != '"') return NULL;
    for (++*json; **json != '"' && **json != '\0'; ++*at) {
        char byte = *(*json)++;
        **at = byte == '\\' ? escaped(json) : byte;
    }
    *(*at)++ = '\0';
    return text;
}

/* Decodes the value of the next member with a name, behind which it moves *json. Inside a
   string every quote is escaped, so that the name is found only where it is one. */
static const char *member(char **at, const char **json, const char *name) {
    const char *found = strstr(*json, name);
    if (found == NULL) return NULL;
    *json = found + strlen(name);
    return decode(at, json);
}

static void read_facts(addrspec_result *r, uint32_t facts, uint32_t more) {
    r->valid = facts & VALID;
    r->alias = facts & ALIAS;
    r->ascii = facts & ASCII;
    r->gibberish = facts & GIBBERISH;
    r->gibberish_score = (more & 127) / 100.0;
    r->disposable = facts & DISPOSABLE;
    r->is_public = facts & PUBLIC;
    r->relay = facts & RELAY;
    r->typo = facts & TYPO;
}

static void read_texts(addrspec_result *r, char **at, const char *json) {
    r->normalized = member(at, &json, ",\"normalized\":");
    r->local_part = member(at, &json, ",\"local_part\":");
    r->role = member(at, &json, ",\"role\":");
    r->domain = member(at, &json, ",\"domain\":");
    r->typo_suggestion = member(at, &json, ",\"typo_suggestion\":");
    r->canonical = member(at, &json, ",\"canonical\":");
}

static void read_refusal(addrspec_refusal *refusal, char **at, const uint8_t *report, const uint8_t *output) {
    refusal->code = keep_place(at, report, output, CODE);
    refusal->offset = word(report, OFFSET);
    refusal->section = keep_place(at, report, output, SECTION);
    refusal->sentence = keep_place(at, report, output, SENTENCE);
}

bool addrspec_record_read(addrspec_record *record, const uint8_t *report, const uint8_t *output, size_t size) {
    addrspec_result *r = &record->result;
    if (!make_room(record, report, size)) return false;
    char *at = record->texts;
    memset(r, 0, sizeof *r);
    r->json = keep(&at, output, size);
    r->json_length = size;
    record->words[0] = word(report, FACTS);
    record->words[1] = word(report, MORE);
    read_facts(r, record->words[0], record->words[1]);
    if (r->valid) read_texts(r, &at, r->json + word(report, EMAIL_END));
    else read_refusal(&r->refusal, &at, report, output);
    r->host = keep_place(&at, report, output, HOST);
    return record->known = true;
}

void addrspec_record_free(addrspec_record *record) { free(record->texts); }
