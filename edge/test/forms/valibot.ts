import { emailSchema } from "addrspec/schema";
import * as v from "valibot";

const email = emailSchema();
export const Email = v.pipeAsync(
  v.string(),
  v.rawTransformAsync(async ({ dataset, addIssue, NEVER }) => {
    const result = await email["~standard"].validate(dataset.value);
    if (!result.issues) return result.value;
    for (const { message } of result.issues) addIssue({ message });
    return NEVER;
  }),
);

export const SignUp = v.objectAsync({ email: Email });
