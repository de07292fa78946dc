#include "columns.h"

#include <stdlib.h>
#include <string.h>

#define MEMBER(name, kind) {"\"" name "\":", sizeof name + 2, kind}

const struct member FACTS[] = {
    MEMBER("email", TEXT), MEMBER("valid", FLAG), MEMBER("normalized", TEXT), MEMBER("local_part", TEXT),
    MEMBER("alias", FLAG), MEMBER("ascii", FLAG), MEMBER("role", TEXT), MEMBER("gibberish", FLAG),
    MEMBER("gibberish_score", NUMBER), MEMBER("domain", TEXT),
    MEMBER("mx", FLAG), MEMBER("disposable", FLAG), MEMBER("public", FLAG), MEMBER("relay", FLAG), MEMBER("typo", FLAG),
    MEMBER("typo_suggestion", TEXT),
    /* The details of a valid address begin so, and those of others have null. */
    MEMBER("details\":{\"refusal\":null,\"canonical", TEXT)};

const struct member VERDICT[] = {MEMBER("action", TEXT), MEMBER("reason", TEXT), MEMBER("rule", TEXT)};

/* What an escaped byte is, or -1. Of the escapes with four digits results have those of control
   characters alone. */
static int escaped(const char *at, const char *end) {
    static const char letters[] = "btnfr\"\\/", bytes[] = "\b\t\n\f\r\"\\/", digits[] = "0123456789abcdef";
    if (at < end && *at != '\0' && *at != 'u') {
        const char *found = strchr(letters, *at);
        return found == NULL ? -1 : bytes[found - letters];
    }
    if (end - at < 5 || memcmp(at, "u00", 3) != 0 || (at[3] != '0' && at[3] != '1') || at[4] == '\0') return -1;
    const char *digit = strchr(digits, at[4]);
    return digit == NULL ? -1 : (at[3] - '0') * 16 + (int)(digit - digits);
}

static bool read_text(const char **at, const char *end, struct value *v) {
    const char *p = v->at = *at + 1, *quote = memchr(p, '"', (size_t)(end - p));
    v->escaped = quote != NULL && memchr(p, '\\', (size_t)(quote - p)) != NULL;
    for (; v->escaped && p < end && *p != '"'; p++) {
        if (*p == '\\' && escaped(++p, end) < 0) return false;
    }
    if (!v->escaped) p = quote;
    if (p == NULL || p >= end) return false;
    v->length = (size_t)(p - v->at);
    *at = p + 1;
    return true;
}

static bool is_number(const struct value *v) {
    if (v->length == 1) return *v->at >= '0' && *v->at <= '9';
    bool fits = v->length >= 3 && v->length <= 4 && v->at[1] == '.';
    for (size_t n = 0; fits && n < v->length; n++) fits = n == 1 || (v->at[n] >= '0' && v->at[n] <= '9');
    return fits;
}

bool read_member(const char **at, const char *end, const struct member *member, struct value *v) {
    if ((size_t)(end - *at) <= member->length + 1 || (**at != '{' && **at != ',')) return false;
    if (memcmp(*at + 1, member->name, member->length) != 0) return false;
    const char *p = *at + 1 + member->length;
    v->first = *p;
    if (*p == '"') {
        if (!read_text(&p, end, v)) return false;
    } else {
        for (v->at = p; p < end && *p != ',' && *p != '}'; p++) continue;
        v->length = (size_t)(p - v->at);
    }
    *at = p;
    if (v->length == 4 && memcmp(v->at, "null", 4) == 0 && v->first == 'n') return true;
    if (member->kind == TEXT) return v->first == '"';
    if (member->kind == NUMBER) return is_number(v);
    return (v->length == 4 && memcmp(v->at, "true", 4) == 0) || (v->length == 5 && memcmp(v->at, "false", 5) == 0);
}

size_t unescape(const struct value *v, char *to) {
    if (!v->escaped) return memcpy(to, v->at, v->length), v->length;
    const char *end = v->at + v->length;
    char *start = to;
    for (const char *p = v->at; p < end; p++) {
        if (*p != '\\') {
            *to++ = *p;
        } else {
            *to++ = (char)escaped(++p, end);
            if (*p == 'u') p += 4;
        }
    }
    return (size_t)(to - start);
}

double number(const struct value *v) {
    int percent = 100 * (v->at[0] - '0');
    if (v->length > 2) percent += 10 * (v->at[2] - '0');
    if (v->length > 3) percent += v->at[3] - '0';
    return percent / 100.0;
}

bool make_room(char **data, size_t *room, size_t length, size_t more) {
    if (length + more <= *room) return true;
    size_t wanted = 2 * (length + more) + 4096;
    char *larger = realloc(*data, wanted);
    if (larger == NULL) return false;
    *data = larger;
    *room = wanted;
    return true;
}

/* The C data interface has a child released with its parent, unless somebody has moved it. */
static void release(struct ArrowArray *array) {
    for (int64_t n = 0; n < array->n_children; n++) {
        struct ArrowArray *child = array->children[n];
        if (child != NULL && child->release != NULL) child->release(child);
        free(child);
    }
    for (int64_t n = 0; n < array->n_buffers; n++) free((void *)array->buffers[n]);
    free(array->children);
    free(array->buffers);
    array->release = NULL;
}

/* Makes an array with bits that say which rows are valid, none, and so many bytes in its second buffer. */
static struct ArrowArray *new_array(int64_t rows, int64_t buffers, size_t second) {
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (array == NULL) return NULL;
    array->release = release;
    array->length = rows;
    array->buffers = calloc((size_t)buffers, sizeof *array->buffers);
    if (array->buffers == NULL) return free(array), NULL;
    array->n_buffers = buffers;
    array->buffers[0] = calloc((size_t)rows / 8 + 1, 1);
    if (buffers > 1) array->buffers[1] = calloc(second, 1);
    if (array->buffers[0] != NULL && array->buffers[buffers > 1] != NULL) return array;
    release(array);
    free(array);
    return NULL;
}

struct ArrowArray *new_results(const struct member *members, int64_t count, int64_t rows) {
    struct ArrowArray *results = new_array(rows, 1, 0);
    if (results == NULL) return NULL;
    results->children = calloc((size_t)count, sizeof *results->children);
    bool done = results->children != NULL;
    for (; done && results->n_children < count; results->n_children++) {
        size_t values = (size_t)rows;
        size_t size[] = {[TEXT] = 4 * (values + 1), [FLAG] = values / 8 + 1, [NUMBER] = 8 * (values + 1)};
        int kind = members[results->n_children].kind;
        results->children[results->n_children] = new_array(rows, kind == TEXT ? 3 : 2, size[kind]);
        done = results->children[results->n_children] != NULL;
    }
    if (done) return results;
    release(results);
    free(results);
    return NULL;
}

static void set_bit(const void *bits, int64_t row) { ((uint8_t *)bits)[row / 8] |= (uint8_t)(1 << row % 8); }

/* Appends a text, whose column keeps in private_data how much room its bytes have. */
static bool append_text(struct ArrowArray *column, int64_t row, const struct value *v) {
    int32_t *offsets = (int32_t *)column->buffers[1];
    size_t room = (size_t)(uintptr_t)column->private_data, length = (size_t)offsets[row];
    char *data = (char *)column->buffers[2];
    if (v->length > (size_t)INT32_MAX - length || !make_room(&data, &room, length, v->length + 1)) return false;
    column->buffers[2] = data;
    column->private_data = (void *)(uintptr_t)room;
    offsets[row + 1] = offsets[row] + (int32_t)unescape(v, data + length);
    return true;
}

bool append_row(struct ArrowArray *results, const struct member *members, int64_t row, const char *json, size_t size) {
    const char *at = json, *end = json + size;
    if (size > 0) set_bit(results->buffers[0], row);
    else results->null_count++;
    for (int n = 0; n < results->n_children; n++) {
        struct ArrowArray *column = results->children[n];
        struct value v;
        bool null = !read_member(&at, end, &members[n], &v) || v.first == 'n';
        if (null) column->null_count++;
        else set_bit(column->buffers[0], row);
        if (members[n].kind == TEXT) {
            if (null) v = (struct value){.at = ""};
            if (!append_text(column, row, &v)) return false;
        } else if (!null && members[n].kind == NUMBER) {
            ((double *)column->buffers[1])[row] = number(&v);
        } else if (!null && v.first == 't') {
            set_bit(column->buffers[1], row);
        }
    }
    return true;
}
