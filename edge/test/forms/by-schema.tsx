import { standardSchemaResolver } from "@hookform/resolvers/standard-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { useForm } from "react-hook-form";

interface Values {
  email: string;
}

/** A form by a schema of any library. */
export function BySchema({
  save,
  schema,
}: {
  save: (address: string) => void;
  schema: StandardSchemaV1<Values, Values>;
}) {
  const { register, handleSubmit, formState } = useForm({
    resolver: standardSchemaResolver(schema),
  });
  return (
    <form noValidate onSubmit={handleSubmit((values) => save(values.email))}>
      <label>
        Email <input type="email" {...register("email")} />
      </label>
      <output>{formState.errors.email?.message}</output>
      <button type="submit">Sign up</button>
    </form>
  );
}
