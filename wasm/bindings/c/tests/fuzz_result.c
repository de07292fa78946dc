/* The fuzz target of what reads the module's output: the size of a JSON, a report, and the
   bytes at the output. Whatever fits is read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { REPORT = 96 };
    uint32_t length;
    static addrspec_record record;
    if (size < sizeof length + REPORT) return 0;
    memcpy(&length, data, sizeof length);
    const uint8_t *report = data + sizeof length;
    uint8_t *output = malloc(size - sizeof length - REPORT + 1); /* of its size, for the sanitizer */
    memcpy(output, report + REPORT, size - sizeof length - REPORT);
    if (addrspec_record_fits(report, length, size - sizeof length - REPORT) && !addrspec_record_read(&record, report, output, length)) abort();
    if (record.known && strlen(record.result.json) > record.result.json_length) abort();
    free(output);
    return 0;
}
