package io.github.addrspec;

/** What a role account is for. Newer lists may have others, which are {@link #OTHER} here. */
public enum Role {
  /** Administration of a site or service, such as {@code postmaster}. */
  ADMIN("Admin"),
  /** Help for customers. */
  SUPPORT("Support"),
  /** Sales. */
  SALES("Sales"),
  /** Marketing and the press. */
  MARKETING("Marketing"),
  /** A general address, such as {@code info}. */
  GENERAL("General"),
  /** An address to which nobody replies. */
  NO_REPLY("NoReply"),
  /** Invoices and payments. */
  BILLING("Billing"),
  /** Legal affairs and privacy. */
  LEGAL("Legal"),
  /** Information technology and development. */
  IT("IT"),
  /** Human resources. */
  HR("HR"),
  /** A role that this version of the library does not know: see {@link Facts#roleName}. */
  OTHER("");

  private final String json;

  Role(String json) {
    this.json = json;
  }

  static Role of(String json) {
    for (Role role : values()) {
      if (role.json.equals(json)) {
        return role;
      }
    }
    return OTHER;
  }
}
