import { emailSchema } from "addrspec/schema";
import { z } from "zod";

const email = emailSchema();
export const Email = z.string().transform(async (value, context) => {
  const result = await email["~standard"].validate(value);
  if (!result.issues) return result.value;
  for (const { code, message } of result.issues)
    context.addIssue({ code: "custom", message, params: { code } });
  return z.NEVER;
});

export const SignUp = z.object({ email: Email });
