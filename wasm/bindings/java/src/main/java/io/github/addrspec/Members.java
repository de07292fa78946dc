package io.github.addrspec;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The members of a JSON object by name. Those that a later version adds are ignored. */
final class Members {
  private final Map<String, Object> values;

  Members(Map<String, Object> values) {
    this.values = values;
  }

  String string(String name) {
    return get(name, String.class).orElseThrow(() -> wrong(name));
  }

  Optional<String> optional(String name) {
    return get(name, String.class);
  }

  boolean bool(String name) {
    return get(name, Boolean.class).orElseThrow(() -> wrong(name));
  }

  Optional<Boolean> optionalBool(String name) {
    return get(name, Boolean.class);
  }

  double number(String name) {
    return get(name, Double.class).orElseThrow(() -> wrong(name));
  }

  int integer(String name) {
    return (int) number(name);
  }

  <T> T required(String name, Function<Members, T> type) {
    return object(name, type).orElseThrow(() -> wrong(name));
  }

  <T> Optional<T> object(String name, Function<Members, T> type) {
    return get(name, Members.class).map(type);
  }

  List<String> strings(String name) {
    return list(name, String.class, text -> text);
  }

  <T> List<T> objects(String name, Function<Members, T> type) {
    return list(name, Members.class, type);
  }

  private <E, T> List<T> list(String name, Class<E> element, Function<E, T> type) {
    List<T> list = new ArrayList<>();
    for (Object value : get(name, List.class).orElseThrow(() -> wrong(name))) {
      if (!element.isInstance(value)) {
        throw wrong(name);
      }
      list.add(type.apply(element.cast(value)));
    }
    return List.copyOf(list);
  }

  /** Returns the value of a member, which is empty for null. */
  private <T> Optional<T> get(String name, Class<T> type) {
    Object value = values.get(name);
    if (value == null ? !values.containsKey(name) : !type.isInstance(value)) {
      throw wrong(name);
    }
    return Optional.ofNullable(type.cast(value));
  }

  private static ModuleException wrong(String name) {
    return new ModuleException("the module's JSON lacks " + name + ", or it has another type");
  }
}
