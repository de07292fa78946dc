/*
 * Prints one line of JSON for each address:
 *
 *     check [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS...]
 *
 * It checks its arguments or, without any, the lines of standard input. With -0, addresses
 * in the input end with a zero byte instead; with -1, it checks one by one, not in bulk;
 * with -d, results have the member details; with -l, the lists are those of a newer
 * lists.blob, whose signature minisign verifies. With -p, the input has six texts for each
 * address, which end with a zero byte: the document of a policy, the address, of mx, the
 * address record and disposable exchanges 1, 0 or nothing, as far as they were looked up, and
 * the names of the exchanges with spaces between; it prints the verdict, or why the document is
 * no policy.
 */
#include <addrspec.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

/* How many addresses are in memory at once. */
enum { CHUNK = 1000 };

struct options {
    bool zero, single, policies;
    unsigned flags;
    const char *lists;
};

/* Addresses to be checked, which the chunk owns. */
struct chunk {
    addrspec_address addresses[CHUNK];
    size_t count;
};

static void die(const char *why) {
    fprintf(stderr, "check: %s\n", why);
    exit(1);
}

static void fail(const addrspec_checker *checker) { die(addrspec_error_message(checker)); }

static bool print(void *unused, size_t index, const addrspec_result *result) {
    (void)unused;
    (void)index;
    fwrite(result->json, 1, result->json_length, stdout);
    putchar('\n');
    return true;
}

static void check_one_by_one(addrspec_checker *checker, const struct chunk *chunk, unsigned flags) {
    for (size_t n = 0; n < chunk->count; n++) {
        const addrspec_result *result = addrspec_check(checker, chunk->addresses[n].data, chunk->addresses[n].length, flags);
        if (result == NULL) fail(checker);
        print(NULL, n, result);
    }
}

static void check_many(addrspec_checker *checker, const struct chunk *chunk, unsigned flags) {
    if (addrspec_check_many(checker, chunk->addresses, chunk->count, flags, print, NULL) != ADDRSPEC_OK) fail(checker);
}

/* Checks the addresses of the chunk and empties it. */
static void check(addrspec_checker *checker, struct chunk *chunk, const struct options *options) {
    if (options->single) check_one_by_one(checker, chunk, options->flags);
    else check_many(checker, chunk, options->flags);
    for (size_t n = 0; n < chunk->count; n++) free((void *)chunk->addresses[n].data);
    chunk->count = 0;
}

static void add(struct chunk *chunk, const char *data, size_t length) {
    char *copy = malloc(length + 1);
    if (copy == NULL) die("there is no memory");
    memcpy(copy, data, length);
    chunk->addresses[chunk->count].data = copy;
    chunk->addresses[chunk->count++].length = length;
}

/* A text of the input, which grows as needed. */
struct text {
    char *data;
    size_t length, room;
};

/* Reads up to an end or the end of the input, and puts a zero byte behind. false: there is no
   more. */
static bool read_text(struct text *text, int end) {
    int byte;
    text->length = 0;
    while ((byte = getchar()) != EOF) {
        if (text->length + 1 >= text->room) text->data = realloc(text->data, text->room = 2 * text->room + 256);
        if (text->data == NULL) die("there is no memory");
        if (byte == end) break;
        text->data[text->length++] = (char)byte;
    }
    if (byte == EOF && text->length == 0) return false;
    text->data[text->length] = '\0';
    return true;
}

static void check_input(addrspec_checker *checker, struct chunk *chunk, const struct options *options) {
    struct text line = {NULL, 0, 0};
    while (read_text(&line, options->zero ? '\0' : '\n')) {
        if (!options->zero && line.length > 0 && line.data[line.length - 1] == '\r') line.length--;
        if (line.length > 0) add(chunk, line.data, line.length);
        if (chunk->count == CHUNK) check(checker, chunk, options);
    }
    check(checker, chunk, options);
    free(line.data);
}

static addrspec_known fact(const char *text) {
    return *text == '\0' ? ADDRSPEC_UNKNOWN : *text == '1' ? ADDRSPEC_YES : ADDRSPEC_NO;
}

/* Prints the verdict on an address, or why the document is no policy. */
static void decide(addrspec_checker *checker, const struct text texts[6]) {
    addrspec_found found = {fact(texts[2].data), fact(texts[3].data), *texts[4].data == '1', texts[5].data};
    if (addrspec_check(checker, texts[1].data, texts[1].length, 0) == NULL) fail(checker);
    const addrspec_verdict *verdict = addrspec_decide(checker, texts[0].data, texts[0].length, &found);
    if (verdict == NULL && addrspec_error_code(checker) != ADDRSPEC_ERROR_POLICY) fail(checker);
    puts(verdict != NULL ? verdict->json : addrspec_error_message(checker));
}

/* Decides about each six texts of the input. */
static void decide_input(addrspec_checker *checker) {
    struct text texts[6] = {{NULL, 0, 0}};
    for (int n = 0; read_text(&texts[n], '\0'); n = (n + 1) % 6)
        if (n == 5) decide(checker, texts);
    for (int n = 0; n < 6; n++) free(texts[n].data);
}

/* Returns the bytes of a file, which the caller frees. */
static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) die("the lists cannot be read");
    long end = ftell(file);
    rewind(file);
    if (end < 0) die("the lists cannot be read");
    *size = (size_t)end;
    char *bytes = malloc(*size + 1);
    if (bytes == NULL || fread(bytes, 1, *size, file) != *size) die("the lists cannot be read");
    fclose(file);
    return bytes;
}

/* Reads the options and returns the index of the first address. */
static int read_options(int count, char **args, struct options *options) {
    int n = 1;
    for (; n < count && args[n][0] == '-'; n++) {
        if (strcmp(args[n], "-0") == 0) options->zero = true;
        else if (strcmp(args[n], "-1") == 0) options->single = true;
        else if (strcmp(args[n], "-d") == 0) options->flags |= ADDRSPEC_DETAILS;
        else if (strcmp(args[n], "-p") == 0) options->policies = true;
        else if (strcmp(args[n], "-l") == 0 && n + 1 < count) options->lists = args[++n];
        else die("usage: check [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS...]");
    }
    return n;
}

/* Returns a checker with the lists in a file, or with those inside. */
static addrspec_checker *new_checker(const char *lists) {
    size_t size;
    addrspec_checker *checker = addrspec_new();
    if (checker == NULL) fail(checker);
    if (lists == NULL) return checker;
    char *blob = read_file(lists, &size);
    if (addrspec_load_lists(checker, blob, size) != ADDRSPEC_OK) fail(checker);
    free(blob);
    return checker;
}

int main(int count, char **args) {
    static struct chunk chunk;
    struct options options = {0};
#ifdef _WIN32 /* no byte of the input and the output is changed */
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    int first = read_options(count, args, &options);
    addrspec_checker *checker = new_checker(options.lists);
    for (int n = first; n < count; n++) {
        add(&chunk, args[n], strlen(args[n]));
        if (chunk.count == CHUNK) check(checker, &chunk, &options);
    }
    if (options.policies) decide_input(checker);
    else if (first < count) check(checker, &chunk, &options);
    else check_input(checker, &chunk, &options);
    addrspec_free(checker);
    return fflush(stdout) == 0 ? 0 : 1;
}
