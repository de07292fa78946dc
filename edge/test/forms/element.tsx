import "addrspec/element";
import type { AddrspecEmail } from "addrspec/element";
import { type HTMLAttributes, type RefAttributes, useState } from "react";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "addrspec-email": HTMLAttributes<AddrspecEmail>
        & RefAttributes<AddrspecEmail>
        & Partial<Pick<AddrspecEmail, "policy" | "allowTypo" | "messages">>;
    }
  }
}

/** A controlled input, which takes a suggestion as it takes what is typed. */
export function SignUp({ save }: { save: (address: string) => void }) {
  const [email, setEmail] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save(email);
      }}
    >
      <label htmlFor="controlled">Email</label>
      <addrspec-email policy={{ block: { reasons: ["disposable"] } }} allowTypo={false}>
        <input
          id="controlled"
          type="email"
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      </addrspec-email>
      <button type="submit">Sign up</button>
    </form>
  );
}
