import io.github.addrspec.Addrspec;
import jakarta.validation.Validation;
import jakarta.validation.Validator;
import jakarta.validation.constraints.Email;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.commons.validator.routines.EmailValidator;
import org.hibernate.validator.messageinterpolation.ParameterMessageInterpolator;

/** java Address MILLISECONDS FILE NAME... does what address.py does. */
public final class Address {
  /** What Hibernate Validator checks. */
  public record Person(@Email String email) {}

  public static void main(String[] args) throws Exception {
    var hibernate = Validation.byDefaultProvider().configure().messageInterpolator(new ParameterMessageInterpolator());
    Validator validator = hibernate.buildValidatorFactory().getValidator();
    Map<String, Consumer<String>> functions =
        Map.of(
            "addrspec", new Addrspec()::check,
            "commons", EmailValidator.getInstance()::isValid,
            "hibernate", email -> validator.validate(new Person(email)));
    List<String> names = List.of(args).subList(2, args.length), emails = Files.readAllLines(Path.of(args[1]));
    var thread = ManagementFactory.getThreadMXBean();
    long[] used = null;
    int rounds = 0;
    for (int part = 0; part < 3; part++) { // two are for the compiler
      used = new long[names.size()];
      rounds = 0;
      for (long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000 * used.length;
          System.nanoTime() < until || rounds < 20;
          rounds++) {
        for (int n = 0; n < used.length; n++) {
          used[n] -= thread.getCurrentThreadCpuTime();
          emails.forEach(functions.get(names.get(n)));
          used[n] += thread.getCurrentThreadCpuTime();
        }
      }
    }
    for (int n = 0; n < used.length; n++) {
      double us = used[n] / 1000.0 / rounds / emails.size();
      System.out.printf("{\"name\": \"%s\", \"us\": %f}%n", names.get(n), us);
    }
  }
}
