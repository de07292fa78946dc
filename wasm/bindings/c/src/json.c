#include "json.h"

#include <stdint.h>
#include <string.h>

bool addrspec_json_literal(addrspec_json *json, const char *literal) {
    size_t length = strlen(literal);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, literal, length) != 0) return false;
    json->at += length;
    return true;
}

bool addrspec_json_bool(addrspec_json *json, bool *value) {
    *value = addrspec_json_literal(json, "true");
    return *value || addrspec_json_literal(json, "false");
}

static bool digit(const addrspec_json *json) {
    return json->at < json->end && *json->at >= '0' && *json->at <= '9';
}

/* A number of the module is 0 to 1 with up to two digits after the point. strtod would
   depend on the locale and need a zero byte. */
bool addrspec_json_number(addrspec_json *json, double *value) {
    int hundredths = 0, digits = 0;
    if (!digit(json)) return false;
    int whole = *json->at++ - '0';
    if (addrspec_json_literal(json, ".")) {
        for (; digit(json) && digits < 2; digits++) hundredths = hundredths * 10 + (*json->at++ - '0');
        if (digits == 0) return false;
    }
    *value = whole + hundredths / (digits == 1 ? 10.0 : 100.0);
    return true;
}

/* Reads the four hexadecimal digits of an escape. */
static bool hex(addrspec_json *json, uint32_t *value) {
    static const char digits[] = "0123456789abcdef";
    if (json->end - json->at < 4) return false;
    *value = 0;
    for (int n = 0; n < 4; n++) {
        char c = *json->at++;
        const char *found = strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        if (c == '\0' || found == NULL) return false;
        *value = *value << 4 | (uint32_t)(found - digits);
    }
    return true;
}

static void put(addrspec_json *json, uint32_t byte) {
    *json->store++ = (char)(unsigned char)byte;
}

/* Writes a character as UTF-8 (RFC 3629): never more bytes than its escape has. */
static void encode(addrspec_json *json, uint32_t c) {
    if (c < 0x80) {
        put(json, c);
        return;
    }
    if (c < 0x800) {
        put(json, 0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            put(json, 0xe0 | c >> 12);
        } else {
            put(json, 0xf0 | c >> 18);
            put(json, 0x80 | (c >> 12 & 0x3f));
        }
        put(json, 0x80 | (c >> 6 & 0x3f));
    }
    put(json, 0x80 | (c & 0x3f));
}

/* Reads what follows \u, with the second half of a surrogate pair (RFC 8259 section 7). */
static bool unicode(addrspec_json *json) {
    uint32_t c, low;
    if (!hex(json, &c)) return false;
    if (c >= 0xdc00 && c <= 0xdfff) return false;
    if (c >= 0xd800 && c <= 0xdbff) {
        if (!addrspec_json_literal(json, "\\u") || !hex(json, &low) || low < 0xdc00 || low > 0xdfff) return false;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    encode(json, c);
    return true;
}

/* Reads what follows a backslash. */
static bool escape(addrspec_json *json) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (addrspec_json_literal(json, "u")) return unicode(json);
    if (json->at == json->end || *json->at == '\0') return false;
    const char *found = strchr(names, *json->at++);
    if (found == NULL) return false;
    *json->store++ = values[found - names];
    return true;
}

bool addrspec_json_text(addrspec_json *json, addrspec_text *text) {
    if (!addrspec_json_literal(json, "\"")) return false;
    text->data = json->store;
    while (json->at < json->end && *json->at != '"') {
        if ((unsigned char)*json->at < ' ') return false;
        if (!addrspec_json_literal(json, "\\")) *json->store++ = *json->at++;
        else if (!escape(json)) return false;
    }
    text->length = (size_t)(json->store - text->data);
    *json->store++ = '\0';
    return addrspec_json_literal(json, "\"");
}

bool addrspec_json_text_or_null(addrspec_json *json, addrspec_text *text) {
    text->data = NULL;
    text->length = 0;
    return addrspec_json_literal(json, "null") || addrspec_json_text(json, text);
}
