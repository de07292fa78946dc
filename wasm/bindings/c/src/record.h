/* A result of the module: the JSON and its report (ABI.md, "The report"). */
#ifndef ADDRSPEC_RECORD_H
#define ADDRSPEC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "addrspec.h"

enum { ADDRSPEC_WORDS = 24 };

typedef struct addrspec_record {
    const uint8_t *data;            /* the JSON, and after it the texts of the report */
    size_t size;                    /* of both */
    size_t json_length;
    uint32_t words[ADDRSPEC_WORDS]; /* their offsets count from data */
} addrspec_record;

/* Returns a 32-bit word, little-endian, at any address. */
uint32_t addrspec_word(const uint8_t *at);

/* Reads the words of a report. */
void addrspec_read_words(addrspec_record *record, const uint8_t *at);

/* Reads the first record with a report in the size bytes at output. Returns its length, or
   0 if it is cut off. */
size_t addrspec_read_record(addrspec_record *record, const uint8_t *output, size_t size);

/* Returns the facts of a record, or NULL. Free them with addrspec_facts_free. */
addrspec_facts *addrspec_facts_new(const addrspec_record *record, addrspec_error *error);

#endif
