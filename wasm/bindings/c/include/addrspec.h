/*
 * addrspec checks email addresses offline: whether one is valid, and if its provider is
 * disposable, public or a relay, if it belongs to a role such as support, if its domain is
 * misspelled, and how random its local part looks. Nothing is sent, and nothing asks DNS.
 *
 *     addrspec_error error;
 *     addrspec_checker *checker = addrspec_checker_new(NULL, &error);
 *     addrspec_facts *facts;
 *     if (addrspec_check(checker, "jane@example.org", 16, 0, &facts, &error) == ADDRSPEC_OK) {
 *         printf("%s\n", facts->valid ? facts->domain.data : facts->refusal.sentence.data);
 *         addrspec_facts_free(facts);
 *     }
 *     addrspec_checker_free(checker);
 *
 * Ownership: what a function returns by pointer belongs to the caller, who frees it with
 * the function named there. No function keeps a pointer to what it is given. Texts inside
 * facts live as long as the facts.
 *
 * Threads: any number of threads may use one checker, except for addrspec_checker_free.
 * Processes: a child of fork may use the checker if no other thread used it at the time of
 * the fork; otherwise it makes its own.
 *
 * No message contains an address.
 */
#ifndef ADDRSPEC_H
#define ADDRSPEC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the shared library exports. */
#if defined(ADDRSPEC_BUILD) && defined(__GNUC__)
#define ADDRSPEC_API __attribute__((visibility("default")))
#else
#define ADDRSPEC_API
#endif

/* The version of this library. */
#define ADDRSPEC_VERSION "0.3.0"

/* The longest input, in bytes: 1 MiB. The longest valid address has 254. */
#define ADDRSPEC_MAX_ADDRESS 1048576u

/* How a call ended. Later versions may add codes. */
typedef enum addrspec_code {
    ADDRSPEC_OK = 0,
    ADDRSPEC_ERROR_ARGUMENT = 1, /* an argument is NULL or not defined */
    ADDRSPEC_ERROR_TOO_LONG = 2, /* an address has more than ADDRSPEC_MAX_ADDRESS bytes */
    ADDRSPEC_ERROR_MEMORY = 3,   /* malloc returned NULL */
    ADDRSPEC_ERROR_LISTS = 4,    /* the lists were refused; those before are in use */
    ADDRSPEC_ERROR_ENGINE = 5,   /* wasmtime could not compile, start or run the module */
    ADDRSPEC_ERROR_MODULE = 6,   /* the module does not follow the interface */
    ADDRSPEC_ERROR_POLICY = 7    /* the document is no policy; the message names the place */
} addrspec_code;

/* What went wrong. Functions write it only if they fail; it may be NULL. */
typedef struct addrspec_error {
    addrspec_code code;
    char message[256]; /* a sentence without a full stop, and a zero byte */
} addrspec_error;

/* UTF-8 and a zero byte, which length does not count. data is NULL if there is no text.
   An email may have zero bytes inside. */
typedef struct addrspec_text {
    const char *data;
    size_t length;
} addrspec_text;

/* Why an address is not valid. The texts are NULL if it is. */
typedef struct addrspec_refusal {
    addrspec_text code;     /* a stable name, such as "second_at" */
    size_t offset;          /* of the offending byte in the address */
    addrspec_text section;  /* of the standard that the reason is based on */
    addrspec_text sentence; /* what is wrong and how to fix it */
} addrspec_refusal;

/* The facts about one address. The library makes them: later versions may add members. */
typedef struct addrspec_facts {
    addrspec_text email;           /* as given; bytes that are not UTF-8 are U+FFFD */
    bool valid;                    /* an addr-spec (RFC 5322, RFC 6531) that mail can carry */
    addrspec_text normalized;      /* lower case, Unicode NFC, no comments; NULL unless valid */
    addrspec_text local_part;      /* the part before the @, in its own case; NULL unless valid */
    bool alias;                    /* the local part has a plus tag with text before it */
    bool ascii;                    /* every byte is ASCII */
    addrspec_text role;            /* the category of a role account, such as "Support"; or NULL */
    bool gibberish;                /* gibberish_score is 0.5 or more */
    double gibberish_score;        /* the probability that the local part is random */
    addrspec_text domain;          /* the part after the @, in lower case; NULL unless valid */
    const bool *mx;                /* NULL: no DNS here; false if there is no domain to look up */
    bool disposable;               /* the domain is a known disposable provider */
    bool is_public;                /* anyone can open a mailbox there; "public" is a word of C++ */
    bool relay;                    /* the domain hides the real mailbox behind forwarding */
    bool typo;                     /* the domain looks like a misspelled common provider */
    addrspec_text typo_suggestion; /* the corrected domain, or address; NULL unless typo */
    addrspec_refusal refusal;      /* why the address is not valid */
    addrspec_text details;         /* JSON: why the facts are so, if asked for; or NULL */
    addrspec_text json;            /* the module's own bytes */
} addrspec_facts;

/* The versions that determine the results. */
typedef struct addrspec_versions {
    char engine[64], lists[64], model[64];
} addrspec_versions;

/* Options of a checker. Set all of it to zero first: zero means the default. */
typedef struct addrspec_options {
    const void *lists; /* newer lists, a lists.blob; verify its signature first */
    size_t lists_size;
    const void *module; /* another build of addrspec.wasm than the one inside */
    size_t module_size;
    unsigned instances; /* how many threads check at once; default: one per processor */
    bool no_cache;      /* do not keep machine code in the user's cache directory */
} addrspec_options;

/* Flags of a check. */
enum {
    ADDRSPEC_FULL_SUGGESTION = 1, /* typo_suggestion is the whole address, not its domain */
    ADDRSPEC_DETAILS = 2          /* facts->details says why */
};

typedef struct addrspec_checker addrspec_checker;

/* Returns a checker, or NULL. Free it with addrspec_checker_free. The first one of a user
   compiles the module for a second or two; make one, and keep it. options may be NULL. */
ADDRSPEC_API addrspec_checker *addrspec_checker_new(const addrspec_options *options, addrspec_error *error);

/* Frees a checker that no thread uses any more. NULL is ignored. */
ADDRSPEC_API void addrspec_checker_free(addrspec_checker *checker);

/* Checks the length bytes at address, which need not be UTF-8 nor end with a zero byte.
   *facts receives the facts, to be freed with addrspec_facts_free, or NULL after an error.
   An address that is not valid is a result, not an error. */
ADDRSPEC_API addrspec_code addrspec_check(addrspec_checker *checker, const void *address, size_t length,
                             unsigned flags, addrspec_facts **facts, addrspec_error *error);

/* addrspec_check with ADDRSPEC_DETAILS. */
ADDRSPEC_API addrspec_code addrspec_explain(addrspec_checker *checker, const void *address, size_t length,
                               unsigned flags, addrspec_facts **facts, addrspec_error *error);

/* Checks many addresses in few calls of the module. facts is an array of count pointers;
   each receives the facts of the address with its index, to be freed with
   addrspec_facts_free. After an error all of them are NULL. If an address is too long,
   none is checked. */
ADDRSPEC_API addrspec_code addrspec_check_many(addrspec_checker *checker, const addrspec_text *addresses,
                                  size_t count, unsigned flags, addrspec_facts **facts,
                                  addrspec_error *error);

/* Whether a caller has looked something up, and what it found. */
typedef enum addrspec_known { ADDRSPEC_UNKNOWN = 0, ADDRSPEC_NO = 1, ADDRSPEC_YES = 3 } addrspec_known;

/* What you have looked up. A reason that needs what is unknown is skipped. */
typedef struct addrspec_found {
    addrspec_known mx;             /* the domain has MX records */
    addrspec_known address_record; /* it has an address record to which mail goes without them */
    bool disposable;               /* its exchanges are those of throw-away services */
} addrspec_found;

/* What a policy decides about an address. */
typedef struct addrspec_verdict {
    char json[96]; /* {"action":...,"reason":...,"rule":...}, the module's own bytes */
    char action;   /* 'a' for allow, 'r' for review, 'b' for block */
} addrspec_verdict;

/* Writes the verdict of a policy, a JSON document of policy_length bytes, on an address.
   found may be NULL. An instance keeps the last 16 policies, at most 5 MB each. */
ADDRSPEC_API addrspec_code addrspec_decide(addrspec_checker *checker, const void *address, size_t length, const char *policy,
                              size_t policy_length, const addrspec_found *found, addrspec_verdict *verdict,
                              addrspec_error *error);

/* Frees facts. NULL is ignored. */
ADDRSPEC_API void addrspec_facts_free(addrspec_facts *facts);

/* Replaces the lists by a newer lists.blob, whose signature the caller has verified. Checks
   in progress keep those before. If the module refuses the blob, nothing changes. */
ADDRSPEC_API addrspec_code addrspec_set_lists(addrspec_checker *checker, const void *blob, size_t size,
                                 addrspec_error *error);

/* Writes the versions that determine the results. */
ADDRSPEC_API addrspec_code addrspec_get_versions(addrspec_checker *checker, addrspec_versions *versions,
                                    addrspec_error *error);

#ifdef __cplusplus
}
#endif

#endif
