/* One instance of the module (ABI.md of the project). Only one thread may use it at a time.
   After an error other than that of a policy it must be freed: its memory may be
   inconsistent. */
#ifndef ADDRSPEC_INSTANCE_H
#define ADDRSPEC_INSTANCE_H

#include "engine.h"
#include "record.h"

typedef struct addrspec_instance addrspec_instance;

/* Starts an instance, or returns NULL. */
addrspec_instance *addrspec_instance_new(const addrspec_engine *engine, addrspec_error *error);
void addrspec_instance_free(addrspec_instance *instance);

/* Checks an address. The record is valid until the next call. */
addrspec_code addrspec_instance_check(addrspec_instance *instance, const void *address, size_t length, unsigned flags,
                                      addrspec_record *record, addrspec_error *error);

/* Checks some of the addresses, at least one, and copies their records with reports to
   *output, which the caller frees. */
addrspec_code addrspec_instance_check_many(addrspec_instance *instance, const addrspec_text *addresses, size_t count,
                                           unsigned flags, uint8_t **output, size_t *size, addrspec_error *error);

/* Whether addrspec_instance_check_many can check an address of this length. */
bool addrspec_instance_fits_many(const addrspec_instance *instance, size_t length);

/* Writes the verdict of a policy on an address. */
addrspec_code addrspec_instance_decide(addrspec_instance *instance, const void *address, size_t length, addrspec_text policy,
                                       const addrspec_found *found, addrspec_verdict *verdict, addrspec_error *error);

addrspec_code addrspec_instance_set_lists(addrspec_instance *instance, const void *blob, size_t size, addrspec_error *error);

addrspec_code addrspec_instance_versions(addrspec_instance *instance, addrspec_versions *versions, addrspec_error *error);

#endif
