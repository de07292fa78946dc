package io.github.addrspec;

/**
 * The lists are damaged, too large or of another format. The message says what is wrong. The lists
 * in use have not changed.
 */
public final class ListsRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  static final String TOO_LARGE = "the lists are larger than 4 MiB";

  ListsRefusedException(String why) {
    super(why);
  }
}
