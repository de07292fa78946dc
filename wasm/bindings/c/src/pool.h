/* Instances for threads that check at the same time. */
#ifndef ADDRSPEC_POOL_H
#define ADDRSPEC_POOL_H

#include "instance.h"

typedef struct addrspec_pool addrspec_pool;

/* Returns a pool of at most limit instances of the engine, which it does not own. */
addrspec_pool *addrspec_pool_new(const addrspec_engine *engine, unsigned limit);
void addrspec_pool_free(addrspec_pool *pool);

/* A lent instance, and the lists that it has. */
typedef struct addrspec_loan {
    addrspec_instance *instance;
    unsigned lists;
} addrspec_loan;

/* Lends an instance, and waits for one if all are in use. Give it back with what its use
   returned: an instance that failed is freed. */
addrspec_code addrspec_pool_take(addrspec_pool *pool, addrspec_loan *loan, addrspec_error *error);
void addrspec_pool_give(addrspec_pool *pool, addrspec_loan loan, addrspec_code result);

/* Replaces the lists of the pool. Instances in use are freed when they are given back. */
addrspec_code addrspec_pool_set_lists(addrspec_pool *pool, const void *blob, size_t size, addrspec_error *error);

#endif
