/*
 * Reads JSON as the module writes it (ABI.md: one line, no white space, members in a fixed
 * order), and no other. So much is a tenth of a general parser, and the library needs
 * nothing but wasmtime. It reads no byte beyond the end, whatever the input.
 */
#ifndef ADDRSPEC_JSON_H
#define ADDRSPEC_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "addrspec.h"

/* A position in a JSON, and where decoded texts go: room for as many bytes as the JSON has,
   and one for each text. */
typedef struct addrspec_json {
    const char *at, *end;
    char *store;
} addrspec_json;

/* Each reads one thing and moves on, or returns false. */
bool addrspec_json_literal(addrspec_json *json, const char *literal);
bool addrspec_json_bool(addrspec_json *json, bool *value);
bool addrspec_json_number(addrspec_json *json, double *value);
bool addrspec_json_text(addrspec_json *json, addrspec_text *text);
bool addrspec_json_text_or_null(addrspec_json *json, addrspec_text *text);

#endif
