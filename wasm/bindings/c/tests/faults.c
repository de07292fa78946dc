/* Tests of what fails: traps, defects of the module, and memory that is not there. The
   linker puts the functions __wrap_X of this file in place of X (--wrap). */
#define _POSIX_C_SOURCE 200809L
#include <addrspec.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"

static int failures;

#define EXPECT(condition) \
    ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition)))

/* A policy with a document of a size that makes the module's memory grow. */
enum { DOMAINS = 9000 };
static char large[DOMAINS * 40];

/* Which allocation from now on fails; 0 for none. With lasting, those after it fail, too. */
static int countdown;
static bool lasting;

static bool denied(void) { return countdown > 0 && --countdown == 0 ? (countdown = lasting ? 1 : 0, true) : false; }

void *__real_malloc(size_t), *__real_calloc(size_t, size_t), *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t size) { return denied() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return denied() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *data, size_t size) { return denied() ? NULL : __real_realloc(data, size); }

/* Recurses until the limit. */
static u32 deep(Z_addrspec_instance_t *instance, u32 n) {
    if (++wasm_rt_call_stack_depth > WASM_RT_MAX_CALL_STACK_DEPTH) wasm_rt_trap(WASM_RT_TRAP_EXHAUSTION);
    return n == UINT32_MAX ? 0 : deep(instance, n + 1) + 1;
}

/* The module's function with the defects that tests of other hosts have, by the first byte
   of an address: "!" traps, "?" reports a defect, "#" returns a size beyond the memory, "%"
   one of a text in the report, and "$" recurses. */
u32 __real_Z_addrspecZ_addrspec_check(Z_addrspec_instance_t *, u32, u32);
u32 __wrap_Z_addrspecZ_addrspec_check(Z_addrspec_instance_t *instance, u32 length, u32 flags) {
    uint8_t *memory = instance->w2c_memory.data;
    u32 report = Z_addrspecZ_addrspec_report_ptr(instance);
    switch (memory[Z_addrspecZ_addrspec_in_ptr(instance)]) {
    case '!': wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
    case '?': return (u32)-3;
    case '#': return 1u << 30;
    case '$': return deep(instance, 0);
    }
    u32 size = __real_Z_addrspecZ_addrspec_check(instance, length, flags);
    if (memory[Z_addrspecZ_addrspec_in_ptr(instance)] == '%') memset(memory + report + 4 * 17, 0xff, 4);
    return size;
}

static const addrspec_result *check(addrspec_checker *checker, const char *address) {
    return addrspec_check(checker, address, strlen(address), 0);
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(8 << 20);
    *size = file == NULL || bytes == NULL ? 0 : fread(bytes, 1, 8 << 20, file);
    if (file != NULL) fclose(file);
    return bytes;
}

/* The checker goes on with the lists that it has, and with its policies. */
static void goes_on_after_a_defect(const char *lists, const char *swapped) {
    size_t size;
    char *blob = read_file(lists, &size);
    addrspec_checker *checker = addrspec_new();
    EXPECT(addrspec_load_lists(checker, blob, size) == ADDRSPEC_OK);
    for (const char *defect = "!?#%$!"; *defect != '\0'; defect++) {
        char address[] = {*defect, '@', 'x', '\0'};
        const addrspec_result *result;
        EXPECT(check(checker, address) == NULL && addrspec_error_code(checker) == ADDRSPEC_ERROR_INTERNAL);
        EXPECT(strstr(addrspec_error_message(checker), "the module failed") != NULL);
        EXPECT(addrspec_decide(checker, "{}", 2, NULL) == NULL); /* there is no result */
        EXPECT((result = check(checker, swapped)) != NULL && result->is_public);
        EXPECT(addrspec_decide(checker, "{}", 2, NULL) != NULL && addrspec_error_code(checker) == ADDRSPEC_OK);
    }
    addrspec_free(checker);
    free(blob);
}

/* Uses everything that allocates. Returns whether all of it worked; an error is one of memory. */
static bool use(const char *blob, size_t size) {
    addrspec_checker *checker = addrspec_new();
    bool all = checker != NULL && check(checker, "jane@gmial.com") != NULL && addrspec_decide(checker, large, strlen(large), NULL) != NULL &&
               addrspec_load_lists(checker, blob, size) == ADDRSPEC_OK && check(checker, "!") == NULL && check(checker, "jane@gmial.com") != NULL;
    addrspec_code code = addrspec_error_code(checker);
    EXPECT(all ? code == ADDRSPEC_OK : code == ADDRSPEC_ERROR_MEMORY);
    lasting = false;
    countdown = 0;
    EXPECT(checker == NULL || check(checker, "jane@gmial.com")->typo); /* the next call tries again */
    addrspec_free(checker);
    return all;
}

static void survives_without_memory(const char *lists, bool from_then_on) {
    size_t size;
    char *blob = read_file(lists, &size);
    int place = 1;
    for (bool all = false; !all && place < 1000; place++) {
        countdown = place;
        lasting = from_then_on;
        all = use(blob, size);
    }
    EXPECT(place > 6 && place < 1000);
    free(blob);
}

/* A child may use its copy of the checker. */
static void survives_a_fork(void) {
    addrspec_checker *checker = addrspec_new();
    int status = 1;
    check(checker, "jane@gmial.com");
    pid_t child = fork();
    if (child == 0) _exit(check(checker, "jane@gmail.com")->typo || check(checker, "!x") != NULL || !check(checker, "a@gmial.com")->typo);
    EXPECT(check(checker, "a@gmial.com")->typo);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    addrspec_free(checker);
}

static void *use_little_stack(void *lists) {
    goes_on_after_a_defect(lists, "jane@swapped.example");
    return lists;
}

/* The stack that README.md says a thread needs. */
static void needs_little_stack(char *lists) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    EXPECT(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    EXPECT(pthread_create(&thread, &attributes, use_little_stack, lists) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

/* Sixteen policies of 750 KB would make it 47 MB; the checker remembers five of them, with 28 MB. The
   sanitizers' malloc counts nothing. */
static void remembers_few_long_policies(void) {
    static char policy[900 << 10];
    addrspec_checker *checker = addrspec_new();
    for (int n = 0; n < 48; n++) {
        const addrspec_verdict *verdict;
        size_t length = (size_t)sprintf(policy, "{\"block\":{\"domains\":[\"d%d.example\"", n % 16);
        for (int d = 0; d < 9990; d++) length += (size_t)sprintf(policy + length, ",\"%060d.%02d.example\"", d, n % 16);
        length += (size_t)sprintf(policy + length, "]}}");
        EXPECT(check(checker, n % 2 ? "a@d3.example" : "a@d4.example") != NULL);
        EXPECT((verdict = addrspec_decide(checker, policy, length, NULL)) != NULL);
        EXPECT(verdict != NULL && verdict->action == (n % 16 == (n % 2 ? 3 : 4) ? 'b' : 'a'));
    }
    struct mallinfo2 memory = mallinfo2();
    EXPECT(memory.uordblks + memory.hblkhd < 36 << 20);
    addrspec_free(checker);
}

int main(int count, char **args) {
    if (count != 2) return 2;
    strcpy(large, "{\"block\":{\"domains\":[\"a.example\"");
    for (size_t n = 0, at = strlen(large); n < DOMAINS; n++) at += (size_t)sprintf(large + at, ",\"domain%zu.example\"", n);
    strcat(large, "]}}");
    goes_on_after_a_defect(args[1], "jane@swapped.example");
    survives_without_memory(args[1], false);
    survives_without_memory(args[1], true);
    survives_a_fork();
    needs_little_stack(args[1]);
    remembers_few_long_policies();
    return failures == 0 ? 0 : 1;
}
