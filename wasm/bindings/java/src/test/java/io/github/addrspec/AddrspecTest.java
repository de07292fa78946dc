package io.github.addrspec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class AddrspecTest {
  private static final Addrspec addrspec = new Addrspec();

  @AfterAll
  static void close() {
    addrspec.close();
  }

  @Test
  void givesEachFieldItsType() {
    Facts facts = addrspec.check("NoReply+news@Gmial.com");
    assertEquals("NoReply+news@Gmial.com", facts.email());
    assertTrue(facts.valid());
    assertEquals(Optional.of("noreply+news@gmial.com"), facts.normalized());
    assertEquals(Optional.of("NoReply+news"), facts.localPart());
    assertTrue(facts.alias());
    assertTrue(facts.ascii());
    assertEquals(Optional.of(Role.NO_REPLY), facts.role());
    assertEquals(Optional.of("NoReply"), facts.roleName());
    assertFalse(facts.gibberish());
    assertEquals(0, facts.gibberishScore());
    assertEquals(Optional.of("gmial.com"), facts.domain());
    assertEquals(Optional.empty(), facts.mx());
    assertFalse(facts.disposable());
    assertFalse(facts.publicProvider());
    assertFalse(facts.relay());
    assertTrue(facts.typo());
    assertEquals(Optional.of("gmail.com"), facts.typoSuggestion());
    assertEquals(Optional.empty(), facts.details());
  }

  /** The facts, which are bits of the report, and the texts are those of the JSON. */
  @Test
  void givesWhatTheJsonHas() {
    List<String> addresses =
        List.of("Jane@Gmail.com", "a@mailinator.com", "a@privaterelay.appleid.com", "NoReply+x@gmial.com", "x", "",
            "gxhakyczq2wbg2c3@example.org", "jane@[192.0.2.1]", "jos\u00e9@b\u00fccher.example", "jane@@example.org");
    List<Facts> all = addrspec.checkMany(addresses);
    List<Facts> explained = addrspec.explainMany(addresses);
    for (int n = 0; n < all.size(); n++) {
      Facts facts = addrspec.check(addresses.get(n));
      assertEquals(facts.json(), json(facts));
      assertEquals(facts.json(), json(all.get(n)));
      assertEquals(facts.json(), json(explained.get(n)));
    }
  }

  /** Returns the JSON of facts whose texts need no escapes. */
  private static String json(Facts f) {
    String score = String.valueOf(f.gibberishScore()).replaceFirst("\\.0$", "");
    return "{\"email\":" + text(Optional.of(f.email())) + ",\"valid\":" + f.valid() + ",\"normalized\":" + text(f.normalized())
        + ",\"local_part\":" + text(f.localPart()) + ",\"alias\":" + f.alias() + ",\"ascii\":" + f.ascii() + ",\"role\":"
        + text(f.roleName()) + ",\"gibberish\":" + f.gibberish() + ",\"gibberish_score\":" + score + ",\"domain\":"
        + text(f.domain()) + ",\"mx\":" + f.mx().map(String::valueOf).orElse("null") + ",\"disposable\":" + f.disposable()
        + ",\"public\":" + f.publicProvider() + ",\"relay\":" + f.relay() + ",\"typo\":" + f.typo() + ",\"typo_suggestion\":"
        + text(f.typoSuggestion()) + "}";
  }

  private static String text(Optional<String> value) {
    return value.map(text -> '"' + text + '"').orElse("null");
  }

  @Test
  void explainsARefusal() {
    Details details = addrspec.explain("jané.@example.org").details().orElseThrow();
    Refusal refusal = details.refusal().orElseThrow();
    assertEquals("local_part_ends_with_dot", refusal.codeName());
    assertEquals(RefusalCode.LOCAL_PART_ENDS_WITH_DOT, refusal.code());
    assertEquals(5, refusal.offset()); // in bytes of UTF-8
    assertEquals("RFC 5322 section 3.2.3", refusal.section());
    assertEquals("the local part ends with a dot; remove it", refusal.sentence());
    assertEquals(Optional.empty(), refusal.suggestion());
    Refusal repairable = addrspec.explain("jane@example,org").details().orElseThrow().refusal().orElseThrow();
    assertEquals(Optional.of("jane@example.org"), repairable.suggestion());
    assertEquals(Optional.empty(), details.canonical());
  }

  @Test
  void explainsAMailbox() {
    Details details = addrspec.explain("J.Doe+shop@googlemail.com").details().orElseThrow();
    assertEquals(Optional.empty(), details.refusal());
    assertEquals(Optional.of("jdoe@gmail.com"), details.canonical());
    assertEquals(Optional.of("gmail"), details.canonicalRule());
    ProviderEvidence provider = details.providerEvidence().orElseThrow();
    assertEquals("googlemail.com", provider.entry());
    assertEquals("public", provider.providerClass());
    assertFalse(provider.subdomains());
    assertTrue(provider.sources().contains("addrspec/public.txt"));
    assertEquals(addrspec.versions().toString(), details.versions().toString());
    assertEquals(List.of(), details.form());
    assertEquals(Optional.empty(), details.exchange());
  }

  @Test
  void explainsAForm() {
    Details details = addrspec.explain("\"a b\"@printer.local").details().orElseThrow();
    assertEquals(List.of("quoted", "unknown_tld", "special_use"), details.form());
  }

  @Test
  void readsTheExchangeOfAHostWithDns() {
    String exchange = "{\"class\":\"own\",\"provider\":null,\"entry\":null,\"host\":\"mx.example.org\",\"address_record\":null}";
    String json = addrspec.explain("jane@example.org").json();
    String looked = json.replace("\"exchange\":null", "\"exchange\":" + exchange);
    Json members = new Json(looked.getBytes(StandardCharsets.UTF_8));
    Exchange read = new Details(members).exchange().orElseThrow();
    assertEquals("own", read.exchangeClass());
    assertEquals(Optional.of("mx.example.org"), read.host());
    assertEquals(List.of(Optional.empty(), Optional.empty()), List.of(read.provider(), read.entry()));
    assertEquals(Optional.empty(), read.addressRecord());
  }

  @Test
  void explainsARoleAndATypo() {
    Details details = addrspec.explain("support-uk@gmial.com").details().orElseThrow();
    RoleEvidence role = details.roleEvidence().orElseThrow();
    assertEquals("support", role.word());
    assertEquals("word", role.match());
    assertEquals(List.of("uk"), role.qualifiers());
    TypoEvidence typo = details.typoEvidence().orElseThrow();
    assertEquals("gmail.com", typo.target());
    Edit edit = typo.edits().get(0);
    assertEquals("transposition 2 ia ai", edit.kind() + " " + edit.at() + " " + edit.from() + " " + edit.to());
  }

  @Test
  void acceptsBytesThatAreNotUtf8() {
    Facts facts = addrspec.check("jan\u00e9@example.org".getBytes(StandardCharsets.ISO_8859_1));
    assertFalse(facts.valid());
    assertEquals("jan\ufffd@example.org", facts.email());
  }

  @Test
  void refusesALoneSurrogate() {
    for (String text : List.of("jan\ud83d@example.org", "jan\ude00@example.org", "\ude00\ud83djan@example.org")) {
      Refusal refusal = addrspec.explain(text).details().orElseThrow().refusal().orElseThrow();
      assertEquals(RefusalCode.MALFORMED_UTF8, refusal.code());
    }
    assertTrue(addrspec.check("jan\ud83d\ude00@example.org").valid());
  }

  @Test
  void refusesNullByName() {
    assertEquals("address", nameOfNull(() -> addrspec.check((String) null)));
    assertEquals("address", nameOfNull(() -> addrspec.check((byte[]) null)));
    assertEquals("address", nameOfNull(() -> addrspec.explain((String) null)));
    assertEquals("addresses", nameOfNull(() -> addrspec.checkMany(null)));
    assertEquals("addresses", nameOfNull(() -> addrspec.checkManyBytes(null)));
    assertEquals("addresses[1]", nameOfNull(() -> addrspec.checkMany(Arrays.asList("a", null))));
    assertEquals("addresses[1]", nameOfNull(() -> addrspec.checkManyBytes(Arrays.asList(new byte[0], null))));
    assertEquals("blob", nameOfNull(() -> addrspec.setLists(null)));
  }

  private static String nameOfNull(Runnable call) {
    return assertThrows(NullPointerException.class, call::run).getMessage();
  }

  @Test
  void checksAMebibyteButNoMore() {
    String most = "j".repeat(Addrspec.MAX_ADDRESS);
    assertEquals(most, addrspec.check(most).email());
    assertEquals(most, addrspec.checkMany(List.of("a", most, "b")).get(1).email());
    String escaped = "\u0000".repeat(Addrspec.MAX_ADDRESS); // six bytes of JSON for each
    assertEquals(escaped, addrspec.checkMany(List.of(escaped)).get(0).email());
    Refusal refusal = addrspec.explain(most).details().orElseThrow().refusal().orElseThrow();
    assertEquals(RefusalCode.ADDRESS_TOO_LONG, refusal.code());
  }

  @Test
  void refusesMoreThanAMebibyte() {
    String more = "j".repeat(Addrspec.MAX_ADDRESS + 1);
    String umlauts = "\u00e4".repeat(Addrspec.MAX_ADDRESS / 2 + 1);
    assertTooLong("address has at least 1048577 bytes", () -> addrspec.check(more));
    assertTooLong("address has 1048578 bytes", () -> addrspec.check(umlauts));
    assertTooLong("address has 1048578 bytes", () -> addrspec.explain(umlauts));
    assertTooLong("address has 1048577 bytes", () -> addrspec.check(new byte[Addrspec.MAX_ADDRESS + 1]));
    assertTooLong("addresses[1] has at least 1048577 bytes", () -> addrspec.checkMany(List.of("a", more)));
    List<byte[]> list = List.of(new byte[1], new byte[Addrspec.MAX_ADDRESS + 1]);
    assertTooLong("addresses[1] has 1048577 bytes", () -> addrspec.checkManyBytes(list));
  }

  private static void assertTooLong(String start, Runnable call) {
    String message = assertThrows(IllegalArgumentException.class, call::run).getMessage();
    assertEquals(start + "; at most 1048576 can be checked", message);
  }

  @Test
  void hasValuesThatMayBeLogged() {
    Facts facts = addrspec.explain("secret+tag@gmial.com");
    Facts refused = addrspec.explain("secret\u00a7@@example.org");
    String all = facts.toString() + facts.details() + refused + refused.details();
    all += refused.details().orElseThrow().refusal();
    assertFalse(all.contains("secret") || all.contains("gmial") || all.contains("\u00a7"), all);
    assertTrue(facts.toString().startsWith("Facts[valid=true, role=null,"));
  }

  @Test
  void comparesFactsByTheirJson() {
    Facts one = addrspec.check("jane@example.org");
    assertEquals(one, addrspec.checkMany(List.of("jane@example.org")).get(0));
    assertEquals(one.hashCode(), addrspec.check("jane@example.org").hashCode());
    assertNotEquals(one, addrspec.check("john@example.org"));
    assertNotEquals(one, addrspec.explain("jane@example.org"));
  }

  @Test
  void keepsFactsWhenTheirBytesAreChanged() {
    Facts facts = addrspec.check("jane@example.org");
    String json = facts.json();
    facts.jsonBytes()[0] = 'x';
    assertEquals(json, facts.json());
  }

  @Test
  void suggestsTheWholeAddressOnRequest() {
    try (Addrspec full = Addrspec.builder().fullSuggestion(true).build()) {
      Optional<String> want = Optional.of("jane@gmail.com");
      assertEquals(want, full.check("jane@gmial.com").typoSuggestion());
      assertEquals(want, full.explain("jane@gmial.com").typoSuggestion());
      assertEquals(want, full.checkMany(List.of("jane@gmial.com")).get(0).typoSuggestion());
    }
  }

  @Test
  void limitsTheInstances() {
    for (int limit : new int[] {-1, 0, 1025, Integer.MAX_VALUE}) {
      Addrspec.Builder builder = Addrspec.builder();
      String message = assertThrows(IllegalArgumentException.class, () -> builder.instances(limit)).getMessage();
      assertEquals("instances is " + limit + ", not 1 to 1024", message);
    }
  }

  @Test
  void refusesListsThatAreNone() {
    byte[] none = "not a blob".getBytes(StandardCharsets.UTF_8);
    assertThrows(ListsRefusedException.class, () -> addrspec.setLists(none));
    assertThrows(ListsRefusedException.class, () -> addrspec.setLists(new byte[0]));
    Addrspec.Builder builder = Addrspec.builder().lists(none);
    assertThrows(ListsRefusedException.class, builder::build);
    byte[] large = new byte[(4 << 20) + 1];
    String message = assertThrows(ListsRefusedException.class, () -> addrspec.setLists(large)).getMessage();
    assertEquals("the lists are larger than 4 MiB", message);
    assertTrue(addrspec.check("jane@gmail.com").publicProvider());
  }

  @Test
  void decidesByAPolicy() {
    String policy = "{\"block\":{\"reasons\":[\"no_mail\"]},\"review\":{\"reasons\":[\"role\"]}}";
    Verdict verdict = addrspec.verdict("info@example.org", policy);
    assertEquals("review", verdict.action());
    assertEquals(Optional.of("role"), verdict.reason());
    assertEquals(Optional.of("review.reasons[0]"), verdict.rule());
    Found without = Found.NOTHING.mx(true).mx(false).addressRecord(true).addressRecord(false);
    assertEquals("block", addrspec.verdict("info@example.org", policy, without).action());
    Verdict allowed = addrspec.verdict("jane@example.org", policy, without.addressRecord(true));
    assertEquals("{\"action\":\"allow\",\"reason\":null,\"rule\":null}", allowed.json());
    assertEquals(Optional.empty(), allowed.rule());
    String wrong = "{\"block\":{\"reasons\":[\"rolle\"]}}";
    PolicyRefusedException refused =
        assertThrows(PolicyRefusedException.class, () -> addrspec.verdict("a@b", wrong));
    assertEquals("block.reasons[0]: \"rolle\" is no reason; did you mean \"role\"?", refused.getMessage());
    assertEquals("block.reasons[0]", refused.place());
    assertEquals(wrong.indexOf("\"rolle"), refused.offset());
    byte[] bytes = {'a', (byte) 0xff, '@', 'b'};
    assertEquals(Optional.of("invalid"), addrspec.verdict(bytes, policy, without).reason());
    assertThrows(NullPointerException.class, () -> addrspec.verdict("a@b", null));
  }

  @Test
  void decidesByAddressesAndExchanges() {
    String policy = "{\"block\":{\"addresses\":[\"j.doe@gmail.com\"],\"exchanges\":[\"*.burner.example\"]}}";
    assertEquals(Optional.of("address"), addrspec.verdict("JDoe+x@googlemail.com", policy).reason());
    Found burner = Found.NOTHING.exchanges(List.of("mx.burner.example")).mx(true);
    assertEquals(Optional.of("block.exchanges[0]"), addrspec.verdict("jane@example.org", policy, burner).rule());
    Found mixed = burner.exchanges(List.of("mx.burner.example", "mx.example.org"));
    assertEquals("allow", addrspec.verdict("jane@example.org", policy, mixed).action());
    byte[] long_ = new byte[Addrspec.MAX_ADDRESS];
    assertEquals(Optional.of("invalid"), addrspec.verdict(long_, policy, burner).reason());
    List<String> many = Collections.nCopies(5000, "mx.example");
    assertThrows(IllegalArgumentException.class, () -> Found.NOTHING.exchanges(many));
  }

  /** More policies than an instance has, and refused ones between them, never get another's verdict. */
  @Test
  void keepsPoliciesApart() {
    try (Addrspec one = Addrspec.builder().instances(1).build()) {
      for (int n = 0; n < 80; n++) {
        int domain = n % 40;
        assertThrows(PolicyRefusedException.class, () -> one.verdict("a@b", "7"));
        String policy = "{\"block\":{\"domains\":[\"d" + domain + ".example\"]}}";
        assertEquals("block", one.verdict("a@d" + domain + ".example", policy).action());
        assertEquals("allow", one.verdict("a@d" + (domain + 1) + ".example", policy).action());
      }
    }
  }

  @Test
  void refusesCallsWhenClosed() {
    Addrspec closed = new Addrspec();
    closed.check("jane@example.org");
    closed.close();
    closed.close();
    assertThrows(IllegalStateException.class, () -> closed.check("jane@example.org"));
    assertThrows(IllegalStateException.class, () -> closed.checkMany(List.of("jane@example.org")));
    assertThrows(IllegalStateException.class, closed::versions);
    assertThrows(IllegalStateException.class, () -> closed.setLists(new byte[0]));
  }
}
