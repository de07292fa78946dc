import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.addrspec.Addrspec;
import io.github.addrspec.Facts;
import io.github.addrspec.Refusal;
import io.github.addrspec.validation.Email;
import io.github.addrspec.validation.EmailValidator;
import jakarta.validation.Constraint;
import jakarta.validation.ConstraintDeclarationException;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.Payload;
import jakarta.validation.ReportAsSingleViolation;
import jakarta.validation.Validation;
import jakarta.validation.Validator;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.bval.jsr.ApacheValidationProvider;
import org.hibernate.validator.HibernateValidator;
import org.hibernate.validator.HibernateValidatorConfiguration;
import org.hibernate.validator.engine.HibernateConstraintViolation;
import org.hibernate.validator.messageinterpolation.ExpressionLanguageFeatureLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The constraint in Hibernate Validator. */
class EmailTest {
  private static final Addrspec CHECKER = new Addrspec();
  private static final Validator VALIDATOR = validator(Locale.ENGLISH);

  private static HibernateValidatorConfiguration configuration(Locale locale) {
    return Validation.byProvider(HibernateValidator.class).configure().defaultLocale(locale);
  }

  private static Validator validator(Locale locale) {
    return configuration(locale).buildValidatorFactory().getValidator();
  }

  interface Strict {}

  @Email(policy = "policies/signup.json", allowTypo = false)
  @Constraint(validatedBy = {})
  @ReportAsSingleViolation
  @Retention(RetentionPolicy.RUNTIME)
  @interface SignupEmail {
    String message() default "no sign-up with this";

    Class<?>[] groups() default {};

    Class<? extends Payload>[] payload() default {};
  }

  @SuppressWarnings("unused")
  static final class Form {
    @Email String plain;
    @Email CharSequence text;
    @jakarta.validation.constraints.Email String theirs;
    @Email(policy = "{}", allowTypo = false) String anyForm;
    @Email(allowTypo = false) String exact;
    @Email(policy = "policies/signup.json") String resource;
    @Email(policy = "{\"block\": {\"reasons\": [\"typo\", \"public\"]}}") String document;
    @Email(policy = "{\"allow\": {\"domains\": [\"gmial.com\"]}}", allowTypo = false) String named;
    @Email(message = "{code}: {sentence} [${1 + 1}]") String own;
    @Email @Email(allowTypo = false, groups = Strict.class) String twice;
    @SignupEmail String composed;
    List<@Email String> list;
    @Email(policy = "policies/misspelled.json") String misspelled;
    @Email(policy = "policies/latin1.txt") String latin1;
    @Email(policy = "policies/none.json") String none;
    @Email(policy = "{\n  block: {}}") String broken;
  }

  private static Set<ConstraintViolation<Form>> violations(String property, Object value, Class<?>... groups) {
    return VALIDATOR.validateValue(Form.class, property, value, groups);
  }

  /** Returns the messages, in order. */
  private static <T> Set<String> messages(Set<ConstraintViolation<T>> violations) {
    return violations.stream().map(ConstraintViolation::getMessage).collect(Collectors.toCollection(TreeSet::new));
  }

  private static Map<?, ?> payload(Set<? extends ConstraintViolation<?>> violations) {
    assertEquals(1, violations.size());
    HibernateConstraintViolation<?> violation = violations.iterator().next().unwrap(HibernateConstraintViolation.class);
    return violation.getDynamicPayload(Map.class);
  }

  @Test
  void acceptsWellFormedAddressesAndNull() {
    assertEquals(Set.of(), violations("plain", null));
    assertEquals(Set.of(), violations("plain", "jane@example.org"));
    assertEquals(Set.of(), violations("plain", "jane@gmial.com"));
    assertEquals(Set.of(), violations("text", new StringBuilder("jos\u00e9@b\u00fccher.example.org")));
  }

  /** Without a policy it refuses what people do not type into a form; an empty policy accepts every valid address. */
  @Test
  void isAsStrictAsWhatItReplaces() throws Exception {
    List<String> rows = Files.readAllLines(Path.of(System.getProperty("addrspec.forms")));
    assertEquals(1 + 20, rows.size());
    for (String row : rows.subList(1, rows.size())) {
      String[] columns = row.split("\t", -1);
      boolean valid = CHECKER.check(columns[0]).valid();
      assertEquals(columns[2].contains("Hibernate"), violations("theirs", columns[0]).isEmpty(), columns[0]);
      Set<ConstraintViolation<Form>> violations = violations("plain", columns[0]);
      assertEquals(columns[1], violations.isEmpty() ? "" : payload(violations).get("code"), columns[0]);
      assertEquals(valid, violations("anyForm", columns[0]).isEmpty(), columns[0]);
    }
    Map<String, String> violation = Map.of("code", "unknown_tld", "suggestion", "gmail.com", "sentence",
        "the domain ends in no top-level domain; check what is after its last dot");
    assertEquals(violation, payload(violations("plain", "jane@gmail.cmo")));
    assertEquals(Set.of(violation.get("sentence")), messages(violations("plain", "jane@gmail.cmo")));
  }

  @Test
  void saysWhatIsWrong() {
    String sentence = "the local part ends with a dot; remove it";
    Set<ConstraintViolation<Form>> violations = violations("plain", "jane.@example.org");
    assertEquals(Set.of(sentence), messages(violations));
    assertEquals(Map.of("code", "local_part_ends_with_dot", "sentence", sentence, "offset", 4), payload(violations));
    assertEquals("empty", payload(violations("text", new StringBuilder())).get("code"));
  }

  @Test
  void suggestsWhereTyposAreNotAllowed() {
    Set<ConstraintViolation<Form>> violations = violations("exact", "jane@gmial.com");
    assertEquals(Set.of("did you mean gmail.com?"), messages(violations));
    assertEquals("typo", payload(violations).get("code"));
    assertEquals("gmail.com", payload(violations).get("suggestion"));
    assertEquals(Set.of(), violations("exact", "jane@gmail.com"));
    assertEquals(Set.of(), violations("named", "jane@gmial.com"));
    assertEquals("typo", payload(violations("named", "jane@gmal.com")).get("code"));
  }

  @Test
  void blocksByAPolicy() {
    Set<ConstraintViolation<Form>> blocked = violations("resource", "jane@mailinator.com");
    assertEquals(Set.of("this address is not accepted"), messages(blocked));
    assertEquals("policy", payload(blocked).get("code"));
    assertEquals("disposable", payload(blocked).get("reason"));
    assertEquals("block.reasons[0]", payload(blocked).get("rule"));
    assertEquals(Set.of(), violations("resource", "info@example.org"), "a review is no violation");
    assertEquals("gmail.com", payload(violations("document", "jane@gmial.com")).get("suggestion"));
    assertEquals("no_at", payload(violations("document", "jane")).get("code"));
  }

  @Test
  void namesThePlaceInAWrongPolicy() {
    assertWrong("misspelled", "@Email(policy = \"policies/misspelled.json\"): block.reasons[0]: \"disposible\" is no reason; did you mean \"disposable\"?");
    assertWrong("latin1", "@Email(policy = \"policies/latin1.txt\"): the resource cannot be read as UTF-8");
    assertWrong("none", "@Email(policy = \"policies/none.json\"): the class path has no such resource; its name begins without a slash, a document with {");
    assertWrong("broken", "@Email(policy = \"{\u2026}\"): line 2, column 3: ");
  }

  /** Null is enough, so that a test or a start of the program finds it. */
  private static void assertWrong(String property, String why) {
    var e = assertThrows(ConstraintDeclarationException.class, () -> violations(property, null));
    assertTrue(e.getMessage().startsWith(why), e.getMessage());
  }

  @Test
  void readsPoliciesByTheClassLoaderOfTheThread(@TempDir Path dir) throws Exception {
    Files.createDirectory(dir.resolve("policies"));
    Files.writeString(dir.resolve("policies/none.json"), "{\"block\": {\"domains\": [\"example.org\"]}}");
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Validator fresh = validator(Locale.ENGLISH);
    try (URLClassLoader application = new URLClassLoader(new URL[] {dir.toUri().toURL()})) {
      Thread.currentThread().setContextClassLoader(application);
      assertEquals("domain", payload(fresh.validateValue(Form.class, "none", "jane@example.org")).get("reason"));
      Thread.currentThread().setContextClassLoader(null);
      assertEquals(Set.of(), fresh.validateValue(Form.class, "resource", "jane@example.org"));
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  @Test
  void takesMessagesFromTheBundleOfTheApplication() {
    Validator german = validator(Locale.GERMAN);
    assertEquals(Set.of("Das @ fehlt."), messages(german.validateValue(Form.class, "plain", "jane")));
    assertEquals(Set.of("Meinten Sie gmail.com?"), messages(german.validateValue(Form.class, "exact", "jane@gmial.com")));
    assertEquals(Set.of("Diese Adresse nehmen wir nicht an (disposable, block.reasons[0])."),
        messages(german.validateValue(Form.class, "resource", "jane@mailinator.com")));
    assertEquals(Set.of("the address is empty; write it as name@domain"), messages(german.validateValue(Form.class, "plain", "")));
    assertEquals(Set.of("Adresse incorrecte (no_at)"), messages(validator(Locale.FRENCH).validateValue(Form.class, "plain", "jane")));
  }

  /** Apache BVal knows neither parameters nor our bundle. */
  @Test
  void saysWhatIsWrongInAnotherImplementation() {
    Validator other = Validation.byProvider(ApacheValidationProvider.class).configure().buildValidatorFactory().getValidator();
    assertEquals(Set.of("the address has no @; write it as name@domain"), messages(other.validateValue(Form.class, "plain", "jane")));
    for (char c = 0; c < 0x100; c++) {
      String address = "jane@exa" + c + "mple.org";
      Set<String> sentence = CHECKER.explain(address).details().orElseThrow().refusal().stream().map(Refusal::sentence).collect(Collectors.toSet());
      assertEquals(sentence, messages(other.validateValue(Form.class, "plain", address)));
    }
  }

  @Test
  void takesTheMessageOfTheAnnotation() {
    assertEquals(Set.of("no_at: the address has no @; write it as name@domain [2]"), messages(violations("own", "jane")));
  }

  @Test
  void worksInGroupsListsAndOtherConstraints() {
    assertEquals(Set.of(), violations("twice", "jane@gmial.com"));
    assertEquals(Set.of("did you mean gmail.com?"), messages(violations("twice", "jane@gmial.com", Strict.class)));
    assertEquals(Set.of("no sign-up with this"), messages(violations("composed", "jane@mailinator.com")));
    Form form = new Form();
    form.list = List.of("jane@example.org", "jane");
    Set<ConstraintViolation<Form>> found = VALIDATOR.validateProperty(form, "list");
    assertEquals("list[1].<list element>", found.iterator().next().getPropertyPath().toString());
  }

  private static void assertSame(Validator validator, String address) {
    Facts facts = CHECKER.explain(address);
    Set<ConstraintViolation<Form>> violations = validator.validateValue(Form.class, "plain", address);
    assertEquals(facts.valid(), violations.isEmpty(), address);
    if (!facts.valid()) {
      Refusal refusal = facts.details().orElseThrow().refusal().orElseThrow();
      assertEquals(Set.of(refusal.sentence()), messages(violations));
      assertEquals(Map.of("code", refusal.codeName(), "sentence", refusal.sentence(), "offset", refusal.offset()), payload(violations));
    }
  }

  /** Even where Hibernate Validator evaluates expressions in such messages. */
  @Test
  void doesNotInterpolateAnAddress() {
    Validator eager = configuration(Locale.ENGLISH)
        .customViolationExpressionLanguageFeatureLevel(ExpressionLanguageFeatureLevel.BEAN_METHODS)
        .buildValidatorFactory().getValidator();
    for (char c = 0; c < 0x100; c++) {
      for (String address : List.of("jane" + c + "@example.org", "jane@exa" + c + "mple.org", c + "jane", "jane" + c)) {
        assertSame(eager, address);
        assertSame(VALIDATOR, address);
      }
    }
    assertSame(eager, "${1+1}{code}@@");
    assertEquals(Set.of("second_at: the address has a second @; keep one, or put the local part in double quotes [2]"),
        messages(eager.validateValue(Form.class, "own", "${1+1}{code}@@")));
  }

  @Test
  void doesNotInterpolateASuggestion() {
    EmailValidator.setChecker(Addrspec.builder().fullSuggestion(true).build());
    try {
      for (String local : List.of("${1+1}", "{code}", "{", "}", "$", "\"\\\\$\"", "\\{", "${")) {
        String quoted = local.startsWith("\"") ? local : "\"" + local.replace("\\", "\\\\") + "\"";
        Map<?, ?> payload = payload(violations("anyForm", quoted + "@gmial.com"));
        assertTrue(payload.get("suggestion").toString().endsWith("@gmail.com"), quoted);
        assertEquals(Set.of("did you mean " + payload.get("suggestion") + "?"), messages(violations("anyForm", quoted + "@gmial.com")));
      }
    } finally {
      EmailValidator.setChecker(new Addrspec());
    }
  }

  @Test
  void refusesTextThatIsNoText() {
    assertEquals("malformed_utf8", payload(violations("plain", "ja\uD800ne@example.org")).get("code"));
    assertEquals("malformed_utf8", payload(violations("plain", "jane@example.org\uDC00")).get("code"));
    for (String piece : List.of("a", "\u00e9", "\u20ac", "\uD83D\uDE00", "\uD800")) {
      assertSame(VALIDATOR, piece.repeat(5000) + "@example.org");
      assertEquals("address_too_long", payload(violations("resource", piece.repeat(2 << 20) + "@example.org")).get("code"), piece);
    }
  }
}
