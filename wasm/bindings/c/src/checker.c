/* The functions of addrspec.h. POSIX has the number of processors. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "pool.h"

enum { FLAGS = ADDRSPEC_FULL_SUGGESTION | ADDRSPEC_DETAILS, MOST_INSTANCES = 4096 };

struct addrspec_checker {
    addrspec_engine engine;
    addrspec_pool *pool;
};

static addrspec_code missing(const char *argument, addrspec_error *error) {
    return addrspec_fail(error, ADDRSPEC_ERROR_ARGUMENT, "%s is NULL", argument);
}

static unsigned processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MOST_INSTANCES ? MOST_INSTANCES : (unsigned)count;
}

static addrspec_code accept_options(const addrspec_options *options, addrspec_error *error) {
    if (options->lists == NULL && options->lists_size > 0) return missing("options->lists", error);
    if (options->module == NULL && options->module_size > 0) return missing("options->module", error);
    if (options->instances <= MOST_INSTANCES) return ADDRSPEC_OK;
    return addrspec_fail(error, ADDRSPEC_ERROR_ARGUMENT, "options->instances is %u; at most %d are possible", options->instances,
                         MOST_INSTANCES);
}

/* Compiles the module and starts an instance, to fail early. */
static addrspec_code start(addrspec_checker *checker, const addrspec_options *options, addrspec_error *error) {
    addrspec_loan loan;
    addrspec_code code = accept_options(options, error);
    if (code == ADDRSPEC_OK) code = addrspec_engine_new(&checker->engine, options, error);
    if (code != ADDRSPEC_OK) return code;
    checker->pool = addrspec_pool_new(&checker->engine, options->instances > 0 ? options->instances : processors());
    if (checker->pool == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for a pool");
    if (options->lists != NULL) code = addrspec_pool_set_lists(checker->pool, options->lists, options->lists_size, error);
    if (code == ADDRSPEC_OK) code = addrspec_pool_take(checker->pool, &loan, error);
    if (code == ADDRSPEC_OK) addrspec_pool_give(checker->pool, loan, code);
    return code;
}

addrspec_checker *addrspec_checker_new(const addrspec_options *options, addrspec_error *error) {
    static const addrspec_options defaults;
    addrspec_checker *checker = calloc(1, sizeof *checker);
    if (checker == NULL) {
        addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for a checker");
        return NULL;
    }
    if (start(checker, options != NULL ? options : &defaults, error) == ADDRSPEC_OK) return checker;
    addrspec_checker_free(checker);
    return NULL;
}

void addrspec_checker_free(addrspec_checker *checker) {
    if (checker == NULL) return;
    addrspec_pool_free(checker->pool);
    addrspec_engine_free(&checker->engine);
    free(checker);
}

/* Refuses an address that the module has no room for. */
static addrspec_code accept_address(size_t index, const void *address, size_t length, addrspec_error *error) {
    if (address == NULL && length > 0) {
        return addrspec_fail(error, ADDRSPEC_ERROR_ARGUMENT, "address %zu (from 0) is NULL and has %zu bytes", index, length);
    }
    if (length <= ADDRSPEC_MAX_ADDRESS) return ADDRSPEC_OK;
    return addrspec_fail(error, ADDRSPEC_ERROR_TOO_LONG,
                         "address %zu (from 0) has %zu bytes; at most %u are accepted: shorten or leave it out", index, length,
                         ADDRSPEC_MAX_ADDRESS);
}

static addrspec_code accept_flags(unsigned flags, addrspec_error *error) {
    if ((flags & ~(unsigned)FLAGS) == 0) return ADDRSPEC_OK;
    return addrspec_fail(error, ADDRSPEC_ERROR_ARGUMENT, "flags is %u: only ADDRSPEC_FULL_SUGGESTION and ADDRSPEC_DETAILS are defined",
                         flags);
}

/* Checks one address with a lent instance. */
static addrspec_code check_one(addrspec_instance *instance, const void *address, size_t length, unsigned flags,
                               addrspec_facts **facts, addrspec_error *error) {
    addrspec_error ignored, *why = error != NULL ? error : &ignored;
    addrspec_record record;
    addrspec_code code = addrspec_instance_check(instance, address, length, flags, &record, why);
    if (code != ADDRSPEC_OK) return code;
    *facts = addrspec_facts_new(&record, why);
    return *facts != NULL ? ADDRSPEC_OK : why->code;
}

addrspec_code addrspec_check(addrspec_checker *checker, const void *address, size_t length, unsigned flags,
                             addrspec_facts **facts, addrspec_error *error) {
    addrspec_loan loan;
    if (facts == NULL) return missing("facts", error);
    *facts = NULL;
    if (checker == NULL) return missing("checker", error);
    addrspec_code code = accept_flags(flags, error);
    if (code == ADDRSPEC_OK) code = accept_address(0, address, length, error);
    if (code == ADDRSPEC_OK) code = addrspec_pool_take(checker->pool, &loan, error);
    if (code != ADDRSPEC_OK) return code;
    code = check_one(loan.instance, address, length, flags, facts, error);
    addrspec_pool_give(checker->pool, loan, code);
    return code;
}

addrspec_code addrspec_explain(addrspec_checker *checker, const void *address, size_t length, unsigned flags,
                               addrspec_facts **facts, addrspec_error *error) {
    return addrspec_check(checker, address, length, flags | ADDRSPEC_DETAILS, facts, error);
}

/* Makes facts of the records in output; adds their number to *done, at most to count. */
static addrspec_code read_output(const uint8_t *output, size_t size, addrspec_facts **facts, size_t count, size_t *done,
                                 addrspec_error *error) {
    addrspec_error ignored, *why = error != NULL ? error : &ignored;
    addrspec_record record;
    if (size == 0) return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "addrspec_check_many checked no address");
    while (size > 0) {
        size_t length = addrspec_read_record(&record, output, size);
        if (length == 0) return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "a result is cut off");
        if (*done == count) return addrspec_fail(error, ADDRSPEC_ERROR_MODULE, "addrspec_check_many gave too many results");
        facts[*done] = addrspec_facts_new(&record, why);
        if (facts[*done] == NULL) return why->code;
        ++*done;
        output += length;
        size -= length;
    }
    return ADDRSPEC_OK;
}

/* Checks addresses from *done on with one call of the module, and moves *done. */
static addrspec_code check_some(addrspec_instance *instance, const addrspec_text *addresses, size_t count, unsigned flags,
                                addrspec_facts **facts, size_t *done, addrspec_error *error) {
    const addrspec_text *next = addresses + *done;
    uint8_t *output = NULL;
    size_t size = 0;
    addrspec_code code;
    if (!addrspec_instance_fits_many(instance, next->length)) {
        code = check_one(instance, next->data, next->length, flags, facts + *done, error);
        if (code == ADDRSPEC_OK) ++*done;
        return code;
    }
    code = addrspec_instance_check_many(instance, next, count - *done, flags, &output, &size, error);
    if (code == ADDRSPEC_OK) code = read_output(output, size, facts, count, done, error);
    free(output);
    return code;
}

static addrspec_code check_all(addrspec_checker *checker, const addrspec_text *addresses, size_t count, unsigned flags,
                               addrspec_facts **facts, addrspec_error *error) {
    addrspec_loan loan;
    addrspec_code code = addrspec_pool_take(checker->pool, &loan, error);
    if (code != ADDRSPEC_OK) return code;
    for (size_t done = 0; code == ADDRSPEC_OK && done < count;) {
        code = check_some(loan.instance, addresses, count, flags, facts, &done, error);
    }
    addrspec_pool_give(checker->pool, loan, code);
    return code;
}

static void free_all(addrspec_facts **facts, size_t count) {
    for (size_t n = 0; n < count; n++) {
        addrspec_facts_free(facts[n]);
        facts[n] = NULL;
    }
}

addrspec_code addrspec_check_many(addrspec_checker *checker, const addrspec_text *addresses, size_t count, unsigned flags,
                                  addrspec_facts **facts, addrspec_error *error) {
    if (facts == NULL && count > 0) return missing("facts", error);
    for (size_t n = 0; n < count; n++) facts[n] = NULL;
    if (checker == NULL) return missing("checker", error);
    if (addresses == NULL && count > 0) return missing("addresses", error);
    addrspec_code code = accept_flags(flags, error);
    for (size_t n = 0; code == ADDRSPEC_OK && n < count; n++) {
        code = accept_address(n, addresses[n].data, addresses[n].length, error);
    }
    if (code == ADDRSPEC_OK) code = check_all(checker, addresses, count, flags, facts, error);
    if (code != ADDRSPEC_OK) free_all(facts, count);
    return code;
}

static bool is_known(addrspec_known known) {
    return known == ADDRSPEC_UNKNOWN || known == ADDRSPEC_NO || known == ADDRSPEC_YES;
}

addrspec_code addrspec_decide(addrspec_checker *checker, const void *address, size_t length, const char *policy,
                              size_t policy_length, const addrspec_found *found, addrspec_verdict *verdict, addrspec_error *error) {
    static const addrspec_found nothing;
    addrspec_loan loan;
    if (checker == NULL) return missing("checker", error);
    if (policy == NULL) return missing("policy", error);
    if (verdict == NULL) return missing("verdict", error);
    if (found == NULL) found = &nothing;
    if (!is_known(found->mx) || !is_known(found->address_record)) {
        return addrspec_fail(error, ADDRSPEC_ERROR_ARGUMENT, "found has another value than ADDRSPEC_UNKNOWN, ADDRSPEC_NO and ADDRSPEC_YES");
    }
    addrspec_code code = accept_address(0, address, length, error);
    if (code == ADDRSPEC_OK) code = addrspec_pool_take(checker->pool, &loan, error);
    if (code != ADDRSPEC_OK) return code;
    addrspec_text document = {policy, policy_length};
    code = addrspec_instance_decide(loan.instance, address, length, document, found, verdict, error);
    addrspec_pool_give(checker->pool, loan, code);
    return code;
}

addrspec_code addrspec_set_lists(addrspec_checker *checker, const void *blob, size_t size, addrspec_error *error) {
    if (checker == NULL) return missing("checker", error);
    if (blob == NULL) return missing("blob", error);
    return addrspec_pool_set_lists(checker->pool, blob, size, error);
}

addrspec_code addrspec_get_versions(addrspec_checker *checker, addrspec_versions *versions, addrspec_error *error) {
    addrspec_loan loan;
    if (checker == NULL) return missing("checker", error);
    if (versions == NULL) return missing("versions", error);
    addrspec_code code = addrspec_pool_take(checker->pool, &loan, error);
    if (code != ADDRSPEC_OK) return code;
    code = addrspec_instance_versions(loan.instance, versions, error);
    addrspec_pool_give(checker->pool, loan, code);
    return code;
}
