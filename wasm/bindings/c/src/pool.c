#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

struct addrspec_pool {
    const addrspec_engine *engine;
    pthread_mutex_t mutex; /* for all that follows */
    pthread_cond_t freed;
    void *blob; /* newer lists, or NULL */
    size_t blob_size;
    unsigned lists; /* how often they were replaced */
    unsigned limit, started, idle;
    addrspec_instance *instances[]; /* the idle ones */
};

addrspec_pool *addrspec_pool_new(const addrspec_engine *engine, unsigned limit) {
    addrspec_pool *pool = calloc(1, sizeof *pool + limit * sizeof(addrspec_instance *));
    if (pool == NULL) return NULL;
    pool->engine = engine;
    pool->limit = limit;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->freed, NULL);
    return pool;
}

/* Frees the idle instances. */
static void clear(addrspec_pool *pool) {
    while (pool->idle > 0) {
        addrspec_instance_free(pool->instances[--pool->idle]);
        pool->started--;
    }
}

void addrspec_pool_free(addrspec_pool *pool) {
    if (pool == NULL) return;
    clear(pool);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->freed);
    free(pool->blob);
    free(pool);
}

/* Starts an instance with these lists. */
static addrspec_instance *start(const addrspec_pool *pool, const void *blob, size_t size, addrspec_error *error) {
    addrspec_instance *instance = addrspec_instance_new(pool->engine, error);
    if (instance == NULL || blob == NULL) return instance;
    if (addrspec_instance_set_lists(instance, blob, size, error) == ADDRSPEC_OK) return instance;
    addrspec_instance_free(instance);
    return NULL;
}

/* It starts instances while it holds the mutex, so that the blob remains: a millisecond,
   and more with lists, at most limit times. */
addrspec_code addrspec_pool_take(addrspec_pool *pool, addrspec_loan *loan, addrspec_error *error) {
    addrspec_error ignored, *why = error != NULL ? error : &ignored;
    pthread_mutex_lock(&pool->mutex);
    while (pool->idle == 0 && pool->started == pool->limit) pthread_cond_wait(&pool->freed, &pool->mutex);
    loan->lists = pool->lists;
    if (pool->idle > 0) {
        loan->instance = pool->instances[--pool->idle];
    } else {
        loan->instance = start(pool, pool->blob, pool->blob_size, why);
        if (loan->instance != NULL) pool->started++;
    }
    pthread_mutex_unlock(&pool->mutex);
    return loan->instance != NULL ? ADDRSPEC_OK : why->code;
}

void addrspec_pool_give(addrspec_pool *pool, addrspec_loan loan, addrspec_code result) {
    pthread_mutex_lock(&pool->mutex);
    bool keep = (result == ADDRSPEC_OK || result == ADDRSPEC_ERROR_POLICY) && loan.lists == pool->lists;
    if (keep) pool->instances[pool->idle++] = loan.instance;
    else pool->started--;
    pthread_cond_signal(&pool->freed);
    pthread_mutex_unlock(&pool->mutex);
    if (!keep) addrspec_instance_free(loan.instance);
}

/* An instance takes the lists over first, so that a blob that is refused changes nothing. */
addrspec_code addrspec_pool_set_lists(addrspec_pool *pool, const void *blob, size_t size, addrspec_error *error) {
    addrspec_error ignored, *why = error != NULL ? error : &ignored;
    addrspec_instance *instance = start(pool, blob, size, why);
    if (instance == NULL) return why->code;
    addrspec_instance_free(instance);
    void *copy = malloc(size + 1);
    if (copy == NULL) return addrspec_fail(error, ADDRSPEC_ERROR_MEMORY, "there is no memory for the lists");
    memcpy(copy, blob, size);
    pthread_mutex_lock(&pool->mutex);
    free(pool->blob);
    pool->blob = copy;
    pool->blob_size = size;
    pool->lists++;
    clear(pool);
    pthread_mutex_unlock(&pool->mutex);
    return ADDRSPEC_OK;
}
