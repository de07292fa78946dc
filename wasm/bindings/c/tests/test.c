/* Tests of the library as its users see it. */
#define _POSIX_C_SOURCE 200809L
#include <addrspec.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

/* Reports a condition that is false, and continues. */
#define EXPECT(condition) \
    ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition)))

static bool is(const char *text, const char *want) {
    return want == NULL || text == NULL ? want == text : strcmp(text, want) == 0;
}

static const addrspec_result *check(addrspec_checker *checker, const char *address, unsigned flags) {
    const addrspec_result *result = addrspec_check(checker, address, strlen(address), flags);
    if (result != NULL) return result;
    fprintf(stderr, "%s\n", addrspec_error_message(checker));
    exit(1);
}

static void has_every_fact(addrspec_checker *checker) {
    const addrspec_result *r = check(checker, "Support+eu@Gmial.com", 0);
    EXPECT(r->valid && r->alias && r->ascii && r->typo);
    EXPECT(!r->gibberish && !r->disposable && !r->is_public && !r->relay);
    EXPECT(is(r->normalized, "support+eu@gmial.com") && is(r->local_part, "Support+eu") && is(r->domain, "gmial.com"));
    EXPECT(is(r->role, "Support") && is(r->typo_suggestion, "gmail.com") && is(r->host, "gmial.com"));
    EXPECT(r->gibberish_score >= 0 && r->gibberish_score < 0.5);
    EXPECT(is(r->refusal.code, NULL) && is(r->canonical, NULL));
    EXPECT(strlen(r->json) == r->json_length && strstr(r->json, "\"mx\":null") != NULL);
    EXPECT(check(checker, "xq7zkv9wjp3@example.org", 0)->gibberish);
    EXPECT(check(checker, "a@mailinator.com", 0)->disposable);
    EXPECT(check(checker, "a@gmail.com", 0)->is_public);
}

static void has_details(addrspec_checker *checker) {
    const addrspec_result *r = check(checker, "J.Doe+x@googlemail.com", ADDRSPEC_DETAILS | ADDRSPEC_FULL_SUGGESTION);
    EXPECT(is(r->canonical, "jdoe@gmail.com") && strstr(r->json, ",\"details\":{\"refusal\":null,") != NULL);
    EXPECT(is(check(checker, "jane@gmial.com", ADDRSPEC_FULL_SUGGESTION)->typo_suggestion, "jane@gmail.com"));
}

static void gives_the_json_alone(addrspec_checker *checker) {
    size_t length = 0;
    const addrspec_result *r = check(checker, "info@example.org", 0);
    char want[1000];
    memcpy(want, r->json, r->json_length + 1);
    const char *json = addrspec_check_json(checker, "info@example.org", 16, 0, &length);
    EXPECT(json != NULL && length == strlen(want) && memcmp(json, want, length) == 0);
    EXPECT(addrspec_decide(checker, "{}", 2, NULL) == NULL && addrspec_error_code(checker) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(addrspec_check_json(checker, NULL, 1, 0, &length) == NULL);
}

static void decodes_escapes(addrspec_checker *checker) {
    const addrspec_result *r = check(checker, "\"a\\\"b\\\\ c\"@example.org", 0);
    EXPECT(r->valid && is(r->local_part, "\"a\\\"b\\\\ c\""));
    EXPECT(is(check(checker, "j@b\xc3\xbc" "cher.example", 0)->host, "xn--bcher-kva.example"));
}

static void a_refusal_is_a_result(addrspec_checker *checker) {
    const addrspec_result *r = check(checker, "jane@@example.org", 0);
    EXPECT(!r->valid && is(r->normalized, NULL) && is(r->domain, NULL) && is(r->host, ""));
    EXPECT(is(r->refusal.code, "second_at") && r->refusal.offset == 5 && is(r->refusal.section, "RFC 5322 section 3.4.1"));
    EXPECT(strncmp(r->refusal.sentence, "the address has a second @", 26) == 0);
    EXPECT(addrspec_check(checker, "j\xff\0ne@x", 7, 0)->valid == false);
    EXPECT(is(addrspec_check(checker, NULL, 0, 0)->refusal.code, "empty"));
}

static void takes_the_longest_address(addrspec_checker *checker) {
    char *address = calloc(1, ADDRSPEC_MAX_ADDRESS + 1);
    const addrspec_result *r = addrspec_check(checker, address, ADDRSPEC_MAX_ADDRESS, ADDRSPEC_DETAILS);
    EXPECT(r != NULL && is(r->refusal.code, "address_too_long") && r->json_length > 6 * (size_t)ADDRSPEC_MAX_ADDRESS);
    EXPECT(addrspec_check(checker, address, ADDRSPEC_MAX_ADDRESS + 1, 0) == NULL && addrspec_error_code(checker) == ADDRSPEC_ERROR_TOO_LONG);
    EXPECT(check(checker, "jane@example.org", 0)->valid && addrspec_error_code(checker) == ADDRSPEC_OK);
    free(address);
}

static char action(addrspec_checker *checker, const char *address, const char *policy, const addrspec_found *found) {
    check(checker, address, 0);
    const addrspec_verdict *verdict = addrspec_decide(checker, policy, strlen(policy), found);
    return verdict == NULL ? '!' : verdict->action;
}

static void decides_by_a_policy(addrspec_checker *checker) {
    const char *policy = "{\"block\":{\"reasons\":[\"no_mail\",\"disposable\"]},\"review\":{\"reasons\":[\"role\"]}}";
    addrspec_found none = {ADDRSPEC_NO, ADDRSPEC_NO, false, NULL}, burner = {ADDRSPEC_YES, ADDRSPEC_UNKNOWN, true, NULL};
    addrspec_found wrong = {.mx = (addrspec_known)2};
    EXPECT(action(checker, "info@example.org", policy, NULL) == 'r');
    EXPECT(is(addrspec_decide(checker, policy, strlen(policy), NULL)->json,
              "{\"action\":\"review\",\"reason\":\"role\",\"rule\":\"review.reasons[0]\"}"));
    EXPECT(action(checker, "jane@example.org", policy, NULL) == 'a');
    EXPECT(action(checker, "jane@example.org", policy, &none) == 'b');
    EXPECT(action(checker, "jane@example.org", policy, &burner) == 'b');
    EXPECT(action(checker, "jane@example.org", policy, &wrong) == '!' && addrspec_error_code(checker) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(action(checker, "a@b", "{\"block\":{\"reasons\":[\"rolle\"]}}", NULL) == '!' && addrspec_error_code(checker) == ADDRSPEC_ERROR_POLICY);
    EXPECT(addrspec_error_offset(checker) == 21);
    EXPECT(is(addrspec_error_message(checker), "block.reasons[0]: \"rolle\" is no reason; did you mean \"role\"?"));
}

static void decides_by_addresses_and_exchanges(addrspec_checker *checker) {
    const char *policy = "{\"block\":{\"addresses\":[\"j.doe@gmail.com\"],\"exchanges\":[\"*.burner.example\"]}}";
    static char many[(64 << 10) + 2];
    EXPECT(action(checker, "JDoe+x@googlemail.com", policy, NULL) == 'b');
    EXPECT(action(checker, "(\\\" a)J.Doe@gmail.com", policy, NULL) == 'b' && action(checker, "jdoe@example.org", policy, NULL) == 'a');
    const char *blocked[] = {"mx.burner.example", " a.burner.example  b.c.burner.example ", NULL};
    const char *others[] = {"", "  ", "mx.burner.example mx.example.org", "mx.burner.example *", NULL};
    for (int n = 0; blocked[n] != NULL; n++) EXPECT(action(checker, "jane@example.org", policy, &(addrspec_found){.mx = ADDRSPEC_YES, .exchanges = blocked[n]}) == 'b');
    for (int n = 0; others[n] != NULL; n++) EXPECT(action(checker, "jane@example.org", policy, &(addrspec_found){.mx = ADDRSPEC_YES, .exchanges = others[n]}) == 'a');
    for (size_t n = 0; n < sizeof many - 2; n++) many[n] = n % 2 == 0 ? 'x' : ' ';
    EXPECT(action(checker, "jane@example.org", policy, &(addrspec_found){.exchanges = many}) == 'a');
    many[sizeof many - 2] = 'x';
    EXPECT(action(checker, "jane@example.org", policy, &(addrspec_found){.exchanges = many}) == '!' && addrspec_error_code(checker) == ADDRSPEC_ERROR_TOO_LONG);
    EXPECT(action(checker, "not valid", policy, &(addrspec_found){.exchanges = "mx.burner.example"}) == 'b');
}

/* More policies than an instance has, and refused ones between them, never get another's verdict. */
static void keeps_policies_apart(addrspec_checker *checker) {
    for (int n = 0; n < 80; n++) {
        char policy[64], address[32];
        EXPECT(action(checker, "a@b", "7", NULL) == '!');
        snprintf(policy, sizeof policy, "{\"block\":{\"domains\":[\"d%d.example\"]}}", n % 40);
        snprintf(address, sizeof address, "a@d%d.example", n % 40);
        EXPECT(action(checker, address, policy, NULL) == 'b');
        snprintf(address, sizeof address, "a@d%d.example", n % 40 + 1);
        EXPECT(action(checker, address, policy, NULL) == 'a');
    }
}

/* A message fits, since it repeats no long text and nothing that is not ASCII. The longest
   names all reasons. */
static void messages_fit(addrspec_checker *checker) {
    for (int extra = 0; extra < 4; extra++) {
        char policy[2000] = "{\"";
        for (int n = 0; n < extra; n++) strcat(policy, "x");
        for (int n = 0; n < 600; n++) strcat(policy, "\xc3\xa9");
        strcat(policy, "\":1}");
        EXPECT(action(checker, "a@b", policy, NULL) == '!');
        for (const char *at = addrspec_error_message(checker); *at != '\0'; at++) EXPECT(*at >= ' ' && *at <= '~');
    }
    EXPECT(action(checker, "a@b", "{\"review\":{\"reasons\":[\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr\"]}}", NULL) == '!');
    EXPECT(strstr(addrspec_error_message(checker), "abcdefghijklmnopqrstuvwxyzabcdefghijklmn") == NULL);
    EXPECT(action(checker, "a@b", "{\"review\":{\"reasons\":[\"abcdefghijklmnopqrstuvwxyzabcdefghijkl\"]}}", NULL) == '!');
    const char *message = addrspec_error_message(checker), last[] = "mailbox_form";
    EXPECT(strlen(message) > sizeof last && strcmp(message + strlen(message) - (sizeof last - 1), last) == 0);
}

static void names_wrong_arguments(addrspec_checker *checker) {
    addrspec_checker *fresh = addrspec_new();
    EXPECT(addrspec_check(NULL, "x", 1, 0) == NULL && addrspec_error_code(NULL) == ADDRSPEC_ERROR_MEMORY);
    EXPECT(strstr(addrspec_error_message(NULL), "memory") != NULL && addrspec_versions(NULL) == NULL);
    EXPECT(addrspec_check(checker, NULL, 1, 0) == NULL && addrspec_error_code(checker) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(addrspec_check(checker, "x", 1, 4) == NULL && is(addrspec_error_message(checker), "the flags 4 are not defined"));
    EXPECT(addrspec_decide(checker, "{}", 2, NULL) == NULL && addrspec_error_code(checker) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(addrspec_decide(fresh, "{}", 2, NULL) == NULL && addrspec_error_code(fresh) == ADDRSPEC_ERROR_ARGUMENT);
    EXPECT(action(checker, "a@b", "{}", NULL) == 'a' && addrspec_decide(checker, NULL, 0, NULL) == NULL);
    EXPECT(addrspec_decide(checker, "{}", 2665537, NULL) == NULL && addrspec_error_code(checker) == ADDRSPEC_ERROR_POLICY);
    EXPECT(addrspec_load_lists(checker, NULL, 1) == ADDRSPEC_ERROR_ARGUMENT && addrspec_load_lists(NULL, "x", 1) == ADDRSPEC_ERROR_MEMORY);
    EXPECT(addrspec_load_lists(checker, "x", 1) == ADDRSPEC_ERROR_LISTS && addrspec_load_lists(checker, "x", (4 << 20) + 1) == ADDRSPEC_ERROR_LISTS);
    EXPECT(check(checker, "a@gmail.com", 0)->is_public);
    addrspec_free(fresh);
    addrspec_free(NULL);
}

/* Counts results until the second. */
static bool twice(void *context, size_t index, const addrspec_result *result) {
    size_t *count = context;
    EXPECT(index == *count && result->valid);
    return ++*count < 2;
}

static void checks_many(addrspec_checker *checker) {
    addrspec_address addresses[] = {{"a@example.org", 13}, {"b@example.org", 13}, {"c@example.org", 13}, {NULL, 1}};
    size_t count = 0;
    EXPECT(addrspec_check_many(checker, addresses, 3, 0, twice, &count) == ADDRSPEC_OK && count == 2);
    count = 0;
    EXPECT(addrspec_check_many(checker, addresses + 3, 1, 0, twice, &count) == ADDRSPEC_ERROR_ARGUMENT && count == 0);
    EXPECT(addrspec_check_many(checker, NULL, 0, 0, twice, &count) == ADDRSPEC_OK);
    EXPECT(addrspec_check_many(checker, addresses, 1, 0, NULL, NULL) == ADDRSPEC_ERROR_ARGUMENT);
}

static void has_versions(addrspec_checker *checker) {
    const char *versions = addrspec_versions(checker);
    EXPECT(strncmp(versions, "{\"engine\":\"", 11) == 0 && versions[strlen(versions) - 1] == '}');
}

/* Each thread has a checker of its own. */
static void *use_one(void *unused) {
    addrspec_checker *checker = addrspec_new();
    for (int n = 0; n < 200; n++) EXPECT(check(checker, "jane@gmial.com", ADDRSPEC_DETAILS)->typo);
    EXPECT(action(checker, "info@example.org", "{\"review\":{\"reasons\":[\"role\"]}}", NULL) == 'r');
    addrspec_free(checker);
    return unused;
}

static void serves_threads(addrspec_checker *unused) {
    pthread_t threads[8];
    (void)unused;
    for (int n = 0; n < 8; n++) EXPECT(pthread_create(&threads[n], NULL, use_one, NULL) == 0);
    for (int n = 0; n < 8; n++) pthread_join(threads[n], NULL);
}

int main(void) {
    void (*const tests[])(addrspec_checker *) = {has_every_fact, has_details, gives_the_json_alone, decodes_escapes, a_refusal_is_a_result, takes_the_longest_address,
        decides_by_a_policy, decides_by_addresses_and_exchanges, keeps_policies_apart, messages_fit, names_wrong_arguments, checks_many, has_versions, serves_threads};
    addrspec_checker *checker = addrspec_new();
    for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) tests[n](checker);
    addrspec_free(checker);
    return failures == 0 ? 0 : 1;
}
