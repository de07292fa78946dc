#include "record.h"

/* Two lengths and the report precede each JSON. */
enum { PREFIX = 4 + 4 + 4 * ADDRSPEC_WORDS };

uint32_t addrspec_word(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void addrspec_read_words(addrspec_record *record, const uint8_t *at) {
    for (int n = 0; n < ADDRSPEC_WORDS; n++) record->words[n] = addrspec_word(at + 4 * n);
}

size_t addrspec_read_record(addrspec_record *record, const uint8_t *output, size_t size) {
    if (size < PREFIX) return 0;
    uint32_t json = addrspec_word(output), texts = addrspec_word(output + 4);
    size -= PREFIX;
    if (json > size || texts > size - json) return 0;
    record->data = output + PREFIX;
    record->json_length = json;
    record->size = (size_t)json + texts;
    addrspec_read_words(record, output + 8);
    return PREFIX + record->size;
}
