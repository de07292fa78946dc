/* Errors of the library. */
#ifndef ADDRSPEC_FAIL_H
#define ADDRSPEC_FAIL_H

#include "addrspec.h"

#if defined(__GNUC__)
#define ADDRSPEC_FORMAT(at, from) __attribute__((format(printf, at, from)))
#else
#define ADDRSPEC_FORMAT(at, from)
#endif

/* Writes the code and the message to error, if it is not NULL, and returns the code. */
addrspec_code addrspec_fail(addrspec_error *error, addrspec_code code, const char *format, ...)
    ADDRSPEC_FORMAT(3, 4);

#endif
