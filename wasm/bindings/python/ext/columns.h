/* Results in JSON as values, and as columns of Arrow (its C data interface). */
#ifndef ADDRSPEC_COLUMNS_H
#define ADDRSPEC_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of a result: its name with the quotes and the colon of JSON, and what its value is, if
   it is not null. */
struct member {
    const char *name;
    size_t length;
    enum { TEXT, FLAG, NUMBER } kind;
};

/* The members of facts and of a verdict in their order. After the facts comes canonical, for results
   with details. */
enum { FACTS_COUNT = 16, VERDICT_COUNT = 3 };
extern const struct member FACTS[], VERDICT[];

/* Results of an address that is longer than the module takes. */
#define FACTS_OF_TOO_LONG "{\"valid\":false}"
#define VERDICT_OF_TOO_LONG "{\"action\":\"block\",\"reason\":\"invalid\"}"

/* A value in JSON. first is its first byte; at and length are the bytes of a text between its quotes. */
struct value {
    char first;
    bool escaped;
    const char *at;
    size_t length;
};

/* Reads the member with a name at *at, and moves *at behind it. false: another is there, or
   none, or one that no result has. */
bool read_member(const char **at, const char *end, const struct member *member, struct value *value);

/* Writes a text, at most as long as in JSON, and returns its length. */
size_t unescape(const struct value *value, char *to);

/* Returns a number of a result: 0, 1, or one or two digits behind the point. */
double number(const struct value *value);

/* Makes room for more bytes after a length. */
bool make_room(char **data, size_t *room, size_t length, size_t more);

/* As the specification of Arrow has it. */
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

/* Returns an array of structs of count members, whose rows are all null, or NULL without memory. */
struct ArrowArray *new_results(const struct member *members, int64_t count, int64_t rows);

/* Sets a row, after those before it, to a result; "" is null. A member that it lacks is null. false:
   there is no memory. */
bool append_row(struct ArrowArray *results, const struct member *members, int64_t row, const char *json, size_t size);

#endif
