package io.github.addrspec;

import java.util.Locale;

/**
 * Why an address is not valid; each has the section of its standard here. Newer versions of the checks
 * may have others, which are {@link #OTHER}. A test compares this list with the checks.
 */
public enum RefusalCode {
  /** RFC 5322 section 3.4.1. */
  EMPTY,
  /** RFC 5322 section 3.4.1. */
  NO_AT,
  /** RFC 5322 section 3.4.1. */
  AT_LOOKALIKE,
  /** RFC 5322 section 3.4.1. */
  SECOND_AT,
  /** RFC 5322 section 3.4.1. */
  ANGLE_BRACKET,
  /** RFC 5322 section 3.4.1. */
  MAILTO_PREFIX,
  /** RFC 5322 section 3.4.1. */
  SEVERAL_ADDRESSES,
  /** RFC 5322 section 3.4.1. */
  AT_SPELLED,
  /** RFC 5322 section 3.4.1. */
  ENCLOSED,
  /** RFC 5322 section 3.4.1. */
  LOCAL_PART_MISSING,
  /** RFC 5322 section 3.2.3. */
  LOCAL_PART_STARTS_WITH_DOT,
  /** RFC 5322 section 3.2.3. */
  LOCAL_PART_ENDS_WITH_DOT,
  /** RFC 5322 section 3.2.3. */
  LOCAL_PART_TWO_DOTS,
  /** RFC 5322 section 3.2.3. */
  LOCAL_PART_SPACE,
  /** RFC 5322 section 4.4. */
  LOCAL_PART_COMMENT,
  /** RFC 5322 section 3.2.3. */
  LOCAL_PART_CHARACTER,
  /** RFC 5322 section 3.2.3. */
  BOT_NAME,
  /** RFC 5321 section 4.5.3.1.1. */
  LOCAL_PART_TOO_LONG,
  /** RFC 5322 section 3.2.4. */
  QUOTED_STRING_UNCLOSED,
  /** RFC 5322 section 3.2.4. */
  TEXT_AFTER_QUOTED_STRING,
  /** RFC 5322 section 4.4. */
  PARTLY_QUOTED,
  /** RFC 5322 section 3.2.3. */
  QUOTE_INSIDE,
  /** RFC 5322 section 3.2.1. */
  QUOTED_CONTROL,
  /** RFC 5322 section 3.4.1. */
  DOMAIN_MISSING,
  /** RFC 5321 section 4.1.2. */
  DOMAIN_STARTS_WITH_DOT,
  /** RFC 5321 section 4.1.2. */
  DOMAIN_ENDS_WITH_DOT,
  /** RFC 5321 section 4.1.2. */
  DOMAIN_TWO_DOTS,
  /** RFC 5322 section 4.4. */
  DOMAIN_SPACE,
  /** RFC 5322 section 4.4. */
  DOMAIN_COMMENT,
  /** RFC 5321 section 4.1.2. */
  DOMAIN_CHARACTER,
  /** RFC 5321 section 4.1.2. */
  COMMA_FOR_DOT,
  /** RFC 5321 section 4.1.2. */
  DOMAIN_PLACEHOLDER,
  /** RFC 1035 section 2.3.4. */
  DOMAIN_TOO_LONG,
  /** RFC 1035 section 2.3.4. */
  LABEL_TOO_LONG,
  /** RFC 5321 section 4.1.2. */
  LABEL_STARTS_WITH_HYPHEN,
  /** RFC 5321 section 4.1.2. */
  LABEL_ENDS_WITH_HYPHEN,
  /** RFC 5891 section 4.2.3.1. */
  LABEL_HYPHENS,
  /** RFC 5891 section 4.2.3.2. */
  LABEL_STARTS_WITH_MARK,
  /** RFC 5892 appendix A. */
  LABEL_CONTEXT,
  /** RFC 5893 section 2. */
  LABEL_BIDI,
  /** RFC 5891 section 4.2.1. */
  LABEL_PUNYCODE,
  /** RFC 5322 section 3.4.1. */
  LITERAL_UNCLOSED,
  /** RFC 5322 section 3.4.1. */
  LITERAL_CHARACTER,
  /** RFC 5321 section 4.1.3. */
  LITERAL_UNKNOWN,
  /** RFC 5321 section 4.1.3. */
  LITERAL_IPV4,
  /** RFC 5321 section 4.1.3. */
  LITERAL_IPV6,
  /** RFC 5321 section 4.1.3. */
  LITERAL_IPV6_TAG,
  /** RFC 5322 section 3.4.1. */
  TEXT_AFTER_LITERAL,
  /** RFC 5322 section 3.2.2. */
  COMMENT_UNCLOSED,
  /** RFC 5322 section 3.2.2. */
  COMMENT_UNOPENED,
  /** RFC 5322 section 2.2. */
  BARE_CR,
  /** RFC 5322 section 2.2. */
  BARE_LF,
  /** RFC 5322 section 3.2.2. */
  LINE_BREAK,
  /** RFC 5322 section 4.2. */
  SECOND_FOLD,
  /** RFC 5321 section 4.5.3.1.3. */
  ADDRESS_TOO_LONG,
  /** RFC 5321 section 4.5.3.1. */
  NORMALIZED_TOO_LONG,
  /** RFC 5321 section 4.1.2. */
  CONTROL_CHARACTER,
  /** RFC 5892 section 2.3. */
  INVISIBLE_CHARACTER,
  /** RFC 5892 section 2.3. */
  BIDI_CONTROL,
  /** RFC 3629 section 4. */
  MALFORMED_UTF8,
  /** A code that this version of the library does not know: see {@link Refusal#codeName}. */
  OTHER;

  /** Returns the code with that name in the JSON, such as {@code no_at}. */
  static RefusalCode of(String name) {
    for (RefusalCode code : values()) {
      if (code.name().toLowerCase(Locale.ROOT).equals(name)) {
        return code;
      }
    }
    return OTHER;
  }
}
