/* trap MODULE LISTS checks, with a module that fails on "!" and "?", each of them and then
   an address, whose result it prints. */
#include <addrspec.h>
#include <stdio.h>
#include <stdlib.h>

static void *read_file(const char *path, size_t *size) {
    static char bytes[2][8 << 20];
    static int files;
    FILE *file = fopen(path, "rb");
    if (file == NULL || files == 2) exit(1);
    *size = fread(bytes[files], 1, sizeof bytes[files], file);
    fclose(file);
    return bytes[files++];
}

static void check(addrspec_checker *checker, const char *bad) {
    static const char address[] = "jane@swapped.example";
    addrspec_facts *facts;
    addrspec_error error;
    if (addrspec_check(checker, bad, 1, 0, &facts, &error) == ADDRSPEC_OK) puts("no error");
    if (addrspec_check(checker, address, sizeof address - 1, 0, &facts, &error) != ADDRSPEC_OK) exit(1);
    puts(facts->json.data);
    addrspec_facts_free(facts);
}

int main(int count, char **args) {
    addrspec_options options = {0};
    addrspec_error error;
    if (count != 3) return 1;
    options.module = read_file(args[1], &options.module_size);
    options.lists = read_file(args[2], &options.lists_size);
    options.instances = 1;
    addrspec_checker *checker = addrspec_checker_new(&options, &error);
    if (checker == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    check(checker, "!");
    check(checker, "?");
    addrspec_checker_free(checker);
    return 0;
}
