/**
 * A constraint for Jakarta Validation, 3.0 or newer: {@link io.github.addrspec.validation.Email}. Programs
 * that use this package have the API of Jakarta Validation already; others do not need it.
 */
package io.github.addrspec.validation;
