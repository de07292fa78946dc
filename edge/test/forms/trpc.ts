import { initTRPC } from "@trpc/server";
import { emailSchema } from "addrspec/schema";

const t = initTRPC.create();
export const router = t.router({
  signUp: t.procedure.input(emailSchema()).mutation(({ input }) => input),
});
