package io.github.addrspec.validation;

import static java.lang.annotation.ElementType.ANNOTATION_TYPE;
import static java.lang.annotation.ElementType.CONSTRUCTOR;
import static java.lang.annotation.ElementType.FIELD;
import static java.lang.annotation.ElementType.METHOD;
import static java.lang.annotation.ElementType.PARAMETER;
import static java.lang.annotation.ElementType.TYPE_USE;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import jakarta.validation.Constraint;
import jakarta.validation.Payload;
import java.lang.annotation.Documented;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;

/**
 * The text is an email address that the checks accept; null is valid. By default these are valid addresses
 * (RFC 5322 and RFC 6531) as people type them into a form: without comment and quotation marks, at a name
 * with a dot that ends in a top-level domain and is not below {@code .arpa}.
 *
 * <p>With Hibernate Validator the message of a violation has the key {@code
 * io.github.addrspec.validation.Email.} and a code: that of the {@linkplain
 * io.github.addrspec.Refusal#codeName() refusal}, {@code single_label}, {@code unknown_tld}, {@code literal},
 * {@code comment}, {@code quoted}, {@code arpa}, {@code typo} or {@code policy}. If your bundle {@code
 * ValidationMessages} lacks it, {@code io.github.addrspec.validation.Email.message} is the key, and if it
 * lacks that, the message is the sentence of the checks, in English.
 *
 * <p>The message parameters are {@code code}, {@code sentence}, {@code offset} (for a refusal), {@code
 * suggestion} (for a misspelled domain), and {@code reason} and {@code rule} (for a policy). The dynamic payload of the
 * violation is a {@link java.util.Map} of them.
 */
@Documented
@Constraint(validatedBy = EmailValidator.class)
@Repeatable(Email.List.class)
@Target({METHOD, FIELD, ANNOTATION_TYPE, CONSTRUCTOR, PARAMETER, TYPE_USE})
@Retention(RUNTIME)
public @interface Email {
  /**
   * Returns the policy, a JSON document, or the name of a resource on the class path that has it, such as
   * {@code policies/signup.json}. An address that it blocks is a violation; one to review is not. Nothing
   * is looked up: rules that need DNS are skipped. It alone decides: with <code>{}</code> every valid
   * address is accepted.
   *
   * @return the name, or the document, which begins with a brace; empty for none
   */
  String policy() default "";

  /**
   * Returns whether an address is accepted if its domain is probably misspelled. A domain that the
   * policy names is.
   *
   * @return whether a typo alone is no violation
   */
  boolean allowTypo() default true;

  /**
   * Returns the message. Any other than the default replaces the message of each code.
   *
   * @return the message
   */
  String message() default "{io.github.addrspec.validation.Email.message}";

  /**
   * Returns the groups.
   *
   * @return the groups
   */
  Class<?>[] groups() default {};

  /**
   * Returns the payload.
   *
   * @return the payload
   */
  Class<? extends Payload>[] payload() default {};

  /** Several constraints on one element, such as one for each group. */
  @Documented
  @Target({METHOD, FIELD, ANNOTATION_TYPE, CONSTRUCTOR, PARAMETER, TYPE_USE})
  @Retention(RUNTIME)
  @interface List {
    /**
     * Returns the constraints.
     *
     * @return the constraints
     */
    Email[] value();
  }
}
