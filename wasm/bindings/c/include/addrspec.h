/*
 * addrspec checks email addresses offline: whether one is valid, and if its provider is
 * disposable, public or a relay, if it belongs to a role such as support, if its domain is
 * misspelled, and how random its local part looks. Nothing is sent, and nothing asks DNS.
 *
 *     addrspec_checker *checker = addrspec_new();
 *     const addrspec_result *result = addrspec_check(checker, "jane@example.org", 16, 0);
 *     if (result == NULL) fprintf(stderr, "%s\n", addrspec_error_message(checker));
 *     else puts(result->valid ? result->domain : result->refusal.sentence);
 *     addrspec_free(checker);
 *
 * Ownership: what a function returns belongs to the checker and is valid until the next call
 * with that checker. No function keeps a pointer to what it is given. All texts are UTF-8
 * and end with a zero byte.
 *
 * Threads: any number of checkers, each used by one thread at a time. Nothing is shared
 * between them. Processes: a child of fork may use its copy of a checker.
 *
 * Memory: README.md has figures. The library installs no signal handler, opens no file,
 * starts no thread, and never ends the process. No message contains an address.
 */
#ifndef ADDRSPEC_H
#define ADDRSPEC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the shared library exports. */
#if defined(_WIN32) && defined(ADDRSPEC_BUILD)
#define ADDRSPEC_API __declspec(dllexport)
#elif defined(ADDRSPEC_BUILD)
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
    ADDRSPEC_ERROR_MEMORY = 3,   /* there is no memory; the next call tries again */
    ADDRSPEC_ERROR_LISTS = 4,    /* the lists were refused; those before are in use */
    ADDRSPEC_ERROR_POLICY = 5,   /* the document is no policy; the message names the place */
    ADDRSPEC_ERROR_INTERNAL = 6  /* a defect of the library; the next call starts afresh */
} addrspec_code;

typedef struct addrspec_checker addrspec_checker;

/* Why an address is not valid. */
typedef struct addrspec_refusal {
    const char *code;     /* a stable name, such as "second_at"; NULL if the address is valid */
    size_t offset;        /* of the offending byte in the address */
    const char *section;  /* of the standard that the reason is based on, or NULL */
    const char *sentence; /* what is wrong and how to fix it, or NULL */
} addrspec_refusal;

/* The facts about one address. Later versions may add members at the end. */
typedef struct addrspec_result {
    const char *json; /* the result in JSON: its 16 members, and details if asked for */
    size_t json_length;
    bool valid;                  /* an addr-spec (RFC 5322, RFC 6531) that mail can carry */
    const char *normalized;      /* lower case, Unicode NFC, no comments; NULL unless valid */
    const char *local_part;      /* the part before the @, in its own case; NULL unless valid */
    bool alias;                  /* the local part has a plus tag with text before it */
    bool ascii;                  /* every byte is ASCII */
    const char *role;            /* the category of a role account, such as "Support"; or NULL */
    bool gibberish;              /* gibberish_score is 0.5 or more */
    double gibberish_score;      /* the probability that the local part is random */
    const char *domain;          /* the part after the @, in lower case; NULL unless valid */
    bool disposable;             /* the domain is a known disposable provider */
    bool is_public;              /* anyone can open a mailbox there; "public" is a word of C++ */
    bool relay;                  /* the domain hides the real mailbox behind forwarding */
    bool typo;                   /* the domain looks like a misspelled common provider */
    const char *typo_suggestion; /* the corrected domain, or address; NULL unless typo */
    addrspec_refusal refusal;    /* why the address is not valid */
    const char *canonical;       /* with ADDRSPEC_DETAILS, the mailbox's identity; or NULL */
    const char *host;            /* the domain to look up MX records for, in A-labels; or "" */
} addrspec_result;

/* Flags of a check. */
enum {
    ADDRSPEC_FULL_SUGGESTION = 1, /* typo_suggestion is the whole address, not its domain */
    ADDRSPEC_DETAILS = 2          /* json has details, which say why; and canonical is set */
};

/* Returns a checker, to be freed with addrspec_free, or NULL without memory. */
ADDRSPEC_API addrspec_checker *addrspec_new(void);

/* Frees a checker. NULL is ignored. */
ADDRSPEC_API void addrspec_free(addrspec_checker *checker);

/* Checks the length bytes at address, which need not be UTF-8 nor end with a zero byte. An
   address that is not valid is a result; NULL is an error. */
ADDRSPEC_API const addrspec_result *addrspec_check(addrspec_checker *checker, const void *address, size_t length,
                                                   unsigned flags);

/* The same for a caller who needs the JSON alone, which takes less time. The JSON does not end with
   a zero byte, and there is no result for addrspec_decide. */
ADDRSPEC_API const char *addrspec_check_json(addrspec_checker *checker, const void *address, size_t length, unsigned flags,
                                             size_t *json_length);

/* Bytes that need not end with a zero byte. */
typedef struct addrspec_address {
    const void *data;
    size_t length;
} addrspec_address;

/* Receives the result of the address with an index; false ends addrspec_check_many. */
typedef bool addrspec_each(void *context, size_t index, const addrspec_result *result);

/* Checks addresses in order and passes each result to a function, which must not call the
   checker. After an error no further one is passed. */
ADDRSPEC_API addrspec_code addrspec_check_many(addrspec_checker *checker, const addrspec_address *addresses, size_t count,
                                               unsigned flags, addrspec_each *each, void *context);

/* Whether a caller has looked something up, and what it found. */
typedef enum addrspec_known { ADDRSPEC_UNKNOWN = 0, ADDRSPEC_NO = 1, ADDRSPEC_YES = 3 } addrspec_known;

/* What you have looked up. A reason or an entry of the policy that needs what is unknown is skipped.
   Later versions may add members at the end, of which zero is unknown. */
typedef struct addrspec_found {
    addrspec_known mx;             /* the domain has MX records */
    addrspec_known address_record; /* it has an address record to which mail goes without them */
    bool disposable;               /* its exchanges are those of throw-away services */
    const char *exchanges;         /* their names in lower case, separated by spaces, "*" for those that
                                      are left out; at most 64 KiB; or NULL */
} addrspec_found;

/* What a policy decides about an address. */
typedef struct addrspec_verdict {
    const char *json; /* {"action":...,"reason":...,"rule":...} */
    char action;      /* 'a' for allow, 'r' for review, 'b' for block */
} addrspec_verdict;

/* Returns the verdict of a policy, a JSON document, on the address of the last check, whose
   result stays valid. found may be NULL. A checker remembers the last 16 policies,
   with documents of 4 MiB together. */
ADDRSPEC_API const addrspec_verdict *addrspec_decide(addrspec_checker *checker, const char *policy, size_t length,
                                                     const addrspec_found *found);

/* Replaces the lists by a newer lists.blob, whose signature the caller has verified. If they
   are refused, nothing changes. */
ADDRSPEC_API addrspec_code addrspec_load_lists(addrspec_checker *checker, const void *blob, size_t size);

/* Returns the versions that determine the results: {"engine":...,"lists":...,"model":...}. */
ADDRSPEC_API const char *addrspec_versions(addrspec_checker *checker);

/* How the last call with the checker ended, and a sentence that says what was wrong. A NULL
   checker, as addrspec_new returns without memory, gives ADDRSPEC_ERROR_MEMORY. */
ADDRSPEC_API addrspec_code addrspec_error_code(const addrspec_checker *checker);
ADDRSPEC_API const char *addrspec_error_message(const addrspec_checker *checker);

/* The offset in the document, in bytes, of the place that the message about a policy names. */
ADDRSPEC_API size_t addrspec_error_offset(const addrspec_checker *checker);

#ifdef __cplusplus
}
#endif

#endif
