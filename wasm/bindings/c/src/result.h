/* Makes a result of what the module writes: wasm/ABI.md of the project specifies it. */
#ifndef ADDRSPEC_RESULT_H
#define ADDRSPEC_RESULT_H

#include <stdint.h>

#include "addrspec.h"

typedef struct addrspec_text {
    const char *data;
    size_t length;
} addrspec_text;

/* The result of the last check, if known, and the memory that its texts are in. */
typedef struct addrspec_record {
    bool known;
    uint32_t words[2]; /* words 0 and 1 of the report, which a policy needs */
    addrspec_result result;
    char *texts;
    size_t room;
} addrspec_record;

/* Whether a JSON of size bytes at output, and the texts that its report places there, are
   within limit bytes. */
bool addrspec_record_fits(const uint8_t *report, size_t size, size_t limit);

/* Reads a JSON of size bytes at output, and its report, which fit. false: no memory. */
bool addrspec_record_read(addrspec_record *record, const uint8_t *report, const uint8_t *output, size_t size);

void addrspec_record_free(addrspec_record *record);

/* Return the sentence of a report on lists or a policy, which fits, and the offset of what is
   wrong in the policy. */
addrspec_text addrspec_report_sentence(const uint8_t *report, const uint8_t *output);
size_t addrspec_report_offset(const uint8_t *report);

#endif
