package io.github.addrspec;

/** A document is no policy. The message names the place in it and how to fix it. */
public final class PolicyRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  PolicyRefusedException(String why) {
    super(why);
  }
}
