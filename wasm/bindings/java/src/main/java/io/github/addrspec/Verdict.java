package io.github.addrspec;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** What a policy decides about an address. */
public final class Verdict {
  private final String json;
  private final String action;
  private final Optional<String> reason;
  private final Optional<String> rule;

  /** Reads the JSON of the module. */
  Verdict(byte[] text) {
    Json members = new Json(text);
    json = new String(text, StandardCharsets.UTF_8);
    action = members.string("action");
    reason = members.optional("reason");
    rule = members.optional("rule");
  }

  /**
   * Returns what to do: {@code allow}, {@code review} or {@code block}.
   *
   * @return the action
   */
  public String action() {
    return action;
  }

  /**
   * Returns why, such as {@code disposable}, {@code domain} or {@code invalid}; empty if no rule
   * applied.
   *
   * @return the reason
   */
  public Optional<String> reason() {
    return reason;
  }

  /**
   * Returns the place of the rule in the policy, such as {@code block.reasons[1]}.
   *
   * @return the rule; empty if the policy has none for it
   */
  public Optional<String> rule() {
    return rule;
  }

  /**
   * Returns the module's own JSON, an object with action, reason and rule.
   *
   * @return the JSON
   */
  public String json() {
    return json;
  }
}
