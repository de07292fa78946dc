#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

addrspec_code addrspec_fail(addrspec_error *error, addrspec_code code, const char *format, ...) {
    va_list arguments;
    if (error == NULL) return code;
    error->code = code;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}
