import { useForm } from "@tanstack/react-form";
import { emailSchema } from "addrspec/schema";

const email = emailSchema({ allowTypo: false });

export function SignUp({ save }: { save: (address: string) => void }) {
  const form = useForm({
    defaultValues: { email: "" },
    onSubmit: ({ value }) => save(value.email),
  });
  return (
    <form
      id="tanstack"
      onSubmit={(event) => {
        event.preventDefault();
        void form.handleSubmit();
      }}
    >
      <form.Field name="email" validators={{ onBlurAsync: email }}>
        {({ state, handleChange, handleBlur }) => (
          <label>
            Email
            <input
              value={state.value}
              onChange={({ target }) => handleChange(target.value)}
              onBlur={handleBlur}
            />
            <output>{state.meta.errors[0]?.message}</output>
          </label>
        )}
      </form.Field>
      <button type="submit">Sign up</button>
    </form>
  );
}
