import { load } from "addrspec";
import { emailSchema } from "addrspec/schema";
import { type } from "arktype";

export const SignUp = type({ email: emailSchema({ checker: await load() }) });
