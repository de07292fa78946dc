/*
 * An engine with an older Unicode, for the tests of an upgrade: linked with
 * -Wl,--wrap=addrspec_check, it keeps the letter U+00C9 instead of writing it in lower case.
 */
#include <string.h>

#include "addrspec.h"

const addrspec_result *__real_addrspec_check(addrspec_checker *checker, const void *address, size_t length, unsigned flags);
const addrspec_result *__wrap_addrspec_check(addrspec_checker *checker, const void *address, size_t length, unsigned flags);

const addrspec_result *__wrap_addrspec_check(addrspec_checker *checker, const void *address, size_t length, unsigned flags) {
    static addrspec_result older;
    static char normalized[1024];
    const addrspec_result *result = __real_addrspec_check(checker, address, length, flags);
    if (result == NULL || result->normalized == NULL || memmem(address, length, "\xc3\x89", 2) == NULL) return result;
    older = *result;
    older.normalized = strncpy(normalized, result->normalized, sizeof normalized - 1);
    for (char *at = normalized; (at = strstr(at, "\xc3\xa9")) != NULL; at++) at[1] = '\x89';
    return &older;
}
