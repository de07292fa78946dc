package io.github.addrspec.validation;

import io.github.addrspec.Addrspec;
import io.github.addrspec.Facts;
import io.github.addrspec.PolicyRefusedException;
import io.github.addrspec.Refusal;
import io.github.addrspec.Verdict;
import jakarta.validation.ConstraintDeclarationException;
import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Validates {@link Email}. All validators share one checker, so that they share its memory. */
public final class EmailValidator implements ConstraintValidator<Email, CharSequence> {
  private static final String PREFIX = "io.github.addrspec.validation.Email.";

  /** The policy of a constraint without one: an address is such as people type into a form. */
  private static final String USUAL =
      "{\"block\": {\"domains\": [\"*.arpa\"], \"reasons\": [\"single_label\", \"unknown_tld\", \"literal\", \"comment\", \"quoted\"]}}";

  /** What is wrong with a valid address that USUAL blocks, by the code. */
  private static final Map<String, String> UNUSUAL = Map.of(
      "single_label", "the domain has no dot; use an address at a full domain name, such as example.org",
      "unknown_tld", "the domain ends in no top-level domain; check what is after its last dot",
      "literal", "the domain is an IP address; use an address at a domain name",
      "comment", "the address has a comment; remove the parentheses and what is in them",
      "quoted", "the local part is in quotation marks; use an address without them",
      "arpa", "domains below .arpa have no mailboxes for people; use an address at another domain");

  /** A longer text is cut: it is not valid in any case, and so short it has no more than MAX_ADDRESS bytes. */
  private static final int MAX_CHARS = Addrspec.MAX_ADDRESS / 3;

  private static volatile Addrspec checker = new Addrspec();

  private String policy;
  private boolean allowTypo;
  private boolean defaultMessage;

  /** Creates a validator; Jakarta Validation does. */
  public EmailValidator() {}

  /**
   * Replaces the checker of all validators by one with your options or newer lists. Set it before the
   * first validation, and do not close it.
   *
   * @param replacement the checker
   */
  public static void setChecker(Addrspec replacement) {
    checker = Objects.requireNonNull(replacement, "replacement");
  }

  /**
   * Reads the policy.
   *
   * @throws ConstraintDeclarationException if it is no policy, with the place, or there is none
   */
  @Override
  public void initialize(Email email) {
    allowTypo = email.allowTypo();
    defaultMessage = email.message().equals("{" + PREFIX + "message}");
    policy = email.policy().isEmpty() ? null : document(email.policy());
    try {
      if (policy != null) {
        checker.verdict("", policy);
      }
    } catch (PolicyRefusedException e) {
      throw wrong(email.policy(), e.getMessage(), e);
    }
  }

  private static String document(String policy) {
    if (policy.startsWith("{")) {
      return policy;
    }
    try (InputStream in = open(policy)) {
      if (in == null) {
        throw wrong(policy, "the class path has no such resource; its name begins without a slash, a document with {", null);
      }
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(in.readAllBytes())).toString();
    } catch (IOException e) {
      throw wrong(policy, "the resource cannot be read as UTF-8", e);
    }
  }

  /** Opens a resource of the application, whose class loader need not be that of this library. */
  private static InputStream open(String name) {
    ClassLoader application = Thread.currentThread().getContextClassLoader();
    InputStream in = application == null ? null : application.getResourceAsStream(name);
    return in != null ? in : EmailValidator.class.getClassLoader().getResourceAsStream(name);
  }

  private static ConstraintDeclarationException wrong(String policy, String why, Exception cause) {
    String name = policy.startsWith("{") ? "{…}" : policy;
    return new ConstraintDeclarationException("@Email(policy = \"" + name + "\"): " + why, cause);
  }

  @Override
  public boolean isValid(CharSequence value, ConstraintValidatorContext context) {
    if (value == null) {
      return true;
    }
    int length = Math.min(value.length(), MAX_CHARS);
    Map<String, Object> violation = violation(value.subSequence(0, length).toString());
    if (violation.isEmpty()) {
      return true;
    }
    boolean interpolated = addToHibernate(context, violation);
    if (defaultMessage) {
      context.disableDefaultConstraintViolation();
      String message = interpolated ? "{" + PREFIX + violation.get("code") + "}" : escape(violation.get("sentence"));
      context.buildConstraintViolationWithTemplate(message).addConstraintViolation();
    }
    return false;
  }

  /** Returns what is wrong with an address, by the names of the message parameters. */
  private Map<String, Object> violation(String email) {
    Addrspec current = checker;
    Facts facts = current.check(email);
    if (!facts.valid()) {
      return refused(current.explain(email).details().orElseThrow().refusal().orElseThrow());
    }
    Verdict verdict = current.verdict(email, policy == null ? USUAL : policy);
    if (verdict.action().equals("block")) {
      return policy == null ? unusual(verdict, facts) : blocked(verdict, facts);
    }
    boolean named = verdict.reason().equals(Optional.of("domain")); // by the policy
    return facts.typo() && !allowTypo && !named ? misspelled(facts.typoSuggestion().orElseThrow()) : Map.of();
  }

  private static Map<String, Object> refused(Refusal refusal) {
    Map<String, Object> violation = violation(refusal.codeName(), refusal.sentence());
    violation.put("offset", refusal.offset());
    return violation;
  }

  private static Map<String, Object> unusual(Verdict verdict, Facts facts) {
    String reason = verdict.reason().orElseThrow();
    String code = reason.equals("domain") ? "arpa" : reason;
    Map<String, Object> violation = violation(code, UNUSUAL.get(code));
    facts.typoSuggestion().ifPresent(suggestion -> violation.put("suggestion", suggestion));
    return violation;
  }

  private static Map<String, Object> blocked(Verdict verdict, Facts facts) {
    Map<String, Object> violation = violation("policy", "this address is not accepted");
    verdict.reason().ifPresent(reason -> violation.put("reason", reason));
    verdict.rule().ifPresent(rule -> violation.put("rule", rule));
    facts.typoSuggestion().ifPresent(suggestion -> violation.put("suggestion", suggestion));
    return violation;
  }

  private static Map<String, Object> misspelled(String suggestion) {
    Map<String, Object> violation = violation("typo", "did you mean " + suggestion + "?");
    violation.put("suggestion", suggestion);
    return violation;
  }

  private static Map<String, Object> violation(String code, String sentence) {
    Map<String, Object> violation = new LinkedHashMap<>(); // keeps the order, for JSON
    violation.put("code", code);
    violation.put("sentence", sentence);
    return violation;
  }

  /** Adds the message parameters and the payload, by reflection: this library needs the API alone. */
  private static boolean addToHibernate(ConstraintValidatorContext context, Map<String, Object> violation) {
    try {
      Class<?> type = Class.forName("org.hibernate.validator.constraintvalidation.HibernateConstraintValidatorContext",
          false, context.getClass().getClassLoader());
      if (!type.isInstance(context)) {
        return false;
      }
      Method add = type.getMethod("addMessageParameter", String.class, Object.class);
      add.invoke(context, PREFIX + "message", escape(violation.get("sentence"))); // used if no bundle has it
      for (Map.Entry<String, Object> fact : violation.entrySet()) {
        add.invoke(context, fact.getKey(), escape(fact.getValue()));
      }
      type.getMethod("withDynamicPayload", Object.class).invoke(context, violation);
      return true;
    } catch (ReflectiveOperationException e) {
      return false; // another implementation of the API
    }
  }

  /** Escapes characters that have a meaning in messages (Jakarta Validation section 6.3.1). */
  private static String escape(Object text) {
    return text.toString().replaceAll("[\\\\{}$]", "\\\\$0");
  }
}
