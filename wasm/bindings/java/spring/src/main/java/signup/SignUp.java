package signup;

import io.github.addrspec.validation.Email;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.Valid;
import jakarta.validation.Validator;
import jakarta.validation.constraints.NotNull;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.hibernate.validator.engine.HibernateConstraintViolation;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.validation.FieldError;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** A service with a form for sign-up. */
@SpringBootApplication
@RestController
public class SignUp {
  /** The form. */
  public record Form(@NotNull @Email(policy = "policies/signup.json", allowTypo = false) String email) {}

  /** An error of a field, as a page needs it; details is null for another constraint. */
  public record Problem(String field, String message, Map<?, ?> details) {}

  public static void main(String[] args) {
    SpringApplication.run(SignUp.class, args);
  }

  /** Reads the policy, so that a wrong one ends the start. */
  @Bean
  ApplicationRunner readPolicy(Validator validator) {
    return args -> validator.validateValue(Form.class, "email", null);
  }

  @PostMapping("/signup")
  Map<String, String> signUp(@Valid @RequestBody Form form) {
    return Map.of("welcome", form.email());
  }

  /** Without a handler of its own: the response is that of Spring. */
  @GetMapping("/invite")
  Map<String, String> invite(@RequestParam("email") @Email String email) {
    return Map.of("invited", email);
  }

  @ExceptionHandler
  @ResponseStatus(HttpStatus.BAD_REQUEST)
  List<Problem> problems(MethodArgumentNotValidException e) {
    return e.getFieldErrors().stream().map(SignUp::problem).collect(Collectors.toList());
  }

  private static Problem problem(FieldError error) {
    ConstraintViolation<?> violation = error.unwrap(ConstraintViolation.class);
    HibernateConstraintViolation<?> detailed = violation.unwrap(HibernateConstraintViolation.class);
    return new Problem(error.getField(), error.getDefaultMessage(), detailed.getDynamicPayload(Map.class));
  }
}
