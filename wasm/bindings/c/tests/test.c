/* Tests of the library as its users see it, and of what reads the module's output. */
#define _POSIX_C_SOURCE 200809L
#include <addrspec.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"
#include "record.h"

static int failures;

/* Reports a condition that is false, and continues. */
#define EXPECT(condition) \
    ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition)))

static bool is(addrspec_text text, const char *want) {
    if (want == NULL || text.data == NULL) return want == NULL && text.data == NULL;
    return text.length == strlen(want) && memcmp(text.data, want, text.length + 1) == 0;
}

static addrspec_facts *check(addrspec_checker *checker, const char *address, unsigned flags) {
    addrspec_facts *facts = NULL;
    addrspec_error error;
    if (addrspec_check(checker, address, strlen(address), flags, &facts, &error) == ADDRSPEC_OK) return facts;
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}

static void has_every_fact(addrspec_checker *checker) {
    addrspec_facts *facts = check(checker, "Support+eu@Gmial.com", 0);
    EXPECT(facts->valid && facts->alias && facts->ascii && facts->typo);
    EXPECT(!facts->gibberish && !facts->disposable && !facts->is_public && !facts->relay);
    EXPECT(is(facts->email, "Support+eu@Gmial.com"));
    EXPECT(is(facts->normalized, "support+eu@gmial.com"));
    EXPECT(is(facts->local_part, "Support+eu") && is(facts->domain, "gmial.com"));
    EXPECT(is(facts->role, "Support") && is(facts->typo_suggestion, "gmail.com"));
    EXPECT(facts->gibberish_score >= 0 && facts->gibberish_score < 0.5);
    EXPECT(is(facts->refusal.code, NULL) && is(facts->details, NULL));
    EXPECT(strstr(facts->json.data, "\"mx\":null") != NULL && facts->mx == NULL);
    addrspec_facts_free(facts);
}

static void a_refusal_is_a_result(addrspec_checker *checker) {
    addrspec_facts *facts = check(checker, "jane@@example.org", ADDRSPEC_DETAILS);
    EXPECT(facts->mx != NULL && !*facts->mx);
    EXPECT(!facts->valid && is(facts->normalized, NULL) && is(facts->domain, NULL));
    EXPECT(is(facts->refusal.code, "second_at") && facts->refusal.offset == 5);
    EXPECT(is(facts->refusal.section, "RFC 5322 section 3.4.1"));
    EXPECT(strncmp(facts->refusal.sentence.data, "the address has a second @", 26) == 0);
    EXPECT(strncmp(facts->details.data, "{\"refusal\":{", 12) == 0);
    EXPECT(facts->details.data[facts->details.length - 1] == '}');
    addrspec_facts_free(facts);
}

static void details_have_form_and_exchange(addrspec_checker *checker) {
    addrspec_facts *facts = check(checker, "\"a b\"@printer.local", ADDRSPEC_DETAILS);
    EXPECT(strstr(facts->details.data, ",\"form\":[\"quoted\",\"unknown_tld\",\"special_use\"],\"exchange\":null}") != NULL);
    addrspec_facts_free(facts);
}

static void takes_any_bytes(addrspec_checker *checker) {
    addrspec_facts *facts;
    EXPECT(addrspec_check(checker, "j\xff\0ne@x", 7, 0, &facts, NULL) == ADDRSPEC_OK);
    EXPECT(!facts->valid && facts->email.length == 9 && memcmp(facts->email.data, "j\xef\xbf\xbd\0ne@x", 10) == 0);
    addrspec_facts_free(facts);
    EXPECT(addrspec_check(checker, NULL, 0, 0, &facts, NULL) == ADDRSPEC_OK);
    EXPECT(is(facts->refusal.code, "empty"));
    addrspec_facts_free(facts);
}

static addrspec_code decide(addrspec_checker *checker, const char *address, const char *policy, const addrspec_found *found,
                            addrspec_verdict *verdict, addrspec_error *error) {
    return addrspec_decide(checker, address, strlen(address), policy, strlen(policy), found, verdict, error);
}

static void decides_by_a_policy(addrspec_checker *checker) {
    const char *policy = "{\"block\":{\"reasons\":[\"no_mail\"]},\"review\":{\"reasons\":[\"role\"]}}";
    addrspec_verdict verdict = {0};
    addrspec_error error;
    addrspec_found found = {ADDRSPEC_NO, ADDRSPEC_NO, false}, wrong = {(addrspec_known)2, ADDRSPEC_NO, false};
    EXPECT(decide(checker, "info@example.org", policy, NULL, &verdict, &error) == ADDRSPEC_OK && verdict.action == 'r');
    EXPECT(strcmp(verdict.json, "{\"action\":\"review\",\"reason\":\"role\",\"rule\":\"review.reasons[0]\"}") == 0);
    EXPECT(decide(checker, "info@example.org", policy, &found, &verdict, &error) == ADDRSPEC_OK && verdict.action == 'b');
    EXPECT(decide(checker, "info@example.org", policy, &wrong, &verdict, &error) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(decide(checker, "info@example.org", "{\"block\":{\"reasons\":[\"rolle\"]}}", NULL, &verdict, &error) == ADDRSPEC_ERROR_POLICY);
    EXPECT(strcmp(error.message, "block.reasons[0]: \"rolle\" is no reason; did you mean \"role\"?") == 0);
    EXPECT(addrspec_decide(checker, "x", 1, NULL, 0, NULL, &verdict, NULL) == ADDRSPEC_ERROR_ARGUMENT);
}

/* More policies than slots, and refused ones between them, never get another's verdict. */
static void keeps_policies_apart(addrspec_checker *checker) {
    for (int n = 0; n < 80; n++) {
        char policy[64], address[32];
        addrspec_verdict verdict = {0};
        EXPECT(decide(checker, "a@b", "7", NULL, &verdict, NULL) == ADDRSPEC_ERROR_POLICY);
        snprintf(policy, sizeof policy, "{\"block\":{\"domains\":[\"d%d.example\"]}}", n % 40);
        snprintf(address, sizeof address, "a@d%d.example", n % 40);
        EXPECT(decide(checker, address, policy, NULL, &verdict, NULL) == ADDRSPEC_OK && verdict.action == 'b');
        snprintf(address, sizeof address, "a@d%d.example", n % 40 + 1);
        EXPECT(decide(checker, address, policy, NULL, &verdict, NULL) == ADDRSPEC_OK && verdict.action == 'a');
    }
}

static void full_suggestion(addrspec_checker *checker) {
    addrspec_facts *facts = check(checker, "jane@gmial.com", ADDRSPEC_FULL_SUGGESTION);
    EXPECT(is(facts->typo_suggestion, "jane@gmail.com"));
    addrspec_facts_free(facts);
}

static void names_wrong_arguments(addrspec_checker *checker) {
    addrspec_facts *facts;
    addrspec_error error;
    addrspec_text text = {NULL, 3};
    EXPECT(addrspec_check(NULL, "x", 1, 0, &facts, &error) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(strcmp(error.message, "checker is NULL") == 0 && facts == NULL);
    EXPECT(addrspec_check(checker, "x", 1, 0, NULL, &error) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(addrspec_check(checker, "x", 1, 4, &facts, &error) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(strncmp(error.message, "flags is 4", 10) == 0);
    EXPECT(addrspec_check_many(checker, &text, 1, 0, &facts, &error) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(strcmp(error.message, "address 0 (from 0) is NULL and has 3 bytes") == 0);
    EXPECT(addrspec_check_many(checker, NULL, 1, 0, &facts, NULL) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(addrspec_check_many(checker, NULL, 0, 0, NULL, NULL) == ADDRSPEC_OK);
    EXPECT(addrspec_get_versions(checker, NULL, &error) == ADDRSPEC_ERROR_ARGUMENT);
}

/* Addresses of lengths around the limits of a call. */
enum { LENGTHS = 11 };
static const size_t lengths[LENGTHS] = {0, 1, 5, 16379, 16380, 16381, 70000, ADDRSPEC_MAX_ADDRESS - 5, ADDRSPEC_MAX_ADDRESS - 4,
                                        ADDRSPEC_MAX_ADDRESS - 3, ADDRSPEC_MAX_ADDRESS};

static void many_gives_what_one_gives(addrspec_checker *checker) {
    static addrspec_text addresses[LENGTHS + 1];
    static addrspec_facts *facts[LENGTHS + 1];
    char *bytes = malloc(ADDRSPEC_MAX_ADDRESS);
    memset(bytes, '\n', ADDRSPEC_MAX_ADDRESS);
    for (int n = 0; n < LENGTHS; n++) addresses[n] = (addrspec_text){bytes, lengths[n]};
    EXPECT(addrspec_check_many(checker, addresses, LENGTHS, ADDRSPEC_DETAILS, facts, NULL) == ADDRSPEC_OK);
    for (int n = 0; n < LENGTHS && facts[n] != NULL; n++) {
        addrspec_facts *one;
        EXPECT(addrspec_explain(checker, bytes, lengths[n], 0, &one, NULL) == ADDRSPEC_OK);
        EXPECT(is(one->json, facts[n]->json.data) && is(one->refusal.sentence, facts[n]->refusal.sentence.data));
        addrspec_facts_free(one);
        addrspec_facts_free(facts[n]);
    }
    free(bytes);
}

static void refuses_an_address_that_is_too_long(addrspec_checker *checker) {
    addrspec_text addresses[2] = {{"jane@mail.example", 17}, {"x", ADDRSPEC_MAX_ADDRESS + 1}}; /* never read */
    addrspec_facts *facts[2];
    addrspec_error error;
    EXPECT(addrspec_check_many(checker, addresses, 2, 0, facts, &error) == ADDRSPEC_ERROR_TOO_LONG);
    EXPECT(error.code == ADDRSPEC_ERROR_TOO_LONG && facts[0] == NULL && facts[1] == NULL);
    EXPECT(strcmp(error.message, "address 1 (from 0) has 1048577 bytes; at most 1048576 are accepted: shorten or leave it out") == 0);
}

static void damaged_lists_change_nothing(addrspec_checker *checker) {
    static char zeros[(4 << 20) + 1];
    addrspec_versions before, after;
    addrspec_error error;
    EXPECT(addrspec_get_versions(checker, &before, NULL) == ADDRSPEC_OK && before.engine[0] != '\0');
    EXPECT(addrspec_set_lists(checker, "", 0, &error) == ADDRSPEC_ERROR_LISTS);
    EXPECT(addrspec_set_lists(checker, zeros, 4096, &error) == ADDRSPEC_ERROR_LISTS);
    EXPECT(addrspec_set_lists(checker, zeros, sizeof zeros, &error) == ADDRSPEC_ERROR_LISTS);
    EXPECT(strcmp(error.message, "the lists were refused: the lists are larger than 4 MiB") == 0);
    EXPECT(addrspec_get_versions(checker, &after, NULL) == ADDRSPEC_OK && strcmp(before.lists, after.lists) == 0);
}

static void refuses_other_modules(void) {
    addrspec_options options = {0};
    addrspec_error error;
    options.module = "not a module";
    options.module_size = 12;
    EXPECT(addrspec_checker_new(&options, &error) == NULL && error.code == ADDRSPEC_ERROR_ENGINE);
    options.module = "\0asm\1\0\0\0"; /* without exports */
    options.module_size = 8;
    EXPECT(addrspec_checker_new(&options, &error) == NULL && error.code == ADDRSPEC_ERROR_MODULE);
    options.module = NULL;
    EXPECT(addrspec_checker_new(&options, &error) == NULL && error.code == ADDRSPEC_ERROR_ARGUMENT);
}

static void *check_often(void *checker) {
    for (int n = 0; n < 200; n++) {
        char address[64];
        snprintf(address, sizeof address, "t%p.%d@example.org", (void *)address, n);
        addrspec_facts *facts = check(checker, address, 0);
        bool same = is(facts->email, address);
        addrspec_facts_free(facts);
        if (!same) return checker;
    }
    return NULL;
}

/* More threads than instances. */
static void threads_share_a_checker(addrspec_checker *checker) {
    pthread_t threads[8];
    for (int n = 0; n < 8; n++) EXPECT(pthread_create(&threads[n], NULL, check_often, checker) == 0);
    for (int n = 0; n < 8; n++) {
        void *wrong;
        EXPECT(pthread_join(threads[n], &wrong) == 0 && wrong == NULL);
    }
}

static void a_child_of_fork_checks(addrspec_checker *checker) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) _exit(check_often(checker) == NULL ? 0 : 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

static bool reads(const char *json, const char *want) {
    char store[64];
    addrspec_text text;
    addrspec_json reader = {json, json + strlen(json), store};
    return addrspec_json_text(&reader, &text) && reader.at == reader.end && is(text, want);
}

static void reads_json(void) {
    EXPECT(reads("\"\"", "") && reads("\"a\xc3\xa9\"", "a\xc3\xa9"));
    EXPECT(reads("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"));
    EXPECT(reads("\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
    const char *bad[] = {"", "\"", "x", "\"\\", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\n\""};
    for (size_t n = 0; n < sizeof bad / sizeof bad[0]; n++) EXPECT(!reads(bad[n], ""));
}

static void reads_numbers(void) {
    const struct {
        const char *json;
        double want;
    } all[] = {{"0", 0}, {"1", 1}, {"0.5", 0.5}, {"0.97", 0.97}, {"0.07", 0.07}, {"", -1}, {"-1", -1}, {".5", -1}, {"0.", -1}};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
        double value = -1;
        addrspec_json reader = {all[n].json, all[n].json + strlen(all[n].json), NULL};
        bool read = addrspec_json_number(&reader, &value);
        EXPECT(read == (all[n].want >= 0));
        EXPECT(!read || (value > all[n].want - 1e-9 && value < all[n].want + 1e-9));
    }
}

int main(void) {
    addrspec_error error;
    addrspec_options options = {0};
    options.instances = 2;
    addrspec_checker *checker = addrspec_checker_new(&options, &error);
    if (checker == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    void (*const tests[])(addrspec_checker *) = {has_every_fact, a_refusal_is_a_result, details_have_form_and_exchange, takes_any_bytes, decides_by_a_policy, keeps_policies_apart, full_suggestion, names_wrong_arguments,
                                                 many_gives_what_one_gives, refuses_an_address_that_is_too_long, damaged_lists_change_nothing,
                                                 threads_share_a_checker, a_child_of_fork_checks};
    for (size_t n = 0; n < sizeof tests / sizeof tests[0]; n++) tests[n](checker);
    refuses_other_modules();
    reads_json();
    reads_numbers();
    addrspec_checker_free(checker);
    addrspec_checker_free(NULL);
    addrspec_facts_free(NULL);
    if (failures == 0) puts("ok");
    return failures != 0;
}
