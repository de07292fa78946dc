package io.github.addrspec;

/** What determines the results: the same versions give the same results. */
public final class Versions {
  private final String engine;
  private final String lists;
  private final String model;

  /** Reads the JSON object. */
  Versions(Json members) {
    engine = members.string("engine");
    lists = members.string("lists");
    model = members.string("model");
  }

  /**
   * Returns the version of the checks.
   *
   * @return the version, such as {@code 0.3.0}
   */
  public String engine() {
    return engine;
  }

  /**
   * Returns the version of the lists of providers and words.
   *
   * @return the version
   */
  public String lists() {
    return lists;
  }

  /**
   * Returns the version of the model for gibberish.
   *
   * @return the version
   */
  public String model() {
    return model;
  }

  /** Returns the versions. */
  @Override
  public String toString() {
    return "Versions[engine=" + engine + ", lists=" + lists + ", model=" + model + "]";
  }
}
