package io.github.addrspec;

/**
 * The module failed, which is a defect of this library: no input is known to cause it. The instance
 * that failed is discarded, and the next call uses another. The message and the cause do not contain
 * the address.
 */
public final class ModuleException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ModuleException(String what) {
    super(what);
  }

  ModuleException(String what, Throwable cause) {
    super(what, cause);
  }
}
