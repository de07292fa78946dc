/* Passes files, each with one record, to the fuzz target without libFuzzer: whole and cut
   off. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly this size, so that valgrind finds an access outside of it. */
static void pass(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) exit(1);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Shortens the JSON of the record too, so that the decoder sees it cut off. */
static void pass_all(uint8_t *data, size_t size) {
    pass(data, size);
    for (size_t length = size; length > 60; length -= 3) {
        size_t json = length - 60;
        for (int byte = 0; byte < 4; byte++) data[byte] = (uint8_t)(json >> 8 * byte);
        pass(data, length);
    }
    for (size_t length = 0; length < 61 && length < size; length++) pass(data, length);
}

int main(int count, char **args) {
    static uint8_t data[1 << 16];
    for (int n = 1; n < count; n++) {
        FILE *file = fopen(args[n], "rb");
        if (file == NULL) return 1;
        pass_all(data, fread(data, 1, sizeof data, file));
        fclose(file);
    }
    return count > 1 ? 0 : 1;
}
