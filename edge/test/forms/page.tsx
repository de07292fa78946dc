// A page with every form, those of the README among them. Each says what it saved:
// globalThis.saved.

import { createRoot } from "react-dom/client";
import { SignUp as ArkType } from "./arktype.ts";
import { BySchema } from "./by-schema.tsx";
import { SignUp as Element } from "./element.tsx";
import { SignUp as Rule } from "./react-hook-form.tsx";
import { SignUp as TanStack } from "./tanstack.tsx";
import { SignUp as Valibot } from "./valibot.ts";
import { SignUp as Zod } from "./zod.ts";

declare global {
  var saved: string[];
}
globalThis.saved = [];

const save = (address: string) => void saved.push(address);
const root = document.createElement("main");
document.body.append(root);
createRoot(root).render(
  <>
    <TanStack save={save} />
    <Rule save={save} />
    <BySchema save={save} schema={Zod} />
    <BySchema save={save} schema={Valibot} />
    <BySchema save={save} schema={ArkType} />
    <Element save={save} />
  </>,
);
