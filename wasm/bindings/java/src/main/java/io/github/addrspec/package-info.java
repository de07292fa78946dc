/**
 * Checks email addresses offline: syntax (RFC 5322 and RFC 6531), role accounts, gibberish, disposable,
 * public and relay providers, and misspelled domains.
 *
 * <p>Start with {@link io.github.addrspec.Addrspec}. The checks are those of the addrspec service: the
 * same WebAssembly module, translated to JVM bytecode when this library was built. The engine is
 * Chicory, which is pure Java.
 */
package io.github.addrspec;
