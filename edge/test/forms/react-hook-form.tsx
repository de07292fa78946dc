import { standardSchemaResolver } from "@hookform/resolvers/standard-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { emailSchema } from "addrspec/schema";
import { useForm } from "react-hook-form";

const email = emailSchema();
const validate = async (value: string) =>
  (await email["~standard"].validate(value)).issues?.[0]?.message ?? true;

interface Props {
  readonly id: string;
  readonly save: (address: string) => void;
}
interface Values {
  email: string;
}

/** By a rule of the field. */
export function SignUp({ id, save }: Props) {
  const { register, handleSubmit, formState } = useForm<Values>();
  return (
    <form id={id} noValidate onSubmit={handleSubmit((values) => save(values.email))}>
      <label>
        Email <input type="email" {...register("email", { validate })} />
      </label>
      <output>{formState.errors.email?.message}</output>
      <button type="submit">Sign up</button>
    </form>
  );
}

/** By a schema of the form, of any library. */
export function BySchema({ id, save, schema }: Props & { schema: StandardSchemaV1<Values, Values> }) {
  const { register, handleSubmit, formState } = useForm({
    resolver: standardSchemaResolver(schema),
  });
  return (
    <form id={id} noValidate onSubmit={handleSubmit((values) => save(values.email))}>
      <label>
        Email <input type="email" {...register("email")} />
      </label>
      <output>{formState.errors.email?.message}</output>
      <button type="submit">Sign up</button>
    </form>
  );
}
