/*
 * Fuzzes what reads the output of the module, for libFuzzer and AFL++: any bytes are
 * facts or an error, without an access outside of them.
 *
 *     clang -fsanitize=fuzzer,address,undefined -Iinclude -Isrc tests/fuzz_facts.c src/facts.c src/json.c src/record.c src/fail.c
 */
#include <stdint.h>
#include <stdlib.h>

#include "record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte of a text and its zero byte, for the sanitizers. */
static void touch(addrspec_text text) {
    volatile unsigned sum = 0;
    for (size_t n = 0; text.data != NULL && n < text.length; n++) sum += (unsigned char)text.data[n];
    if (text.data != NULL && text.data[text.length] != '\0') abort();
}

static void touch_all(const addrspec_facts *facts) {
    addrspec_text all[] = {facts->email, facts->normalized, facts->local_part, facts->role, facts->domain, facts->typo_suggestion,
                           facts->details, facts->json, facts->refusal.code, facts->refusal.section, facts->refusal.sentence};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) touch(all[n]);
}

/* The input is an output of addrspec_check_many with reports. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    addrspec_record record;
    for (size_t length; (length = addrspec_read_record(&record, data, size)) > 0; data += length, size -= length) {
        addrspec_error error = {ADDRSPEC_OK, ""};
        addrspec_facts *facts = addrspec_facts_new(&record, &error);
        if ((facts == NULL) != (error.code != ADDRSPEC_OK)) abort();
        if (facts != NULL) touch_all(facts);
        addrspec_facts_free(facts);
    }
    return 0;
}
